// A scale maps moments to places between 0 and 1 and back.

function scaleOf(axis, kind) {
  const at = [],
    place = [];
  if (kind === "true" || axis.stops.length < 2) {
    at.push(axis.from, Math.max(axis.to, axis.from + 1));
    place.push(0, 1);
  } else {
    // Moments that share a column of the text are spread over it, so that they can be told apart by zooming.
    for (let i = 0, j; i < axis.stops.length; i = j) {
      for (j = i; j < axis.stops.length && axis.stops[j].column === axis.stops[i].column; j++);
      for (let k = i; k < j; k++) {
        at.push(axis.stops[k].at);
        place.push(axis.stops[k].column + (k - i) / (j - i));
      }
    }
    const end = place.at(-1) || 1;
    for (let i = 0; i < place.length; i++) place[i] /= end;
  }
  const between = (from, to, x) => {
    const i = clamp(below(from, x), 1, from.length - 1);
    return to[i - 1] + ((x - from[i - 1]) / (from[i] - from[i - 1])) * (to[i] - to[i - 1]);
  };
  return { place: (t) => between(at, place, t), moment: (p) => between(place, at, p) };
}

// stretched is how many times as much room as on the whole axis time must have for the picture to say so, as in package svg.
const stretched = 4;

// stretchesOf are the parts of an axis on which time has much more room than on the whole of it.
function stretchesOf(axis, scale) {
  const strides = axis.stops.slice(1).map((next, i) => {
    const { at: from, cut } = axis.stops[i];
    return { from, to: next.at, cut, room: scale.place(next.at) - scale.place(from) };
  });
  const full = strides.filter((s) => !s.cut);
  const sum = (of) => full.reduce((n, s) => n + of(s), 0);
  const pace = sum((s) => s.room) / (sum((s) => s.to - s.from) || 1);
  const list = [];
  for (const s of full.filter((s) => s.room > stretched * pace * (s.to - s.from)))
    if (list.at(-1)?.to === s.from) list.at(-1).to = s.to;
    else list.push({ from: s.from, to: s.to });
  return list;
}

// ticks returns round moments in view, the roundest first, none closer to another than its label needs.
function ticksOf(axis, view, x, gap) {
  const found = [];
  const offer = (at, text) => {
    const px = x(at);
    if (at >= view.from && at <= view.to && found.every((f) => Math.abs(f.x - px) >= gap))
      found.push({ at, x: px, text });
  };
  for (const t of axis.ticks) offer(t.at, t.text);
  const span = view.to - view.from;
  for (let size = 10 ** Math.ceil(Math.log10(span)), i = 0; found.length < 7 && i < 8 && size >= 1; i++) {
    if (span / size <= 200)
      for (let t = Math.ceil(view.from / size) * size; t <= view.to; t += size) offer(t, round(t, size));
    size = i % 3 === 1 ? size / 2.5 : size / 2;
  }
  return found;
}

// round prints a tick with as many digits as its step has.
function round(ns, step) {
  if (ns === 0) return "0";
  const [size, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return Number((ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step))))) + unit;
}
