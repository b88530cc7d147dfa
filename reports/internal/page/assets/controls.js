// Buttons, choices and keys, and what they show of the page.

function legend(page, lanes) {
  const signs = new Set(lanes.flatMap((l) => [...l.bars, ...l.marks].map((x) => x.sign)));
  const bar =
    (...list) =>
    (y) =>
      list.map((look) =>
        svg("path", { class: `${look} tone-client-1`, d: flat.has(look) ? across(1, 29, 9) : box(1, 29, 2, 14) }),
      );
  const mark = (sign, tone) => () => [
    svg("path", { class: `${sign === "damage" ? "solid" : "stroke"} tone-${tone}`, d: glyph(sign, 15, 9) }),
  ];
  const words = {
    waits: ["waits", bar("dots")],
    believes: ["believes it holds the lock", bar("hollow")],
    granted: ["granted by the service", bar("solid")],
    lapsed: ["believed, no longer granted", bar("dashes")],
    paused: ["paused", bar("hollow", "hatched")],
    down: ["down", bar("down", "crossed")],
    cut: ["packets vanish or wait", bar("down", "crossed")],
    overlap: ["more than one believes", bar("alarm")],
    life: ["what a key has left to live", () => [svg("path", { class: "wedge tone-client-1", d: "M1 16V2L29 16z" })]],
    expired: ["expired", mark("expired", "strong")],
    deleted: ["deleted", mark("deleted", "strong")],
    lost: ["lost, overwritten", mark("lost", "strong")],
    read: ["read", mark("read", "plain")],
    accepted: ["accepted", mark("accepted", "plain")],
    refused: ["refused", mark("refused", "green")],
    harmful: ["did damage", mark("harmful", "red")],
    unknown: ["nobody knows whether it was done", mark("unknown", "plain")],
  };
  if (page.kind !== "true") {
    words.stretched = ["time is stretched", () => [svg("path", { class: "stretched", d: across(1, 29, 9) })]];
    words.short = ["time is cut short", () => [svg("path", { class: "cut", d: "M10 18V10l4-4-4-4M15 18V10l4-4-4-4" })]];
    if (stretchesOf(page.schedule.axis, scaleOf(page.schedule.axis, page.kind)).length) signs.add("stretched");
    if (page.schedule.axis.stops.some((stop) => stop.cut)) signs.add("short");
  }
  if (page.causes) {
    words.past = ["happened before the event", bar("past")];
    words.future = ["happened after it; what is faint is neither", bar("future")];
    signs.add("past").add("future");
  }
  $("legend").replaceChildren(
    ...Object.entries(words)
      .filter(([sign]) => signs.has(sign))
      .map(([, [text, paint]]) =>
        el("li", {}, svg("svg", { width: 30, height: 18, "aria-hidden": true }, ...paint()), text),
      ),
  );
}

// toldOf returns the headline of a run and its tone: for a run beside another one, what its fencing did and what that
// meant for the resource; otherwise the whole result.
const toldOf = (run, beside) =>
  beside && run.twin
    ? [run.twin, run.verdicts.find((v) => v.property === "resource")?.tone ?? run.tone]
    : [run.headline, run.tone];

// signOf is the sign of what toldOf says.
const signOf = (run, beside) =>
  beside && run.verdicts.some((v) => v.property === "resource" && v.found === "not-judged") && run.twin ? "?" : glyphOf[toldOf(run, beside)[1]] || "✓";

const runGlyph = (run) => signOf(run, true);

// meanings are those of the signs at the fencing modes.
const meanings = {
  "✗": "the resource was damaged",
  "◆": "something was violated, but not the resource",
  "≈": "safe, but only just",
  "✓": "safe",
  "≠": "not as expected",
  "?": "not judged",
};
const runOption = (run) => `${runGlyph(run)} ${run.beside || run.fencing}`;

// scheduleNames returns the headings of all schedules, without what they have in common.
function scheduleNames() {
  const parts = schedules.map((s) => [s.scenario, ...s.heading.filter((h) => !h.startsWith("fencing "))]);
  return parts.map((list, i) => {
    const own = list.filter((p) => !parts.every((other) => other.includes(p)));
    return `${glyphOf[schedules[i].runs[0].tone] || "✓"} ${own.join(" · ") || list[0]}`;
  });
}

function heading({ schedule }) {
  $("scenario").textContent = schedule.scenario;
  $("title").textContent = schedule.title || schedule.scenario;
  const { of, story = "" } = schedule.story ? schedule : (page.origin ?? {});
  $("heading").textContent = schedule.heading.filter((h) => !h.startsWith("fencing ")).join(" · ");
  $("story").replaceChildren(
    ...(of ? [el("p", { class: "origin" }, of)] : []),
    ...story.split(/\s*\n\s*/).map((text) => el("p", {}, text)),
  );
}

function verdict({ run, twin }) {
  $("verdict").className = `tone-${run.tone}`;
  renew(
    $("verdict"),
    [run, twin]
      .filter(Boolean)
      .map((r) => {
        const [words, tone] = toldOf(r, r === twin);
        return el(
          "p",
          {},
          el("span", { class: `sign tone-text-${tone}`, "aria-hidden": true }, signOf(r, r === twin)),
          words === r.headline && el("b", {}, `${capital(r.name)}: `), // else the words say so
          words,
        );
      }),
  );
}

// offered is the schedule whose runs can be chosen. The choice is built again for another schedule only, so that it
// keeps the focus.
let offered = null;

function controls(page) {
  const { schedule, run, twin } = page;
  $("schedule-field").hidden = schedules.length < 2;
  $("schedule").value = page.s;
  if (offered !== schedule) {
    offered = schedule;
    $("schedule").replaceChildren(...scheduleNames().map((name, i) => el("option", { value: i }, name)));
    $("schedule").value = page.s;
    $("runs").replaceChildren(
      el("legend", {}, "Fencing"),
      ...schedule.runs.filter((r) => !r.beside).map((r) =>
        el(
          "label",
          { title: `With fencing ${r.fencing}: ${meanings[runGlyph(r)]}` },
          el("input", { type: "radio", name: "run", value: r.key, onchange: () => page.change({ run: r }) }),
          ` ${runOption(r)}`,
        ),
      ),
      page.moreFencing?.(schedule) ?? "",
    );
    $("meanings").textContent = Object.keys(meanings)
      .filter((sign) => schedule.runs.some((r) => !r.beside && runGlyph(r) === sign))
      .map((sign) => `${sign} ${meanings[sign]}`)
      .join(" · ");
    $("twin").replaceChildren(
      el("option", { value: "" }, "nothing"),
      ...schedule.runs.map((r) => el("option", { value: r.key }, r.beside ? runOption(r) : `${runGlyph(r)} fencing ${r.fencing}`)),
      ...(page.besides?.(schedule) ?? []),
    );
  }
  for (const r of $("runs").querySelectorAll("input")) r.checked = r.value === run.key;
  for (const o of $("twin").options) o.hidden = o.value === run.key;
  $("twin").value = twin?.key || "";
  $("twin").disabled = schedule.runs.length < 2 && !page.besides;
  $("swap").disabled = !twin;
  for (const r of $("scales").querySelectorAll("input")) r.checked = r.value === page.kind;
  $("messages-shown").value = page.messages;
  $("causes").checked = page.causes;
  $("twin-all").checked = page.all;
  $("twin-all-field").hidden = !twin;
  if ($("search").value.toLowerCase() !== page.query) $("search").value = page.query;
  const moments = page.steps.filter((s) => page.finds(s)).length;
  $("found").textContent = page.query
    ? `${moments} of ${page.steps.length} moments, ${page.foundMessages.length} of ${page.run.messages.length} messages`
    : "";
  const boxes = [...$("lane-boxes").querySelectorAll("input")];
  if (boxes.map((b) => b.value).join() !== page.lanes.map((l) => l.name).join()) {
    $("lane-boxes").replaceChildren(
      ...page.lanes.map((l) =>
        el("label", {}, el("input", { type: "checkbox", value: l.name, onchange: hide }), ` ${titleOf(l)}`),
      ),
    );
  }
  for (const b of $("lane-boxes").querySelectorAll("input")) b.checked = !page.hidden.has(b.value);
  $("lanes").firstElementChild.textContent = page.hidden.size ? `Lanes (${page.hidden.size} hidden)` : "Lanes";
}

function hide() {
  page.change({
    hidden: new Set([...$("lane-boxes").querySelectorAll("input")].filter((b) => !b.checked).map((b) => b.value)),
  });
}

// The theme is the system's until the reader chooses one.
const themes = ["auto", "light", "dark"];
function theme(name) {
  document.documentElement.style.colorScheme = name === "auto" ? "" : name;
  document.documentElement.dataset.theme = name;
  $("theme").textContent = `Theme: ${name}`;
}

// keys lists the keyboard shortcuts: the keys, their description, and what they do.
const keys = [
  ["j →", "next moment", () => page.step(1)],
  ["k ←", "previous moment", () => page.step(-1)],
  ["n", "next broken promise or damage", () => page.broken(1)],
  ["p", "previous broken promise or damage", () => page.broken(-1)],
  ["Home", "first moment", () => page.go(0)],
  ["End", "last moment", () => page.go(Infinity)],
  ["+ =", "zoom in", () => page.zoom(0.6)],
  ["- −", "zoom out", () => page.zoom(1 / 0.6)],
  ["0", "the whole run", () => page.fit()],
  ["z", "zoom to the cursor", () => page.zoom(0.25)],
  [", h", "move to the left", () => page.pan(page, -0.25)],
  [". l", "move to the right", () => page.pan(page, 0.25)],
  ["s", "the other scale of time", () => page.change({ kind: page.kind === "text" ? "true" : "text" })],
  [
    "t",
    "another run beside it, or not",
    () => page.change({ twin: page.twin ? null : page.usualTwin(page.run) }),
  ],
  ["x", "swap the two", () => page.twin && page.change({ run: page.twin, twin: page.run })],
  ["c", "what came before and after", () => page.change({ causes: !page.causes })],
  ["m", "follow the next message", () => page.nextMessage()],
  [
    "Enter",
    "the other end of the message",
    () =>
      page.chosen &&
      page.follow(
        page.chosen,
        page.at === page.chosen.sent && !page.chosen.lost ? page.chosen.received : page.chosen.sent,
      ),
  ],
  ["Escape", "let go of the message and the search", () => page.change({ message: null, query: "" })],
  ["P", "present the explanation, sentence by sentence", () => present(0)],
  ["/", "search", () => $("search").focus()],
  ["?", "these keys", () => $("help").showModal()],
];
const names = { "→": "ArrowRight", "←": "ArrowLeft" };
const actions = new Map(keys.flatMap(([list, , act]) => list.split(" ").map((k) => [names[k] || k, act])));

function typed(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || $("help").open || page.waiting || clicked(e)) return;
  const field = e.target.closest?.("input, select, textarea");
  if (field) {
    if (e.key === "Escape") field.blur();
    if (e.key === "Enter" && field.id === "search") page.step(1);
    if (!(field.type === "checkbox" || (field.type === "radio" && !e.key.startsWith("Arrow")))) return;
  }
  if (e.key === "Enter" && e.target.closest?.("button, summary, a, input")) return;
  const act = actions.get(e.key);
  if (!act) return;
  e.preventDefault();
  act();
}

function restore() {
  const link = readLink(location.hash),
    usual = page.usual(link.schedule),
    { runs } = page.schedule;
  const run = runs.find((r) => r.key === link.run) || usual.run;
  const twin =
    link.beside === "none" ? null : runs.find((r) => r.key === link.beside && r !== run) || page.usualTwin(run);
  const told = stepsOf(run, twin).findIndex((s) => link.event != null && s.own?.number === link.event);
  const place = { e: told >= 0 ? told : (link.step ?? link.event ?? (link.at != null ? -1 : 0)) };
  page.run = null;
  page.change({
    ...usual,
    ...link.view,
    run,
    twin,
    kind: link.kind,
    messages: link.messages,
    hidden: link.hidden,
    query: link.query,
    causes: link.causes,
    all: link.all,
    ...place,
  });
  if (link.at != null) page.at = link.at;
  const m = run.messages.find((x) => x.id === link.message);
  if (m) page.message = m.id;
}

function start() {
  const press = (id, act) => $(id).addEventListener("click", act);
  $("schedule").addEventListener("change", (e) => {
    page.run = null;
    page.change(page.usual(Number(e.target.value)));
  });
  // While a list has the focus, keys that choose in it are not shortcuts of the page.
  for (const id of ["schedule", "twin", "messages-shown"]) $(id).addEventListener("change", () => $(id).blur());
  $("twin").addEventListener("change", (e) =>
    page.beside?.(e.target.value) || page.change({ twin: page.schedule.runs.find((r) => r.key === e.target.value) || null }),
  );
  press("swap", () => actions.get("x")());
  press("zoom-in", () => page.zoom(0.6));
  press("zoom-out", () => page.zoom(1 / 0.6));
  press("zoom-fit", () => page.fit());
  press("zoom-here", () => page.zoom(0.25));
  for (const r of $("scales").querySelectorAll("input"))
    r.addEventListener("change", () => page.change({ kind: r.value }));
  $("messages-shown").addEventListener("change", (e) => page.change({ messages: e.target.value }));
  $("causes").addEventListener("change", (e) => page.change({ causes: e.target.checked }));
  $("twin-all").addEventListener("change", (e) => page.change({ all: e.target.checked }));
  $("search").addEventListener("input", (e) => page.change({ query: e.target.value.toLowerCase() }));
  press("first", () => page.go(0));
  press("previous", () => page.step(-1));
  press("next", () => page.step(1));
  press("last", () => page.go(Infinity));
  press("previous-violation", () => page.broken(-1));
  press("next-violation", () => page.broken(1));
  press("theme", () => theme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3]));
  press("present", () => present(0));
  press("talk-back", () => present(Math.max(talk.at - 1, 0)));
  press("talk-next", () => present(Math.min(talk.at + 1, talk.list.length - 1)));
  press("talk-end", () => present(-1));
  press("help-open", () => $("help").showModal());
  $("keys").append(
    ...keys.flatMap(([list, words]) => [
      el("dt", {}, ...list.split(" ").map((k) => el("kbd", {}, k))),
      el("dd", {}, words),
    ]),
  );
  theme("auto");
  document.addEventListener("keydown", typed);
  addEventListener("hashchange", () => page.reopen?.() || restore());
  new ResizeObserver(() => page.steps && page.change({ width: chartWidth() })).observe($("charts"));
  $("app").hidden = $("page-buttons").hidden = false;
  $("static").remove();
  page.width = chartWidth();
  restore();
}

start();
