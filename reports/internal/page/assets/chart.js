// A chart draws one run: its lanes from top to bottom, time from left to right. Only what is in view is drawn.

const headRoom = 30; // of the axis
const barRoom = 16;
const badgeRoom = 17;
const mostMessages = 600;
const edge = 26; // what is drawn behind the last moment in view

// looks maps the sign of a bar to how it is painted; some looks have two layers.
const looks = {
  waits: ["dots"],
  believes: ["hollow"],
  paused: ["hollow", "hatched"],
  down: ["down", "crossed"],
  granted: ["solid"],
  lapsed: ["dashes"],
  life: ["wedge"],
  overlap: ["alarm"],
  tint: ["alarm"],
  travels: ["dashes"],
  cut: ["down", "crossed"],
};

const flat = new Set(["dots", "dashes", "past", "future"]); // looks that are lines

class Chart {
  constructor(host, id, on) {
    this.on = on;
    this.layers = ["axis", "back", "bars", "messages", "cursor", "front", "names", "times", "grips"].map((name) =>
      svg("g", { class: name }),
    );
    this.clip = svg("rect", { y: 0 });
    this.title = svg("title");
    this.svg = svg(
      "svg",
      { role: "group", tabindex: 0, class: "timeline" },
      this.title,
      svg("defs", {}, svg("clipPath", { id: `clip-${id}` }, this.clip)),
      ...this.layers,
    );
    for (const layer of [0, 1, 2, 3, 4, 5, 8]) this.layers[layer].setAttribute("clip-path", `url(#clip-${id})`);
    host.append(this.svg);
    this.layers[5].addEventListener("click", (e) => {
      const badge = e.target.closest(".badge");
      if (badge) on.badge(this, Number(badge.dataset.first), Number(badge.dataset.last));
    });
    listen(this);
  }

  // show lays out the lanes of a run. An absent lane is empty here, and drawn because the other run has something on it.
  show(run, lanes, gutter) {
    this.run = run;
    this.gutter = gutter;
    this.title.textContent = `Timeline with ${run.name}: ${run.headline}`;
    let y = headRoom;
    let node = null;
    this.rows = lanes.map((lane) => {
      const { line, lines } = stack(lane);
      const numbered = lane.marks.some((m) => m.number);
      const high = lane.kind === "level" ? 34 : barRoom * lines;
      const row = {
        lane,
        line,
        lines,
        high,
        top: y,
        bar: y + (numbered ? badgeRoom : 3),
        new: nodeOfLane(lane) !== node || !node,
      };
      node = nodeOfLane(lane);
      y = row.bar + high + 5;
      row.end = y;
      row.mid = row.bar + high / 2;
      return row;
    });
    this.row = new Map(this.rows.map((r) => [r.lane.name, r]));
    this.height = y + 6;
  }

  // draw paints what is in view.
  draw(view) {
    const width = Math.max(view.width, 320);
    this.view = view;
    this.left = this.gutter + 12;
    this.right = width - 26;
    const from = view.scale.place(view.from),
      to = view.scale.place(view.to);
    const room = (this.right - this.left) / (to - from || 1);
    this.x = (t) => this.left + (view.scale.place(t) - from) * room;
    this.moment = (x) => view.scale.moment(from + (x - this.left) / room);
    this.begin = view.scale.moment(from - 12 / room);
    this.end = view.scale.moment(to + edge / room);
    const [axis, back, bars, messages, , front, names] = this.layers;
    this.badges = [];
    // What does not move while something is dragged is drawn once: text costs most.
    const still = [width, this.height, this.gutter, view.from, view.to, view.kind, view.schedule.axis];
    for (const { lane, top, new: first } of this.rows) still.push(lane.title, lane.tone, lane.threshold?.text, top, first);
    if (still.length !== this.still?.length || still.some((x, i) => x !== this.still[i])) {
      this.still = still;
      fill(this.svg, { width, height: this.height, viewBox: `0 0 ${width} ${this.height}` }, []);
      fill(this.clip, { x: this.gutter, width: width - this.gutter, height: this.height }, []);
      axis.replaceChildren(...this.axis(width));
      names.replaceChildren(...this.rows.map((row) => this.name(row)));
    }
    renew(back, this.ground());
    renew(bars, this.rows.map((row) => this.bars(row)));
    renew(front, this.rows.map((row) => this.marks(row)));
    renew(messages, this.messages());
    this.layers[8].replaceChildren(...(this.on.grips?.(this) ?? []));
    this.point();
  }

  sees(from, to) {
    return to >= this.begin && from <= this.end;
  }
  px(t) {
    return clamp(this.x(t), this.left - 40, this.right + 40);
  }

  // axis draws the times, and the stretches that were cut out of them.
  axis(width) {
    const { view } = this,
      { axis } = view.schedule;
    const s = new Shapes(),
      nodes = [];
    for (const row of this.rows) if (row.new) s.add("rule", across(0, width, row.top - 1));
    for (const t of ticksOf(axis, view, this.x, 64)) {
      s.add("grid", `M${tenth(t.x)} ${headRoom - 8}V${this.height}`);
      const half = (t.text.length * letter) / 2 + 2;
      const x = tenth(clamp(t.x, this.gutter + half, this.right + edge - half));
      nodes.push(svg("text", { x, y: 14, class: "tick", "text-anchor": "middle" }, t.text));
    }
    if (view.kind !== "true") {
      for (const { from, to } of stretchesOf(axis, view.scale))
        if (this.sees(from, to)) s.add("stretched", across(this.px(from), this.px(to), headRoom - 4));
      axis.stops.forEach((stop, i) => {
        const next = axis.stops[i + 1];
        if (!stop.cut || !next || !this.sees(stop.at, next.at)) return;
        const x = (this.px(stop.at) + this.px(next.at)) / 2;
        s.add("cut", `M${x - 5} ${this.height}V${headRoom - 6}l4-4-4-4M${x} ${this.height}V${headRoom - 6}l4-4-4-4`);
        nodes.push(
          svg("text", { x: x + 4, y: headRoom - 8, class: "tick" }, `${precise(next.at - stop.at)} cut short`),
        );
      });
    }
    return [...s.nodes(), ...nodes];
  }

  // ground draws what concerns all lanes: overlaps and damage.
  ground() {
    const s = new Shapes();
    for (const row of this.rows) {
      if (row.lane.kind === "overlap")
        for (const b of row.lane.bars)
          if (this.sees(b.from, b.to)) s.add("band", box(this.px(b.from), this.px(b.to), headRoom, this.height));
      if (row.lane.kind === "damage")
        for (const m of row.lane.marks)
          if (this.sees(m.at, m.at)) s.add("ruin", `M${tenth(this.x(m.at))} ${headRoom}V${row.mid}`);
    }
    return s.nodes();
  }

  bars(row) {
    const s = new Shapes(),
      seen = new Map();
    for (const b of row.lane.bars) {
      if (!this.sees(b.from, b.to)) continue;
      const x1 = this.px(b.from),
        x2 = Math.max(this.px(b.to), x1 + 0.7);
      const tone = `tone-${b.tone}`;
      for (const look of looks[b.sign] || ["hollow"]) {
        if (x2 - x1 < 1.5 && seen.get(look) === Math.round(x1)) continue; // another of about a pixel, at the same one
        seen.set(look, Math.round(x1));
        if (look === "wedge" && x2 - x1 > 1.5) {
          s.add(`wedge ${tone}`, this.wedge(b, row));
          continue;
        }
        s.add(`${look} ${tone}`, flat.has(look) ? across(x1, x2, row.mid) : box(x1, x2, row.bar, row.high));
      }
      if (b.ends === "dies") s.add("stroke tone-strong", glyph("dies", x2, row.mid));
    }
    if (row.lane.kind === "level") this.levels(row, s);
    return svg("g", { class: "lane" }, ...s.nodes(), ...this.dim(row));
  }

  // wedge is a bar whose height shows how much time to live is left.
  wedge(b, row) {
    const high = row.high / row.lines,
      floor = row.bar + high * ((row.line.get(b) % row.lines) + 1);
    const lives = b.lives?.length ? b.lives : [b.from];
    const stops = this.view.kind === "true" ? [] : this.view.schedule.axis.stops;
    return lives
      .map((from, i) => {
        const to = Math.min(lives[i + 1] ?? b.to, b.to);
        if (!this.sees(from, to)) return "";
        const roof = (t) => floor - high * (b.life ? clamp((b.life - (t - from)) / b.life, 0.06, 1) : 1);
        const between = stops.slice(
          below(stops, from + 1, (p) => p.at),
          below(stops, to, (p) => p.at),
        );
        const top = [from, ...between.map((p) => p.at), to].map((t) => `L${tenth(this.x(t))} ${tenth(roof(t))}`);
        return `M${tenth(this.x(from))} ${tenth(floor)}${top.join("")}V${tenth(floor)}z`;
      })
      .join("");
  }

  levels(row, s) {
    const { lane } = row,
      list = lane.levels;
    let [low, high] = [Infinity, -Infinity];
    for (const { value } of lane.threshold ? [...list, lane.threshold] : list) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    high = Math.max(high, low + 1);
    if (low > 0 && low < 4 * (high - low)) low = 0; // large numbers are told apart, small ones stand on the ground
    const room = row.high - 17; // but for that of a text above
    const y = (v) => row.bar + row.high - 3 - ((v - low) / (high - low)) * room;
    row.y = y;
    if (lane.threshold) s.add("threshold", across(this.left, this.right, y(lane.threshold.value)));
    const first = Math.max(below(list, this.begin, (l) => l.at) - 1, 0);
    let path = "",
      pixel = null;
    for (let i = first; i < list.length && list[i].at <= this.end; i++) {
      const x = Math.round(this.px(list[i].at));
      if (x === pixel && i + 1 < list.length && Math.round(this.px(list[i + 1].at)) === x) continue;
      path += path ? `H${x}V${tenth(y(list[i].value))}` : `M${x} ${tenth(y(list[i].value))}`;
      pixel = x;
    }
    if (path) s.add(`step tone-${lane.tone}`, `${path}H${this.right + edge}`);
  }

  // marks draws the signs, labels and numbers on the bars.
  marks(row) {
    const s = new Shapes(),
      labels = new Labels(),
      texts = [],
      badges = [];
    const put = (text, x, look, limit, y = row.mid + 4, plate = false) => {
      const at = labels.at(text, x, limit);
      if (at == null) return;
      if (plate) s.add("plate", box(at - 3, at + text.length * letter + 3, y - 10, 13));
      texts.push(svg("text", { x: tenth(at), y, class: look }, text));
    };
    const { marks } = row.lane,
      labelled = [];
    let pixel = -9;
    for (let i = below(marks, this.begin, (m) => m.at); i < marks.length && marks[i].at <= this.end; i++) {
      const m = marks[i],
        x = this.x(m.at);
      if (m.number) badges.push({ x, m });
      if (x - pixel < (m.number ? 1 : 3)) continue; // nothing of it could be seen
      pixel = x;
      if (m.sign) labels.keep(x - 5, x + 6);
      if (m.sign) s.add(`${m.sign === "damage" ? "solid" : "stroke"} tone-${m.tone}`, glyph(m.sign, x, row.mid));
      else if (!m.label) s.add("tick-mark", `M${tenth(x)} ${row.bar}v${row.high}`);
      if (m.label) labelled.push({ m, x });
    }
    for (const { m, x } of labelled) {
      const text = m.sign === "begins" ? `#${m.label}` : m.label,
        long = text.length * letter;
      // Close enough to its mark to be recognized as its label; before the mark if the picture ends behind it.
      if (x + 10 + long > this.right + edge) put(text, x - long - 11, `text tone-text-${m.tone}`, x);
      else put(text, x + 3, `text tone-text-${m.tone}`, x + long + 20);
    }
    row.lane.bars.forEach((b, i) => {
      if (!b.label || !this.sees(b.from, b.to) || this.px(b.to) - this.px(b.from) < b.label.length * letter) return;
      let { from } = b; // past what is painted over it
      for (const c of row.lane.bars.slice(i + 1)) if (c.sign !== "tint" && c.from <= from && from < c.to) from = c.to;
      const limit = Math.min(this.px(b.to), this.right + edge);
      put(b.label, Math.max(this.px(from), this.left) + 5, "text", limit, row.mid + 4, true);
    });
    if (row.lane.kind === "level") this.levelTexts(row, put);
    return svg("g", { class: "lane" }, ...s.nodes(), ...texts, ...this.numbers(row, badges));
  }

  levelTexts(row, put) {
    const { lane } = row,
      list = lane.levels;
    for (
      let i = Math.max(below(list, this.begin, (l) => l.at) - 1, 0);
      i < list.length && list[i].at <= this.end;
      i++
    ) {
      const end = list[i + 1] ? this.px(list[i + 1].at) : this.right;
      if (!list[i].text) continue; // nobody leads, or votes: the other forms write nothing either
      put(
        list[i].text,
        Math.max(this.px(list[i].at), this.left) + 3,
        "text",
        end,
        row.y(list[i].value) - 4,
      );
    }
  }

  // numbers draws numbers above their marks, moved a little aside if necessary; those without room share a badge.
  numbers(row, badges) {
    const groups = [];
    for (const { x, m } of badges) {
      const wide = m.number < 10 ? 16 : m.number < 100 ? 20 : 27;
      const last = groups.at(-1);
      const free = last ? last.left + last.wide + 1 : -Infinity;
      if (free - (x - wide / 2) > 14) {
        last.list.push(m);
        last.wide = 12 + 7 * `${last.list[0].number}–${m.number}`.length;
      } else groups.push({ left: Math.max(x - wide / 2, free), wide, x, list: [m] });
    }
    return groups.map((g) => this.badge(row, { ...g, left: Math.min(g.left, this.right + edge - g.wide - 2) }));
  }

  badge(row, g) {
    const [m] = g.list,
      y = row.top + 1;
    const text = g.list.length > 1 ? `${m.number}–${g.list.at(-1).number}` : String(m.number);
    const step = g.list
      .slice(0, 5)
      .map((x) => this.view.stepAt(this.run, x.number))
      .filter(Boolean);
    const said =
      step.map((x) => `(${x.number}) ${precise(x.at)} ${x.who} ${x.text}`).join("; ") +
      (g.list.length > 5 ? " …" : "");
    const look = ["badge", `tone-${m.tone}`];
    const on = g.list.some((x) => x.number === this.view.number || this.view.lit?.has(x.number));
    if (on) look.push("on");
    if (this.view.query && !step.some((x) => this.view.matches(x))) look.push("off");
    const middle = g.left + g.wide / 2;
    return svg(
      "g",
      {
        class: look.join(" "),
        role: "button",
        tabindex: -1,
        "aria-label": said || text,
        "aria-pressed": String(on),
        "data-first": m.number,
        "data-last": g.list.at(-1).number,
      },
      svg("title", {}, said),
      ...(g.list.length > 1 ? [] : [svg("path", { d: line(middle, y + 14, g.x, row.bar), class: "leader" })]),
      svg("rect", { x: tenth(g.left), y, width: g.wide, height: 14, rx: 7 }),
      svg("text", { x: tenth(middle), y: y + 11, "text-anchor": "middle" }, text),
    );
  }

  name(row) {
    const says = row.lane.threshold?.text,
      room = Math.floor((this.gutter - 4) / letter);
    // A long name is cut; the kind of the lane is not.
    const node = nodeOfLane(row.lane);
    const kind = node && titleOf(row.lane).startsWith(`${node} `) ? titleOf(row.lane).slice(node.length) : "";
    const cut = (words) => {
      const end = words.endsWith(kind) && kind.length < room / 2 ? kind : "";
      const name = words.slice(0, words.length - end.length),
        left = Math.max(room - 1 - end.length, 0),
        tail = Math.floor(left / 2); // numbered names differ in their ends
      return `${name.slice(0, left - tail)}…${name.slice(name.length - tail)}${end}`;
    };
    const text = (words, y, look) =>
      words.length <= room
        ? svg("text", { x: 4, y, class: look }, words)
        : svg("text", { x: 4, y, class: look }, cut(words), svg("title", {}, words));
    return svg(
      "g",
      {},
      text(titleOf(row.lane), row.mid + (says ? -2 : 4), `name tone-text-${row.lane.tone}`),
      says && text(says, row.mid + 12, "faint"),
    );
  }

  // dim fades what happened neither before nor after the event that the view asks about.
  dim(row) {
    const causes = this.view.causes,
      node = nodeOfLane(row.lane);
    if (!causes || !this.run.talks.has(node)) return [];
    const until = clamp(causes.until(node), this.begin, this.end),
      from = clamp(causes.from(node), this.begin, this.end);
    const s = new Shapes(),
      y = row.end - 3;
    if (from > until) s.add("apart", box(this.px(until), this.px(from), row.top, row.end - row.top));
    if (until > this.begin) s.add("past", across(this.left - 12, this.px(until), y));
    if (from < this.end) s.add("future", across(this.px(from), this.right + edge, y));
    return s.nodes();
  }

  // messages draws lines between the lanes of their nodes. Where there are too many to follow, some are left
  // out, always the same ones, and the picture says so.
  messages() {
    const s = new Shapes(),
      texts = [],
      written = [],
      seen = new Set(),
      { view, run } = this;
    const home = (node) => this.row.get(run.homes.get(node));
    const list = run.sent
      .slice(
        0,
        below(run.sent, this.end, (m) => m.sent),
      )
      .filter(
        (m) =>
          this.sees(m.sent, m.lost ? m.sent : m.received) &&
          (view.message === m.id || view.draws(run, m)) &&
          home(m.from) &&
          home(m.to) &&
          home(m.from) !== home(m.to),
      );
    const nth = Math.ceil(list.length / mostMessages);
    this.lines = [];
    for (const m of list) {
      const chosen = view.message === m.id;
      if (
        !chosen &&
        nth > 1 &&
        (Math.imul(m.id, 0x9e3779b1) >>> 16) % nth &&
        m.sent !== view.at &&
        m.received !== view.at
      )
        continue;
      const from = home(m.from),
        to = home(m.to);
      const down = from.top < to.top;
      const x1 = this.x(m.sent),
        y1 = down ? from.bar + from.high : from.bar,
        y2 = down ? to.bar : to.bar + to.high;
      const x2 = m.lost ? x1 : this.x(m.received);
      const look = chosen
        ? "msg chosen"
        : `msg${m.answers ? " reply" : ""}${m.late ? " late" : ""}${view.causes?.holds(m) ? " cause" : ""}`;
      const key = `${look} ${Math.round(x1)} ${Math.round(x2)} ${y1} ${y2}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const stop = m.lost ? (y1 + y2) / 2 : y2;
      s.add(look, line(x1, y1, x2, stop));
      if (nth === 1 || chosen) {
        if (m.fate === "arrived") s.add(`${look} head`, arrow(x1, y1, x2, y2));
        else if (m.fate === "lost") s.add(`${look} head`, glyph("lost", x2, stop));
        else s.add(`${look} head ends`, glyph("read", x2, stop)); // it still travels
      }
      this.lines.push({ m, x1, y1, x2, y2: stop });
      if (chosen || ((m.lost || Math.abs(x2 - x1) > 70) && texts.length < 40)) {
        const words = m.lost ? `${toldAs(m)} ${m.fate}` : wordsOf(m),
          long = words.length * letter;
        const x = clamp(m.lost ? x2 + 9 : (x1 + x2) / 2, this.left, this.right + edge - long),
          y = m.lost ? stop + 4 : (y1 + stop) / 2;
        const covered = written.some((w) => Math.abs(w.y - y) < 12 && x < w.x + w.long && w.x < x + long);
        if (covered && !chosen) continue;
        written.push({ x, y, long });
        texts.push(svg("text", { x: tenth(x), y: tenth(y), class: "text message" }, words));
      }
    }
    if (nth > 1)
      texts.push(
        svg(
          "text",
          { x: this.right, y: this.height - 6, class: "text faint", "text-anchor": "end" },
          `one of ${nth} messages is drawn; zoom in for all`,
        ),
      );
    return [...s.nodes(), ...texts];
  }

  // point moves the cursor, and nothing else.
  point(hover = this.hover) {
    this.hover = hover;
    const s = new Shapes(),
      nodes = [],
      { at } = this.view;
    const stands = (t, look) => {
      const x = this.x(t);
      if (x < this.left - 12 || x > this.right + edge) return;
      s.add(look, `M${tenth(x)} ${headRoom - 12}V${this.height}`);
      const text = precise(t),
        half = text.length * letter * 0.5 + 4;
      nodes.push(
        svg("rect", {
          class: look,
          x: clamp(x - half, this.gutter, this.right + edge - 2 * half),
          y: 2,
          width: 2 * half,
          height: 16,
          rx: 3,
        }),
        svg(
          "text",
          { class: look, x: clamp(x, this.gutter + half, this.right + edge - half), y: 14, "text-anchor": "middle" },
          text,
        ),
      );
    };
    if (hover != null) stands(Math.round(hover), "hover");
    stands(at, "at");
    renew(this.layers[4], s.nodes());
    renew(this.layers[7], nodes);
  }
}

const titleOf = (lane) => lane.title || lane.name;
const wordsOf = (m) => [m.what, m.purpose && `(${m.purpose})`, m.answers && "answer"].filter(Boolean).join(" ");
// toldAs returns the words for a message that did not arrive: what it answers, or to whom it was passed on.
const toldAs = (m) => (m.answers ? `answer to ${m.what}` : m.reply ? `${m.what} to ${m.to}` : m.what);

// stack puts the bars of keys that a server has at the same time on separate lines: it returns which line, and how many.
function stack(lane) {
  const line = new Map(),
    ends = [];
  if (lane.kind === "node")
    for (const b of lane.bars) {
      if (b.sign !== "life") continue;
      const free = ends.findIndex((end) => end <= b.from);
      line.set(b, free < 0 ? ends.length : free);
      ends[line.get(b)] = b.to;
    }
  return { line, lines: clamp(ends.length, 1, 3) };
}
