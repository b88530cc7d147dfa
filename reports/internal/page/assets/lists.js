// The lists beside the picture: moments, the state of all lanes, messages.

// A moment's number is drawn as in the picture, so that it does not depend on the reader's fonts.
const numbered = (n) => el("span", { class: n ? "number" : "number none" }, n ? String(n) : "·");

// linked returns a text in which the numbers of moments are links to them.
const linked = (text, go) =>
  text.split(/([①-⑳])/).map((part) => {
    const n = /^[①-⑳]$/.test(part) && part.codePointAt(0) - 0x245f;
    return n
      ? el(
          "button",
          { type: "button", class: "number", "aria-label": `moment ${n}`, onclick: () => go(n) },
          String(n),
        )
      : part;
  });

function momentRow(page, step, i) {
  const m = step.own || step.other;
  const differs = step.own && step.other && (step.own.text !== step.other.text || step.own.tone !== step.other.tone);
  const sentence = (x) => [el("b", {}, ...marked(x.who, page.query)), " ", ...marked(x.text, page.query)];
  const other = (x, words) =>
    el(
      "span",
      { class: `other tone-text-${x.tone}` },
      el("i", {}, words),
      " ",
      glyphOf[x.tone] || "",
      " ",
      ...sentence(x),
    );
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: `moment tone-${m.tone}`,
        "data-step": i,
        "aria-current": i === page.e && "step",
        onclick: () => page.go(i),
      },
      numbered(m.number),
      el("time", {}, precise(m.at)),
      el(
        "span",
        { class: "says" },
        step.own
          ? el("span", { class: `tone-text-${m.tone}` }, `${glyphOf[m.tone] || ""} `.trimStart(), ...sentence(m))
          : other(m, `only with ${page.twin.name}:`),
        differs && other(step.other, `with ${page.twin.name}:`),
        page.causes && el("span", { class: "relation" }),
      ),
    ),
  );
}

// listed is how many moments the list shows at most: those around the current one.
const listed = 120;

function renderMoments(page, around = page.e) {
  const found = page.steps.map((step, i) => i).filter((i) => page.finds(page.steps[i]));
  const from = clamp(below(found, around) - listed / 2, 0, Math.max(found.length - listed, 0)),
    to = from + listed;
  const more = (n, words, i) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "moment", onclick: () => renderMoments(page, found[i]) },
        `${n} ${words}`,
      ),
    );
  $("moments").replaceChildren(
    ...[
      from > 0 && more(from, "earlier ones", from),
      ...found.slice(from, to).map((i) => momentRow(page, page.steps[i], i)),
      to < found.length && more(found.length - to, "later ones", to),
      page.schedule.more?.moments &&
        !page.query &&
        el("li", { class: "empty" }, `… and ${page.schedule.more.moments} more of less weight`),
      !found.length &&
        el("li", { class: "empty" }, page.query ? "No moment has this in it." : "Nothing of note happened."),
    ].filter(Boolean),
  );
}

function markMoment(page) {
  const rows = $("moments"),
    find = () => rows.querySelector(`[data-step="${page.e}"]`);
  for (const n of rows.querySelectorAll(".relation")) {
    const step = page.steps[n.closest(".moment").dataset.step];
    const text = page.relation(step.own || step.other);
    if (n.textContent !== text) n.textContent = text; // what stays costs no layout
  }
  rows.querySelector("[aria-current]")?.removeAttribute("aria-current");
  if (page.e >= 0 && !find() && page.finds(page.steps[page.e])) renderMoments(page);
  const row = find();
  if (!row) return;
  row.setAttribute("aria-current", "step");
  const top = row.offsetTop; // only the list scrolls, never the page
  if (top < rows.scrollTop || top + row.offsetHeight > rows.scrollTop + rows.clientHeight)
    rows.scrollTop = top - rows.clientHeight / 3;
}

function renderState(page) {
  const before = page.steps[below(page.steps, page.at, (s) => s.at) - 1]?.at;
  const runs = page.twin ? [page.run, page.twin] : [page.run];
  const cell = (run, name) => {
    const lane = run.lane.get(name);
    if (!lane) return el("td", {}, "–");
    const now = stateOf(lane, page.at),
      was = before == null ? now : stateOf(lane, before);
    if (now.key === was.key) return el("td", {}, now.text);
    return el(
      "td",
      { class: "changed" },
      el("strong", {}, now.text),
      " ",
      el("span", { class: "was" }, `changed; was ${was.text}`),
    );
  };
  const rows = page.lanes.map((lane) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: `tone-text-${lane.tone}` }, titleOf(lane)),
      ...runs.map((run) => cell(run, lane.name)),
    ),
  );
  $("state").replaceChildren(
    el(
      "table",
      {},
      el("caption", {}, `At ${precise(page.at)}${before == null ? "" : `, against ${precise(before)} before it`}`),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "Lane"),
          ...runs.map((r) => el("th", { scope: "col" }, r.name)),
        ),
      ),
      el("tbody", {}, ...rows),
    ),
  );
}

const took = (m) => (m.lost ? m.fate : `takes ${precise(m.received - m.sent)}${m.late ? ", held up" : ""}`);

function messageRow(page, m) {
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "message",
        "aria-pressed": String(page.message === m.id),
        onclick: () => page.follow(m),
      },
      el("time", {}, precise(m.sent)),
      el(
        "span",
        { class: "says" },
        el("b", {}, `${m.from} → ${m.to}`),
        " ",
        ...marked(wordsOf(m), page.query),
        el("span", { class: "detail" }, ` ${took(m)} · `, ...marked(m.detail || "", page.query)),
      ),
    ),
  );
}

const shownMessages = 24;

function renderMessages(page) {
  const { sent } = page.run;
  const i = clamp(
    below(sent, page.at, (m) => m.sent) - shownMessages / 2,
    0,
    Math.max(sent.length - shownMessages, 0),
  );
  const list = page.query ? page.foundMessages.slice(0, 4 * shownMessages) : sent.slice(i, i + shownMessages);
  $("messages-title").textContent = page.query ? "Messages found" : "Messages near the cursor";
  $("messages").replaceChildren(
    ...(list.length ? list.map((m) => messageRow(page, m)) : [el("li", { class: "empty" }, "None.")]),
  );
  const here = $("messages").children[below(list, page.at, (m) => m.sent) - 1];
  if (here && !page.query) $("messages").scrollTop = here.offsetTop - 30;
  const m = page.chosen;
  const end = (node, at, words) =>
    el(
      "button",
      { type: "button", "aria-pressed": String(page.at === at), onclick: () => page.follow(m, at) },
      `${words} ${node} at ${precise(at)}`,
    );
  $("message").replaceChildren(
    ...(m
      ? [
          el("p", {}, el("b", {}, wordsOf(m)), " ", took(m), ". ", m.detail || ""),
          el(
            "p",
            { class: "joined" },
            end(m.from, m.sent, "Leaves"),
            m.lost ? null : end(m.to, m.received, "Reaches"),
          ),
        ].map((p) => p)
      : []),
  );
}

const chapter = (title, ...content) => el("section", {}, el("h2", {}, title), ...content);
const items = (list, kind = "ul", go) =>
  el(kind, {}, ...list.map((x) => el("li", {}, ...(go ? linked(x, go) : [x]))));

function verdictTable(schedule) {
  const names = [...new Set(schedule.runs.flatMap((r) => r.verdicts.map((v) => v.property)))];
  const cell = (run, name) => {
    const v = run.verdicts.find((x) => x.property === name);
    if (!v) return el("td", {}, "–");
    return el(
      "td",
      {},
      el("span", { class: `tone-text-${v.tone}` }, `${glyphOf[v.tone] || "·"} ${v.found}`),
      ![undefined, "any", v.found].includes(v.expected) &&
        el("strong", { class: "tone-text-differs" }, ` ≠ expected ${v.expected}`),
      v.note && el("span", { class: "note" }, v.note),
    );
  };
  return el(
    "div",
    { class: "wide" },
    el(
      "table",
      { id: "verdicts" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "Property"),
          ...schedule.runs.map((r) => el("th", { scope: "col" }, r.name)),
        ),
      ),
      el(
        "tbody",
        {},
        ...names.map((name) =>
          el("tr", {}, el("th", { scope: "row" }, name), ...schedule.runs.map((r) => cell(r, name))),
        ),
      ),
    ),
  );
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(el("textarea", {}, text));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
}

const command = (text) =>
  el(
    "p",
    { class: "command" },
    el("code", {}, text),
    el("button", { type: "button", onclick: (e) => copy(text, e.currentTarget) }, "Copy"),
  );

function renderProse(page) {
  const { schedule, run } = page;
  const some = (list, make) => (list.length ? [make(list)] : []);
  const go = (n) => page.goNumber(n);
  const twins = schedule.runs.filter((r) => r !== run && r.twin);
  const about = [
    ["It claims", schedule.claims],
    ["Found here", schedule.finding],
    ["Source", schedule.source],
  ].filter(([, text]) => text);
  $("prose").replaceChildren(
    chapter("What was found", verdictTable(schedule)),
    ...some(run.proof, (x) => chapter("Proof", items(x, "ol", go))),
    ...some(run.why, (x) => chapter("Why", items(x, "ul", go))),
    ...some(twins, (x) => chapter("Fenced otherwise", items(x.map((r) => r.twin)))),
    ...some(schedule.boundary, (x) => chapter("Where it begins", items(x))),
    ...some(schedule.margins, (x) => chapter("By how much it held", items(x))),
    ...some(schedule.assumptions, (x) => chapter("Assumed", items(x))),
    ...some(schedule.settings, (x) => chapter("Settings", items(x))),
    ...some(run.measures, (x) => chapter("Measured", items(x))),
    ...some(about, (x) =>
      chapter(
        "About this story",
        el("dl", {}, ...x.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      ),
    ),
    ...some(schedule.commands, (x) => chapter("Play it again", ...x.map(command))),
  );
}
