// The parts of a picture: all shapes with the same look are one element, so that thousands cost as much as one.

class Shapes {
  constructor() {
    this.looks = new Map();
  }
  add(look, path) {
    this.looks.has(look) ? this.looks.get(look).push(path) : this.looks.set(look, [path]);
  }
  nodes() {
    return [...this.looks].map(([look, paths]) => svg("path", { class: look, d: paths.join("") }));
  }
}

const tenth = (x) => Math.round(x * 10) / 10;
const box = (x1, x2, y, h) => `M${tenth(x1)} ${tenth(y)}H${tenth(x2)}v${tenth(h)}H${tenth(x1)}z`;
const across = (x1, x2, y) => `M${tenth(x1)} ${tenth(y)}H${tenth(x2)}`;
const line = (x1, y1, x2, y2) => `M${tenth(x1)} ${tenth(y1)}L${tenth(x2)} ${tenth(y2)}`;

function arrow(x1, y1, x2, y2) {
  const long = Math.hypot(x2 - x1, y2 - y1) || 1;
  const ux = ((x2 - x1) / long) * 7,
    uy = ((y2 - y1) / long) * 7;
  const side = 0.45; // of the head's length, to either side
  const left = line(x2, y2, x2 - ux - uy * side, y2 - uy + ux * side);
  return `${left}L${tenth(x2 - ux + uy * side)} ${tenth(y2 - uy - ux * side)}z`;
}

// glyphs are the signs of marks: where a stroke begins, relative to the mark, and how it continues.
const glyphs = {
  accepted: [[-4, 0, "l3 4 6-8"]],
  refused: [
    [0, -7, "l6 2.5v4q0 5-6 7.5q-6-2.5-6-7.5v-4z"],
    [-2.5, -2.5, "l5 5m0-5l-5 5"],
  ],
  harmful: [
    [0, -7, "l7 13h-14z"],
    [0, -2, "v4m0 2v.6"],
  ],
  unknown: [[-2.5, -3, "q0-3 2.5-3t2.5 3q0 2-2.5 3v1.5m0 2.5v.6"]],
  read: [[-4, 0, "a4 4 0 1 0 8 0a4 4 0 1 0-8 0"]],
  expired: [[0, -7, "v14m-4-9.5h8"]],
  deleted: [[-6, 6, "h6v-12"]],
  lost: [[-4, -4, "l8 8m0-8l-8 8"]],
  dies: [[-4, -4, "l8 8m0-8l-8 8"]],
  damage: [[0, -6, "l6 11h-12z"]],
  begins: [[0, -8, "v16"]],
  ends: [[0, -8, "v16"]],
};

const glyph = (sign, x, y) =>
  (glyphs[sign] || [[0, -6, "v12"]]).map(([dx, dy, rest]) => `M${tenth(x + dx)} ${tenth(y + dy)}${rest}`).join("");

// letter is the width of a letter at 11 px, in a font of fixed width.
const letter = 6.7;

// Labels finds room for text on one line, to four pixels.
class Labels {
  constructor() {
    this.taken = new Set();
  }
  keep(from, to) {
    for (let i = Math.floor(from / 4); i * 4 < to; i++) this.taken.add(i);
  }
  // at places a text at x, or further right while it ends before the limit; it returns where, or nothing if there is no
  // room.
  at(text, x, limit) {
    const width = text.length * letter + 4;
    for (let i = Math.floor(x / 4); i * 4 < x + width && x + width <= limit; i++)
      if (this.taken.has(i)) x = i * 4 + 4;
    if (x + width > limit) return null;
    this.keep(x, x + width);
    return x;
  }
}
