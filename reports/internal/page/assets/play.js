// The playground: the text of a scenario is the model. Whatever changes it, a slider, a fault that is dragged, a choice or the
// keyboard, makes another text, which the engine plays.

const opening = JSON.parse($("opening").textContent);
const live = new Engine(2000);
const behind = new Engine(30000, live); // what takes longer: seeds, margins, a smaller scenario

const play = {
  text: "",
  variant: "",
  answer: null, // to the last text that could be played
  undo: [],
  redo: [],
  packed: "",
  beside: null, // what is changed in the run beside it: a path and a value
  generation: 0,
  focus: "",
  shown: null, // the key of the run that is to be shown again
  note: "", // what is said of the next text that is played
  most: new Map(), // the right ends of sliders, which stay while they are moved
  alone: 0, // frames of a drag since the run beside it was played
  rest: 0, // the timer of a drag that rests
  warm: 0, // answers of a drag that were asked for before there was one
};

function says(text, bad = false) {
  $("play-says").textContent = text;
  $("play-says").classList.toggle("bad", bad);
}

// The engine is asked one thing at a time; what was asked while it worked, and is not the last, is dropped.
let waits = null;
let working = false;
async function show(request, axis, alone) {
  waits = { request, axis, alone };
  if (working) return;
  working = true;
  while (waits) {
    const now = waits;
    waits = null;
    try {
      heard(await asked(now.request), now);
    } catch (err) {
      failed(err);
    }
  }
  working = false;
}

function asked(request) {
  if (!live.ready) says("The engine is still being loaded. This is played as soon as it is there.");
  return live.ask(request);
}

function failed(err) {
  says(`This scenario could not be played: ${err.message}.`, true);
  outdated(true);
}

// write puts the text of what is shown into its box, at once or in some milliseconds: it is not laid out for each frame.
let writing = 0;
function write(ms) {
  if (ms) writing ||= setTimeout(() => (write(0), (writing = 0)), ms);
  else if (play.answer.text) $("text").value = play.answer.text; // what has none has been written, by the reader or when it was committed
}

// outdated marks what is shown as that of an earlier text, since the last one could not be played.
const outdated = (on) => document.body.classList.toggle("outdated", on);

// wait shows the title of a link's scenario until it is played, rather than the picture that the page came with; without a title it ends.
function wait(title) {
  page.waiting = title != null;
  document.body.classList.toggle("loading", page.waiting);
  if (page.waiting) [$("title").textContent, $("scenario").textContent] = [title, ""];
  page.dirty.structure = true;
  page.change({});
}

// titleIn is the title in a text that is not read yet, or else its name.
const titleIn = (text) => /^title: *(["']?)([^>|\s].*)\1\s*$/m.exec(text)?.[2] ?? /^name: *(\S+)/m.exec(text)?.[1] ?? "";

function heard(answer, { request, axis, alone }) {
  problems(answer.problems || []);
  if (answer.problems) return;
  play.first ??= performance.now(); // when a reader could change something first
  if (page.waiting) wait(null);
  play.answer = axis ? { ...play.answer, faults: [], ...answer } : answer; // an outline has no controls
  play.alone = alone ? play.alone + 1 : 0;
  if (!axis) tells(answer);
  if (!axis) write();
  else if (request.text === play.text) write(100); // else another text was committed meanwhile
  loadRoomy(answer.schedules, axis);
  const again = page.schedule.runs.find((r) => r.key === play.shown);
  play.shown = null;
  if (again) page.change({ run: again });
  if (axis) return; // more follows, and where the pointer is stays as it is
  play.variant = answer.variant || "";
  renderControls();
  wrong($("seed"), "");
  wrong($("beside-value"), answer.says ?? "");
  const note = play.note;
  play.note = "";
  says(answer.says || note || `Digest ${answer.digests[0]}: the command line shows the same run. What you change is played in your browser.`, !!answer.says);
}

// tells keeps the story of what is shown, for texts that come of it and have none of their own: those that were changed, or found.
function tells({ schedules: [s], story, changed }) {
  if (s.story) play.told = { name: s.scenario, story: s.story };
  else if (story) play.told = { name: s.scenario, story, own: !changed };
  const { name, own } = play.told ?? {};
  const of = own && name === s.scenario ? `The story in the text of ${name}:` : `The story of ${name}, from which this scenario was made:`;
  page.origin = play.told && { of, story: play.told.story };
}

// loadRoomy shows schedules on an axis that is not made shorter, so that what was dragged to the left can be dragged back.
function loadRoomy(list, axis) {
  const before = page.run && page.schedule;
  for (const s of list)
    if (before?.scenario === s.scenario && before.axis.to > s.axis.to && s.axis.to > before.axis.to / 4) s.axis = before.axis;
  page.load(list, axis);
}

function problems(list) {
  if (!list.length && !$("problems").childElementCount) return outdated(false);
  $("text").setAttribute("aria-invalid", String(list.length > 0));
  markProblems(list);
  outdated(list.length > 0);
  const of = play.answer ? " What is shown is of the last text without mistakes." : "";
  if (list.length) says((list.length > 1 ? `The text has ${list.length} mistakes.` : "The text has a mistake.") + of, true);
  $("problems").replaceChildren(
    ...list.map((p) =>
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", onclick: () => goLine(p.line, p.column) },
          [p.line ? `line ${p.line}, column ${p.column}: ` : "", p.field ? `${p.field}: ` : "", reasonOf(p)].join(""),
        ),
      ),
    ),
  );
}

const reasonOf = (p) => p.text + (p.allowed ? `; want ${p.allowed}` : "");

// wrong says at a box what is wrong with what was typed into it; "" if nothing is.
function wrong(field, text) {
  const label = field.closest("label");
  field.setAttribute("aria-invalid", String(!!text));
  field.title = text;
  label.querySelector(".wrong")?.remove();
  if (text) label.append(el("small", { class: "wrong", role: "alert" }, text));
}

// enter makes the edit of a box, unless it is a mistake: the box says so then, and the text stays what it is.
async function enter(field, path, value = field.value.trim()) {
  const edits = [{ path, value }];
  if (!document.body.classList.contains("outdated")) {
    const request = { do: "play", text: play.text, variant: play.variant, edits, quick: true, outline: true };
    const { problems: [p] = [] } = await live.ask(request).catch(() => ({}));
    wrong(field, p ? reasonOf(p) : "");
    if (p) return;
  }
  change(edits);
}

function goLine(line, column) {
  if (!line) return;
  const lines = $("text").value.split("\n");
  const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + column - 1;
  $("text").focus();
  $("text").setSelectionRange(at, at + 1);
}

// commit makes a text the one that is played. Where the answer is known, the engine plays it for itself, and is quick when it is needed.
function commit(text, variant = play.variant, remember = true, answer = null) {
  if (remember && play.text && text !== play.text) {
    play.undo.push([play.text, play.variant, page.run?.key]);
    play.redo = [];
    if (play.undo.length > 500) play.undo.shift();
  }
  clearTimeout(play.rest);
  writing = clearTimeout(writing);
  play.text = text;
  play.variant = variant;
  if ($("text").value !== text) $("text").value = text;
  $("undo").disabled = !play.undo.length;
  $("redo").disabled = !play.redo.length;
  pack(text);
  const request = { do: "play", text, variant, beside: play.beside };
  if (answer) {
    heard(answer, {});
    live.ask(request).catch(failed);
  } else show(request);
  lookBehind();
}

function back(from, to) {
  if (!play[from].length) return;
  play[to].push([play.text, play.variant, page.run?.key]);
  const [text, variant, shown] = play[from].pop();
  play.shown = shown;
  commit(text, variant, false);
}

// change makes edits, and plays what comes of them: for good, or while something is dragged on a still axis.
async function change(edits, { text = play.text, axis = null } = {}) {
  if (axis) return follow({ do: "play", text, variant: play.variant, edits }, axis);
  try {
    const answer = await asked({ do: "edit", text, variant: play.variant, edits });
    if (answer.problems) return problems(answer.problems);
    commit(answer.text);
  } catch (err) {
    says(err.message, true);
  }
}

// follow plays only what is drawn during a drag: of messages those that matter, unless the reader wants all. The run beside the one that
// is dragged follows with every third frame, and when the drag rests.
function follow(edited, axis) {
  const { run, twin } = page;
  const drawn = { ...edited, quick: true, outline: page.messages !== "all" };
  const modes = [run, twin].filter((r) => r && !r.beside).map((r) => r.fencing);
  const both = { ...drawn, modes, beside: run.beside || twin?.beside ? play.beside : null };
  clearTimeout(play.rest);
  if (!twin || run.beside || play.alone > 1) return show(both, axis);
  play.rest = setTimeout(() => show(both, axis), 100);
  return show({ ...drawn, modes: [run.fencing] }, axis, true);
}

// What takes longer than a moment is played when nothing has changed for a while: other seeds, then margins and futures.
const seedsShown = 100;
let later = 0;
function lookBehind() {
  const generation = ++play.generation;
  $("luck-says").textContent = $("studied").textContent = "";
  $("seeds").replaceChildren();
  clearTimeout(later);
  later = setTimeout(() => look(generation), 400);
}

async function look(generation) {
  const { text, variant } = play;
  const stale = () => generation !== play.generation;
  try {
    if (behind.busy) behind.restart("another text is looked at");
    const first = play.answer?.seed || "1";
    const many = await behind.ask({ do: "seeds", text, variant, first, count: seedsShown });
    if (stale() || many.problems) return;
    luck(many.seeds, BigInt(first));
    const study = await behind.ask({ do: "study", text, variant, beside: play.beside });
    if (stale() || study.problems) return;
    $("studied").textContent = studied(study.schedules[page.s] || study.schedules[0]);
    if (!play.drag) loadRoomy(study.schedules);
    await warmUp(stale);
  } catch (err) {
    if (!stale()) $("studied").textContent = `What takes longer was given up: ${err.message}.`;
  }
}

// warmUp asks what a drag asks before there is one: what is asked often the browser compiles a second time, to be twice as fast, for all workers.
const warm = 60;
async function warmUp(stale) {
  const { text, variant } = play;
  for (; play.warm < warm && !stale(); play.warm++) await behind.ask({ do: "play", text, variant, quick: true, outline: true, modes: [page.run.fencing] });
}

// studied is what further runs show in a sentence or two; the rest is below, where all of it has its place.
function studied(s) {
  const [first = ""] = [...(s.boundary || []), ...(s.margins || [])];
  const [sentence] = first.split(/(?<=\.)\s+(?=[A-Z])/);
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function luck(letters, first) {
  const count = (of) => [...letters].filter((l) => l === of).length;
  const unknown = count("?") ? `, with ${count("?")} it is unknown (dotted)` : "";
  $("luck-says").textContent = `With ${count("v")} of ${letters.length} seeds something is violated (tall), with ${count("h")} nothing (low)${unknown}.`;
  const words = { v: "violated", h: "nothing is violated", "?": "unknown" };
  $("seeds").replaceChildren(
    ...[...letters].map((letter, i) => {
      const seed = String(first + BigInt(i));
      const label = `seed ${seed}: ${words[letter]}`;
      return el("button", {
        type: "button",
        class: letter === "?" ? "q" : letter,
        title: label,
        "aria-label": label,
        "aria-current": i === 0 && "true",
        tabindex: i ? -1 : 0,
        onclick: () => change([{ path: "seed", value: seed }]),
        onkeydown: stepSeeds,
      });
    }),
  );
}

// stepSeeds moves the focus along the strip, which is one stop of the Tab key.
function stepSeeds(e) {
  const next = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[e.key];
  if (!next) return;
  e.preventDefault();
  e.stopPropagation();
  e.target[next]?.focus();
}

// damaged and kept report whether a run did damage to the resource, or is known to have kept it safe.
const resourceIs = (found) => (run) => run.verdicts.some((v) => v.property === "resource" && v.found === found);
const [damaged, kept] = ["violated", "held"].map(resourceIs);

// tryIt says what a reader can do first with the run that is shown: break it, or mend it.
page.tryIt = () => {
  if (!play.answer?.controls || page.dragging) return;
  const { twin, run } = page;
  if (twin && !twin.beside && toldOf(twin, true)[1] !== "green") $("twin-says").append(` ${twin.proof.at(-1) ?? ""}`);
  const { faults = [], controls } = play.answer;
  const modes = page.schedule.runs.filter((r) => !r.beside);
  const ruined = damaged(run);
  const worse = kept(run) && !run.beside && run.fencing !== "none" && modes.find(damaged);
  const bad = ruined || broken(run);
  const f = faults.find((f) => f.fired && f.lasts && f.end);
  const named = controls.find((c) => c.path === f?.lasts)?.label ?? f?.name;
  const safe = ruined && modes.find(kept);
  const press = (text, act) => el("button", { type: "button", onclick: act }, text);
  const choose = (r) => press(`fencing ${r.fencing}`, () => page.change({ run: r }));
  const ways = [
    !worse && f && [
      `${ruined ? "make it safe" : bad ? "mend it" : "break it"}: drag the handle `,
      el("span", { class: "handle", role: "img", "aria-label": "at the end of the bar" }),
      ` at the end of the ${named} to the ${bad ? "left" : "right"}, and watch the verdict.`,
    ],
    safe && ["let the resource check tokens: ", choose(safe), ". The clients do the same, and the resource is safe."],
    !worse && !bad && ["let the engine search: ", press("Find a violation", () => $("find").click()), " plays one more fault at each step."],
    worse && [`mended: with fencing ${run.fencing} the resource refuses what comes too late. `, press("Share it", sharing), " or go back to ", choose(worse), "."],
  ];
  $("try").replaceChildren(...ways.filter(Boolean).map(([text, ...rest], i) => el("li", {}, i ? `Or ${text}` : capital(text), ...rest)));
};

// snap rounds a number to what a person would write.
function snap(value, least) {
  const size = Math.max(10 ** Math.floor(Math.log10(Math.max(value, 1)) - 1), least || 1);
  return Math.round(value / size) * size;
}

const written = (c, value) => (c.rate ? `${value}ppm` : precise(value));

function renderControls() {
  const { answer } = play;
  $("variant-field").hidden = !answer.variants?.length;
  const changed = (v) => answer.changed && v === play.variant;
  $("variant").replaceChildren(...(answer.variants || []).map((v) => el("option", { value: v }, changed(v) ? `${v}, changed` : v)));
  $("variant").value = play.variant;
  $("seed").value = answer.seed;
  $("choices").replaceChildren(
    ...answer.choices.filter((c) => c.path !== fencingPath).map((c) =>
      el(
        "label",
        {},
        `${capital(c.label)} `,
        el(
          "select",
          { onchange: (e) => change([{ path: c.path, value: e.target.value }]) },
          ...c.options.map((o) => el("option", { value: o, selected: o === c.value }, o)),
        ),
      ),
    ),
  );
  if (play.drag) return;
  const focus = document.activeElement?.dataset?.path;
  $("sliders").replaceChildren(...answer.controls.map(slider));
  if (focus) $("sliders").querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
}

const fencingPath = "resource.fencing";

// moreFencing plays one more fencing mode, beside those that the scenario has.
page.moreFencing = (schedule) => {
  const runs = schedule.runs.filter((r) => !r.beside).map((r) => r.fencing);
  const more = play.answer?.choices?.find((c) => c.path === fencingPath)?.options.filter((o) => !runs.includes(o)) ?? [];
  if (!more.length) return null;
  const add = ({ target }) => {
    play.shown = target.value;
    change([{ path: fencingPath, value: `[${[...runs, target.value].join(", ")}]` }]);
  };
  return el("select", { "aria-label": "One more fencing mode", onchange: add }, ...["more …", ...more].map((o, i) => el("option", { value: i ? o : "" }, o)));
};

// What stands beside the run: the same scenario with one more change, of the choices and numbers that the controls have.
page.besides = () => {
  const { choices = [], controls = [] } = play.answer ?? {};
  const option = (c, value, text) => el("option", { value: `${c.path}=${value}` }, text);
  const shown = (c, o) => o !== c.value && !(c.path === fencingPath && page.schedule.runs.some((r) => r.fencing === o));
  return [
    ...choices.map((c) =>
      el("optgroup", { label: `With another ${c.label}` }, ...c.options.filter((o) => shown(c, o)).map((o) => option(c, o, o))),
    ),
    el("optgroup", { label: "With another number" }, ...controls.filter((c) => !c.rate).map((c) => option(c, "", `${c.label} …`))),
  ];
};

page.beside = (chosen) => {
  const [, path, value] = /^(.+?)=(.*)$/.exec(chosen) ?? [];
  $("beside-number").hidden = !path || !!value;
  if (path) placeBeside(path, value || written({}, 2 * play.answer.controls.find((c) => c.path === path).value));
  return !!path;
};

function placeBeside(path, value) {
  play.beside = { path, value };
  $("beside-value").value = value;
  page.asked = ""; // it is shown even if another or nothing stands there
  commit(play.text, play.variant, false);
}

function slider(c) {
  const key = `${page.schedule.scenario} ${play.variant} ${c.path}`;
  if (!(c.value < play.most.get(key))) play.most.set(key, Math.max(snap(c.value * 4), c.least * 1000) || 1e9);
  const most = play.most.get(key);
  const place = (value) => Math.sqrt(Math.min(value / most, 1)) * 1000; // finer where it is small
  const value = (at) => Math.max(snap((at / 1000) ** 2 * most, c.least), c.least);
  const field = el("input", { type: "text", value: written(c, c.value), "aria-label": `${c.label}, as text` });
  const range = el("input", { type: "range", min: 0, max: 1000, value: place(c.value), "data-path": c.path });
  range.setAttribute("aria-valuetext", written(c, c.value));
  const edit = (number) => [{ path: c.path, number, rate: c.rate }];
  let before = null;
  range.addEventListener("input", () => {
    before ??= { text: play.text, axis: page.schedule.axis };
    play.drag = before;
    field.value = written(c, value(range.value));
    range.setAttribute("aria-valuetext", field.value);
    change(edit(value(range.value)), before);
  });
  range.addEventListener("change", () => {
    play.drag = before = null;
    change(edit(value(range.value)));
  });
  field.addEventListener("change", () => enter(field, c.path));
  const ends = el("span", { class: "ends", "aria-hidden": true }, ...[value(0), most].map((v) => el("span", {}, written(c, v))));
  return el("label", { class: c.fault && "fault" }, el("span", {}, c.label), range, field, ends);
}

// Faults are dragged on the lanes of their nodes: a whole one to move it, its end to make it longer.
page.grips = (chart) => {
  if (chart !== charts[0] || !play.answer) return [];
  const list = [];
  for (const f of play.answer.faults || []) {
    if (!f.fired) continue;
    const name = chart.run.homes.get(f.node);
    const row =
      chart.row.get(name) ||
      chart.rows.find((r) => r.lane.kind === "network" && r.lane.bars.some((b) => b.from === f.begin));
    if (!row || !chart.sees(f.begin, f.end || f.begin)) continue;
    const x1 = chart.px(f.begin);
    const x2 = f.end ? chart.px(f.end) : x1;
    const box = { y: row.bar - 3, height: row.high + 6 };
    list.push(grip(chart, f, "move", { x: x1 - 4, width: Math.max(x2 - x1, 0) + 8, ...box }));
    if (f.lasts && f.end) list.push(grip(chart, f, "end", { x: x2 - 3, width: 7, ...box }));
  }
  return list;
};

function grip(chart, f, part, box) {
  const id = `${f.name} ${part}`;
  const now = part === "end" ? precise(f.end - f.begin) : precise(f.begin);
  const node = svg("rect", {
    class: part === "end" ? "grip edge" : "grip",
    ...box,
    tabindex: 0,
    role: "slider",
    "aria-label": part === "end" ? `how long ${f.name} lasts` : `when ${f.name} begins: ${f.text}`,
    "aria-valuenow": Math.round((part === "end" ? f.end - f.begin : f.begin) / 1e6),
    "aria-valuetext": now,
    onpointerdown: (e) => drag(chart, f, part, e),
    onfocus: () => (play.focus = id),
    onblur: () => play.focus === id && !play.drag && (play.focus = ""),
    onkeydown: (e) => nudge(f, part, e),
  });
  if (play.focus === id) queueMicrotask(() => node.isConnected && node.focus({ preventScroll: true }));
  return node;
}

// moved are the edits that move a fault, or its end, by some nanoseconds.
function moved(f, part, by) {
  const number = (ns, least) => Math.max(Math.round(ns / 1e6) * 1e6, least);
  if (part === "end") return [{ path: f.lasts, number: number(f.end - f.begin + by, 1e6) }];
  if (f.begins) return [{ path: f.begins, value: precise(number(f.at + by, 0)) === "0" ? "0s" : "", number: number(f.at + by, 0) }];
  return [
    { path: `faults.${f.name}.before`, value: "null" },
    { path: `faults.${f.name}.at`, value: number(f.begin + by, 0) ? "" : "0s", number: number(f.begin + by, 0) },
  ];
}

// reach maps places of a pointer that is pressed at x0 to moments, as the axis does; evenly where the axis ends, or is nothing but
// stretched to the right of x0. Two leases are as long as the picture at least: a fault that long shows what a lease is for.
function reach(chart, x0) {
  const { moment, left, right } = chart;
  const lease = play.answer.controls.find((c) => c.path === "lock.ttl")?.value ?? 0;
  const pace = Math.max(page.to - page.from, 2 * lease) / (right - left);
  const last = (page.to - moment(x0)) * stretched < pace * (right - x0) ? x0 : right;
  return (x) => moment(Math.min(x, last)) + Math.max(x - last, 0) * pace;
}

function drag(chart, f, part, e) {
  if (e.button) return;
  e.preventDefault();
  e.stopPropagation();
  const { text } = play;
  const { axis } = page.schedule;
  const x = (e) => {
    const r = chart.svg.getBoundingClientRect();
    return ((e.clientX - r.left) * chart.svg.viewBox.baseVal.width) / r.width;
  };
  const moment = reach(chart, x(e));
  const from = moment(x(e));
  const label = play.answer.controls.find((c) => c.path === f.lasts)?.label ?? f.name;
  let edits = null;
  play.drag = true;
  play.focus = `${f.name} ${part}`;
  $("charts").classList.add("dragging");
  const move = (e) => {
    const by = moment(x(e)) - from;
    const span = page.to - page.from;
    edits = moved(f, part, snapBy(by, span));
    if (part === "end") says(`${capital(label)}: ${precise(edits[0].number)}`);
    change(edits, { text, axis });
  };
  const stop = (e) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", stop);
    removeEventListener("pointercancel", stop);
    $("charts").classList.remove("dragging");
    play.drag = null;
    if (edits && e.type === "pointerup") change(edits, { text });
    else if (edits) commit(text);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", stop);
  addEventListener("pointercancel", stop);
}

// snapBy rounds a distance to some two hundredth of what is in view.
function snapBy(by, span) {
  const step = 10 ** Math.floor(Math.log10(span / 100));
  return Math.round(by / step) * step;
}

function nudge(f, part, e) {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.key === "Delete" || e.key === "Backspace") change([{ path: `faults.${f.name}`, value: "null" }]);
  else if (!way) return;
  else {
    const step = 10 ** Math.floor(Math.log10((page.to - page.from) / 40));
    change(moved(f, part, way * step * (e.shiftKey ? 10 : 1)));
  }
  e.preventDefault();
  e.stopPropagation();
}

// A fault is dropped on a node at the cursor.
async function dropping(node = "", at = page.at) {
  if (!play.answer) return; // the engine is not there yet
  const { nodes } = play.answer;
  $("drop-node").replaceChildren(...nodes.map((n) => el("option", { value: n.name }, n.name)));
  if (node) $("drop-node").value = node;
  $("drop-at").value = precise(snap(Math.max(at, 0), 1e6)) === "0" ? "0s" : precise(snap(Math.max(at, 0), 1e6));
  if (!$("drop").open) $("drop").showModal();
  offerDrops();
}

async function offerDrops() {
  const name = $("drop-node").value;
  const answer = await live.ask({ do: "drops", text: play.text, variant: play.variant, name, at: 0 });
  if (name !== $("drop-node").value) return;
  const none = answer.problems ? "The text has a mistake. Without it, the faults are listed here." : `No fault can be added to ${name}.`;
  $("drops").replaceChildren(
    answer.drops ? "" : none,
    ...(answer.drops || []).map((d) =>
      el(
        "button",
        {
          type: "button",
          onclick: () => {
            $("drop").close();
            change([{ path: "faults.+", value: d.value.replace("at: 0s", `at: ${$("drop-at").value || "0s"}`) }]);
          },
        },
        d.label,
      ),
    ),
  );
}

// offer opens the faults of the lane that was pressed, at the moment that was.
function offer(e) {
  const [chart] = charts;
  const r = chart.svg.getBoundingClientRect();
  const x = ((e.clientX - r.left) * chart.svg.viewBox.baseVal.width) / r.width;
  const y = ((e.clientY - r.top) * chart.height) / r.height;
  const row = chart.rows.find((row) => y >= row.top && y < row.end);
  const name = row && nodeOfLane(row.lane).split("/")[0];
  if (!play.answer?.nodes.some((n) => n.name === name)) return;
  e.preventDefault();
  dropping(name, chart.moment(x));
}

function addClient() {
  if (!play.answer) return;
  const taken = new Set(play.answer.nodes.map((n) => n.name));
  const name = [..."abcdefghijklmnopqrstuvwxyz"].find((n) => !taken.has(n));
  if (name) change([{ path: `clients.${name}`, value: "{start: 500ms, work: 1s, retry: 100ms}" }]);
}

// work has the engine do something that takes long, and opens the scenario that comes of it. The button stops it meanwhile.
async function work(button, request, doing, found) {
  if (play.working) return behind.restart("it was stopped");
  const { textContent } = button;
  play.working = true;
  button.textContent = "Stop";
  says(`${doing} …`);
  clearTimeout(later);
  play.generation++;
  if (behind.busy) behind.restart("another thing is done");
  try {
    const answer = await behind.ask({ ...request, text: play.text, variant: play.variant, modes: [page.run.fencing] }, 120000, (runs) => says(`${doing} … ${runs} runs so far`));
    if (answer.problems) says(`${answer.problems[0].text}.`, true);
    else if (answer.says) says(answer.says);
    else {
      play.note = `${found} Undo brings back what you had.`;
      commit(answer.text, "");
    }
  } catch (err) {
    says(`${doing}: ${err.message}.`, true);
  }
  button.textContent = textContent;
  play.working = false;
}

// The gallery has all named scenarios, with their pictures when they come into view.
async function openGallery() {
  $("gallery-search").value = "";
  findInGallery();
  $("gallery").showModal();
  if ($("entries").childElementCount) return;
  const { gallery } = await live.ask({ do: "gallery" }, 30000); // all of them are read
  const seen = new IntersectionObserver((list) => {
    for (const { target, isIntersecting } of list) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      pictureOf({ do: "slide", name: target.dataset.name }).then((src) => (target.querySelector("img").src = src), () => {});
    }
  });
  $("entries").replaceChildren(
    ...gallery.flatMap((g, i) => [
      g.group !== gallery[i - 1]?.group && el("li", { class: "head" }, el("h3", {}, g.group)),
      el(
        "li",
        { "data-name": g.name },
        el(
          "button",
          { type: "button", onclick: () => openScenario(g.name) },
          el("img", { alt: "", loading: "lazy" }),
          el("b", {}, g.title),
          el("small", {}, `${g.name} · ${g.kind}`),
          el("small", {}, g.source),
        ),
      ),
    ].filter(Boolean)),
  );
  for (const li of $("entries").querySelectorAll("[data-name]")) seen.observe(li);
  $("arguments").replaceChildren(
    ...argued.map((word) => el("button", { type: "button", onclick: () => (($("gallery-search").value = word), findInGallery()) }, word)),
  );
}

// Whose arguments there are, and what they are about: words that a reader may look for.
const argued = ["Kleppmann", "Sanfilippo", "Junqueira", "failover", "session", "clock", "restart"];

async function pictureOf(of) {
  const { picture, problems } = await behind.ask({ do: "picture", ...of });
  if (problems) throw new Error(problems[0].text);
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
}

async function openScenario(name) {
  $("gallery").close();
  const answer = await live.ask({ do: "open", name });
  if (answer.problems) {
    says(answer.problems[0].text, true);
    if (play.text) return;
    play.note = answer.problems[0].text;
    wait(null);
    return commit(opening.text, opening.variant);
  }
  page.hidden = new Set();
  play.beside = null;
  $("beside-number").hidden = true;
  commit(answer.text, "");
}

function findInGallery() {
  const words = $("gallery-search").value.toLowerCase();
  let head = null; // of the group, which is shown if any of its scenarios is
  for (const li of $("entries").children) {
    if (!li.dataset.name) head = li;
    li.hidden = !li.dataset.name || !li.textContent.toLowerCase().includes(words);
    if (!li.hidden) head.hidden = false;
  }
  $("gallery-none").hidden = !$("entries").childElementCount || !!$("entries").querySelector(":scope > :not([hidden])");
}

// A link holds the text, deflated, in base64url.
async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const packed = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (text !== play.text) return;
  play.packed = packed;
  history.replaceState(null, "", linkOf(page));
}

// mostText is how long a text may be that a link holds: as long as a scenario file.
const mostText = 1 << 20;
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).text();
    size += value.length;
    if (size > mostText) throw new Error("the text in the link is too long");
    parts.push(value);
  }
}

page.link = (q) => {
  if (play.packed) q.set("play", play.packed);
  if (play.variant) q.set("variant", play.variant);
  if (play.beside) q.set("with", `${play.beside.path}=${play.beside.value}`);
  if (document.body.classList.contains("embedded")) q.set("embed", "yes");
};

// reopen opens what a link holds; false if it holds what is shown.
page.reopen = () => {
  const q = new URLSearchParams(location.hash.slice(1));
  const packed = q.get("play");
  const [, path, value] = /^(.+?)=(.+)$/.exec(q.get("with") ?? "") ?? [];
  play.beside = path ? { path, value } : null;
  const first = !play.answer; // what is shown is what the page came with
  if (first) play.shown = q.get("run");
  if (packed && packed !== play.packed) {
    if (first) wait("The scenario of the link");
    unpack(packed).then(
      (text) => {
        const variant = q.get("variant") ?? "";
        if (first) wait(text === opening.text && variant === opening.variant ? null : titleIn(text));
        commit(text, variant);
      },
      () => {
        const damage = "The link is damaged: the scenario in it cannot be read.";
        says(damage, true);
        if (!first) return;
        play.note = damage;
        wait(null);
        commit(opening.text, opening.variant);
      },
    );
    return true;
  }
  const name = q.get("scenario");
  if (name && !packed) {
    if (first && name !== page.schedule.scenario) wait(name);
    openScenario(name);
  }
  return !!name && !packed;
};

async function sharing() {
  const { exports = [] } = await live.ask({ do: "exports", text: play.text, variant: play.variant });
  const ways = [
    { what: "A link", text: location.href },
    { what: "To embed", text: `<iframe src="${location.href}&embed=yes" width="100%" height="600"></iframe>` },
    ...exports,
  ];
  $("shares").replaceChildren(
    ...ways.flatMap(({ what, name, text }) => [
      el("dt", {}, name ? `${what}, ${name}` : what),
      el(
        "dd",
        { class: "command" },
        el("code", {}, text),
        el("button", { type: "button", onclick: (e) => copy(text, e.currentTarget) }, "Copy"),
        name && el("button", { type: "button", onclick: () => save(name, `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`) }, "Save"),
      ),
    ]),
  );
  $("sharing").showModal();
}

function save(name, href) {
  const a = el("a", { href, download: name });
  a.click();
}

// saveAs saves the picture of the run that is shown: the whole of it, or the lanes that are shown as a slide.
async function saveAs(ending, what) {
  const { run, hidden } = page;
  const lanes = hidden.size ? run.lanes.map((l) => l.name).filter((name) => !hidden.has(name)) : [];
  const src = await pictureOf({ do: what, text: play.text, variant: play.variant, modes: [run.fencing], lanes });
  const name = `${page.schedule.scenario}.${ending}`;
  if (ending === "svg") return save(name, src);
  const image = new Image();
  image.src = src;
  await image.decode();
  const canvas = el("canvas", { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  save(name, canvas.toDataURL("image/png"));
}

function startPlaying() {
  const press = (id, act) => $(id).addEventListener("click", act);
  startText();
  // The picture comes before what it can be looked at with.
  const [, looks] = $("tools").querySelectorAll(".row");
  $("charts").after(el("section", { class: "tools", "aria-label": "View" }, looks));
  // Where there is little room, what happened stands below the verdict, before its story and what can be done.
  const narrow = matchMedia("(max-width: 40rem)");
  const place = () => {
    if (narrow.matches) $("verdict").after($("charts"), $("story"));
    else $("tools").after($("charts")), $("verdict").before($("story"));
  };
  narrow.addEventListener("change", place);
  place();
  $("manual").hidden = !opening.documented;
  let typing = 0;
  $("text").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => commit($("text").value), 150);
  });
  $("variant").addEventListener("change", (e) => commit(play.text, e.target.value));
  $("seed").addEventListener("change", () => enter($("seed"), "seed", $("seed").value.trim() || "1"));
  press("undo", () => back("undo", "redo"));
  press("redo", () => back("redo", "undo"));
  press("add-fault", () => dropping());
  $("drop-node").addEventListener("change", offerDrops);
  $("beside-value").addEventListener("change", (e) => placeBeside(play.beside.path, e.target.value.trim()));
  press("add-client", addClient);
  press("smaller", () => work($("smaller"), { do: "smaller" }, "Making it smaller", "This is a smaller scenario that shows the same."));
  press("find", () => work($("find"), { do: "find" }, "Looking for a violation", "Found: this scenario violates something with one more fault, and is as small as it can be."));
  press("gallery-open", openGallery);
  $("gallery-search").addEventListener("input", findInGallery);
  press("share", sharing);
  for (const what of ["picture", "slide"]) for (const ending of ["svg", "png"]) press(`${what}-${ending}`, () => saveAs(ending, what));
  keys.push(["u", "undo", () => back("undo", "redo")], ["r", "redo", () => back("redo", "undo")]);
  for (const [k, , act] of keys.slice(-2)) actions.set(k, act);
  charts[0].svg.addEventListener("contextmenu", offer);
  const q = new URLSearchParams(location.hash.slice(1));
  if (q.get("embed") === "yes") {
    document.body.classList.add("embedded");
    const own = () => ($("whole").href = location.href.replace("&embed=yes", ""));
    own(); // else it is no link, which the Tab key would pass over
    $("whole").addEventListener("pointerdown", own);
    $("whole").addEventListener("focus", own);
  }
  // A page without a link begins with a lane for each client, server and resource; a link says itself which are hidden.
  if (!location.hash) page.hidden = new Set(page.run.lanes.filter((l) => !home[l.kind]).map((l) => l.name));
  if (!page.reopen()) commit(opening.text, opening.variant, true, { ...opening.answer, schedules });
}

startPlaying();
