// The page: what the reader looks at, what changes it, and what has to be drawn then.

// fewMessages is up to how many messages that a search finds are all drawn.
const fewMessages = 40;

const page = {
  s: 0,
  run: null,
  twin: null,
  e: 0,
  at: 0,
  from: 0,
  to: 0,
  kind: "text",
  messages: "matter",
  message: null,
  hidden: new Set(),
  query: "",
  causes: false,
  all: false,
  width: 0,

  get schedule() {
    return schedules[this.s];
  },
  get chosen() {
    return this.run.messages.find((m) => m.id === this.message);
  },

  // usualTwin returns the run that is shown beside another by default: the one that was asked for, or the first one with another
  // result, or else the first one with other events.
  usualTwin(run) {
    const { runs } = this.schedule;
    const asked = runs.find((r) => r.beside && r !== run);
    return asked || runs.find((r) => r.tone !== run.tone) || runs.find((r, i) => r !== run && (i === 0 || r.like_run < 0));
  },

  usual(s) {
    this.s = s;
    const [run] = this.schedule.runs,
      { axis } = this.schedule;
    return {
      run,
      twin: this.usualTwin(run),
      e: 0,
      at: null,
      from: axis.from,
      to: axis.to,
      message: null,
      hidden: new Set(),
    };
  },

  // load shows other schedules in the same view. While something is dragged the axis stands still, only the charts are drawn, and the run
  // beside stays what it was until it is played again.
  load(list, axis = null) {
    const before = this.run && this.schedule.scenario;
    schedules = prepared(list);
    const { run, twin, hidden, from, to } = this;
    if (axis) for (const s of schedules) s.axis = axis;
    if (axis && twin && !schedules[0].runs.some((r) => r.key === twin.key)) schedules[0].runs.push(twin);
    const usual = this.usual(schedules[this.s] ? this.s : 0);
    const { runs } = this.schedule;
    const same = (r) => runs.find((x) => x.key === r?.key);
    const beside = runs.find((r) => r.beside);
    const fresh = beside && beside.beside !== this.asked;
    this.asked = beside?.beside;
    this.dragging = !!axis;
    document.body.classList.toggle("moving", this.dragging);
    this.run = null;
    this.change({
      ...usual,
      run: same(run) || usual.run,
      twin: fresh ? beside : run && !twin ? null : same(twin) || usual.twin,
      hidden: before === this.schedule.scenario ? hidden : usual.hidden,
      ...(axis && { from, to }),
    });
  },

  // change applies a change of the view, computes what depends on it, and draws it.
  change(news) {
    const before = { run: this.run, twin: this.twin, e: this.e };
    Object.assign(this, news);
    if (this.twin === this.run) this.twin = this.usualTwin(this.run);
    if (before.run !== this.run || before.twin !== this.twin) {
      const step = this.steps?.[before.e];
      this.steps = stepsOf(this.run, this.twin);
      if (news.e == null && step && before.run && this.schedule.runs.includes(before.run)) {
        this.e = this.steps.findIndex(
          (x) => x.at === step.at && (x.own || x.other).lane === (step.own || step.other).lane,
        );
      }
      this.dirty.structure = true;
    }
    this.e = Math.min(this.e, this.steps.length - 1);
    if ("e" in news && this.e >= 0) this.at = this.steps[this.e].at;
    this.at ??= this.steps[this.e]?.at ?? this.schedule.axis.from;
    for (const name of ["hidden", "all", "causes", "kind"]) if (name in news) this.dirty.structure = true;
    if ("query" in news || "causes" in news) this.dirty.list = true;
    const moves = Object.keys(news).every((name) => name === "from" || name === "to");
    if (!moves) this.dirty.words = true;
    this.dirty.frame ||= requestAnimationFrame(() => this.render());
  },
  dirty: { structure: true },

  render() {
    const { dirty } = this;
    this.dirty = {};
    if (this.waiting) return; // for another scenario than the one that the page came with
    this.scale = scaleOf(this.schedule.axis, this.kind);
    this.relations = this.causes ? this.ask(this.run) : null;
    this.foundMessages = this.query ? this.run.sent.filter((m) => this.matchesMessage(m)) : [];
    this.searched = new Set(this.foundMessages.length <= fewMessages ? this.foundMessages : []);
    if (dirty.structure) {
      arrange(this);
      verdict(this);
      this.tryIt?.();
    }
    if (this.dragging) return draw(this);
    if (dirty.structure) heading(this);
    if (dirty.structure || dirty.list) renderMoments(this);
    draw(this);
    if (dirty.structure || dirty.words) {
      controls(this);
      sayEvent(this);
      markMoment(this);
      renderState(this);
      renderMessages(this);
    }
    if (dirty.structure) renderProse(this);
    clearTimeout(this.linking);
    this.linking = setTimeout(() => history.replaceState(null, "", linkOf(this)), 200);
  },

  // ask computes what happened before and after the current event of a run; nothing, if the cursor is not at an event.
  ask(run) {
    const step = this.steps[this.e];
    const m = step && (run === this.run ? step.own : step.other);
    return m ? causes(run, nodeOf(run, m), m.at) : null;
  },
  relation(m) {
    const says = { before: "before", after: "after", this: "this event", apart: "neither before nor after" };
    return this.relations ? says[this.relations.of(nodeOf(this.run, m), m.at)] : "";
  },

  matches(m) {
    return !this.query || `${m.who} ${m.text}`.toLowerCase().includes(this.query);
  },
  matchesMessage(m) {
    return `${m.from} → ${m.to} ${wordsOf(m)} ${m.detail || ""}`.toLowerCase().includes(this.query);
  },
  finds(step) {
    return [step.own, step.other].some((m) => m && this.matches(m));
  },

  go(e) {
    if (!this.steps.length) return;
    this.change({ e: clamp(e, 0, this.steps.length - 1) });
    this.reveal();
  },
  // step moves to the next moment after the cursor; moments that a search does not find are skipped.
  step(by, ok = () => true) {
    let i =
      this.e >= 0
        ? this.e + by
        : by > 0
          ? below(this.steps, this.at + 1, (s) => s.at)
          : below(this.steps, this.at, (s) => s.at) - 1;
    while (this.steps[i] && !(ok(this.steps[i]) && this.finds(this.steps[i]))) i += by;
    if (this.steps[i]) this.go(i);
  },
  broken(by) {
    this.step(by, (s) => [s.own, s.other].some((m) => m && broken(m)));
  },
  goNumber(n, run = this.run) {
    this.go(this.steps.findIndex((s) => (run === this.run ? s.own : s.other)?.number === n));
  },

  // follow moves to one end of a message: where it is sent, or, if the cursor is there already, where it arrives.
  follow(m, at = this.message === m.id && this.at === m.sent && !m.lost ? m.received : m.sent) {
    this.change({ message: m.id, at, e: this.steps.findIndex((s) => s.at === at) });
    this.at = at;
    this.reveal();
  },
  nextMessage() {
    const { sent } = this.run,
      i = this.chosen ? sent.indexOf(this.chosen) + 1 : below(sent, this.at, (m) => m.sent);
    const m = sent.slice(i).find((x) => this.shows(this.run, x)) || sent[i];
    if (m) this.follow(m, m.sent);
  },

  // shows reports which messages are drawn: those that were asked for, of the current moment, or found by a search.
  shows(run, m) {
    if (this.messages === "all") return true;
    if (this.messages === "none") return false;
    return m.matters || m.sent === this.at || m.received === this.at || this.searched.has(m);
  },

  zoomTo(from, to) {
    const { axis } = this.schedule;
    from = Math.max(from, axis.from);
    to = Math.min(Math.max(to, from + 1000), axis.to); // a microsecond at least
    if (to - from >= 999) this.change({ from: Math.round(from), to: Math.round(to) });
  },
  zoom(by, around = this.at) {
    const p = this.scale.place(around),
      at = (t) => this.scale.moment(p + (this.scale.place(t) - p) * by);
    this.zoomTo(at(this.from), at(this.to));
  },
  // pan moves a view by a share of its width.
  pan(view, share) {
    const from = this.scale.place(view.from),
      wide = this.scale.place(view.to) - from;
    const left = clamp(from + share * wide, 0, 1 - wide);
    this.change({ from: Math.round(this.scale.moment(left)), to: Math.round(this.scale.moment(left + wide)) });
  },
  fit() {
    this.change({ from: this.schedule.axis.from, to: this.schedule.axis.to });
  },
  reveal() {
    if (this.at >= this.from && this.at <= this.to) return;
    const from = this.scale.place(this.from),
      wide = this.scale.place(this.to) - from;
    this.pan(this, (this.scale.place(this.at) - from) / wide - 0.5);
  },
};

const tip = $("tip");
const events = {
  hover(chart, t, p, e) {
    for (const c of charts) if (c.run) c.point(t);
    const row = t != null && chart.rows.find((r) => p.y >= r.top && p.y < r.end);
    tip.hidden = !row;
    if (!row) return;
    tip.textContent = `${titleOf(row.lane)} at ${precise(Math.round(t))}: ${stateOf(row.lane, t).text}`;
    const host = $("charts").getBoundingClientRect();
    tip.style.left = `${clamp(e.clientX - host.left + 14, 0, host.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${e.clientY - host.top + 18}px`;
  },
  click(chart, x, y) {
    const m = messageAt(chart, x, y);
    if (m && chart.run === page.run) return page.follow(m);
    const t = chart.moment(x);
    const near = page.steps.findIndex((s) => Math.abs(chart.x(s.at) - x) < 6);
    page.change(
      near >= 0 ? { e: near } : { e: -1, at: Math.round(clamp(t, page.schedule.axis.from, page.schedule.axis.to)) },
    );
  },
  badge(chart, first, last) {
    const [from, to] = [first, last].map((n) => chart.view.stepAt(chart.run, n).at);
    if (page.at === from && last > first) page.zoomTo(from - (to - from) / 4, to + (to - from) / 4);
    else page.goNumber(first, chart.run);
  },
  pan: (view, share) => page.pan(view, share),
  zoom: (by, at) => page.zoom(by, at),
  zoomTo: (from, to) => page.zoomTo(from, to),
  grips: (chart) => page.grips?.(chart),
};
const charts = [new Chart($("chart-first"), "first", events), new Chart($("chart-second"), "second", events)];

// arrange chooses the lanes: all of a run, and those of the run beside it that differ. The picture of one that was not played again stays.
function arrange(page) {
  const { run, twin } = page;
  page.still = page.dragging && twin === charts[1].run;
  const names = new Map([...run.lanes, ...(twin?.lanes || [])].map((l) => [l.name, l]));
  page.lanes = [...names.values()].map((l) => run.lane.get(l.name) || l);
  const shown = page.lanes.filter((l) => !page.hidden.has(l.name));
  const same = (name) => JSON.stringify(run.lane.get(name)) === JSON.stringify(twin.lane.get(name));
  const empty = (l) => ({ ...l, bars: [], marks: [], levels: [], title: `${titleOf(l)}: none`, tone: "plain" });
  const second = page.still
    ? charts[1].rows.map((row) => row.lane)
    : twin
    ? shown.filter((l) => page.all || !same(l.name)).map((l) => twin.lane.get(l.name) || empty(l))
    : [];
  const first = shown.filter((l) => run.lane.has(l.name));
  const gutter = clamp(
    Math.max(...[...first, ...second].flatMap((l) => [titleOf(l).length, (l.threshold?.text || "").length]), 8) * 7 +
      12,
    90,
    230,
  );
  charts[0].show(run, first, gutter);
  if (twin && !page.still) charts[1].show(twin, second, gutter);
  $("chart-second").hidden = $("twin-says").hidden = !twin;
  const all = second.length ? "" : " Nothing on any lane went otherwise.";
  const some = page.all || !second.length ? "" : " Lanes that are not shown look as above.";
  renew($("twin-says"), twin ? [el("span", {}, el("b", {}, `${capital(twin.name)}. `), twin.twin || twin.headline, all, some)] : []);
  if (page.dragging) return;
  $("left-out").replaceChildren(...leftOut(page.schedule).map((text) => el("p", {}, text)));
  legend(page, [...first, ...second]);
}

function draw(page) {
  charts.forEach((chart, i) => {
    const run = i ? page.twin : page.run;
    if (!run || (i && page.still)) return;
    const step = page.steps[page.e];
    chart.draw({
      width: page.width,
      schedule: page.schedule,
      scale: page.scale,
      kind: page.kind,
      from: page.from,
      to: page.to,
      at: page.at,
      query: page.query,
      messages: page.messages,
      message: page.message,
      causes: i === 0 ? page.relations : page.causes ? page.ask(run) : null,
      number: (i ? step?.other : step?.own)?.number,
      lit: i ? null : page.lit,
      draws: (r, m) => page.shows(r, m),
      matches: (m) => page.matches(m),
      stepAt: (r, n) => (r.numbers ||= new Map(r.moments.filter((m) => m.number).map((m) => [m.number, m]))).get(n),
    });
  });
  page.still = false; // what else is changed is drawn in both
}

function sayEvent(page) {
  const step = page.steps[page.e],
    words = [];
  if (!step) words.push(`${precise(page.at)}: the cursor stands between moments.`);
  for (const m of step ? [step.own, step.other] : []) {
    if (!m || (m === step.other && step.own?.text === m.text)) continue;
    if (m === step.other) words.push(el("i", {}, ` With ${page.twin.name}: `));
    words.push(
      el(
        "span",
        { class: `tone-text-${m.tone}` },
        m.number && numbered(m.number),
        ` ${precise(m.at)} `,
        glyphOf[m.tone] ? `${glyphOf[m.tone]} ` : "",
        el("b", {}, m.who),
        ` ${m.text}`,
      ),
    );
  }
  if (page.e >= 0) words.push(el("span", { class: "count" }, ` ${page.e + 1} of ${page.steps.length}`));
  const text = words.map((w) => w.textContent ?? w).join("");
  if ($("event").textContent !== text) $("event").replaceChildren(...words);
}
