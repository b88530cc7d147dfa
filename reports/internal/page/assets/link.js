// The hash of a link says what the reader looks at, so that the link can be shared.

function linkOf(page) {
  const q = new URLSearchParams();
  const put = (name, value, usual) => value !== usual && q.set(name, value);
  put("schedule", page.s, 0);
  put("run", page.run.key, page.schedule.runs[0].key);
  put("beside", page.twin ? page.twin.key : "none", page.usualTwin(page.run)?.key ?? "none");
  const number = page.steps[page.e]?.own?.number;
  if (page.e > 0) q.set(number ? "event" : "step", number || page.e);
  else if (page.e < 0) q.set("at", page.at);
  const { axis } = page.schedule;
  if (page.from !== axis.from || page.to !== axis.to)
    q.set("view", `${Math.round(page.from)}-${Math.round(page.to)}`);
  put("time", page.kind, "text");
  put("messages", page.messages, "matter");
  if (page.message != null) q.set("message", page.message);
  for (const name of page.hidden) q.append("hide", name);
  put("search", page.query, "");
  put("causes", page.causes, false);
  put("lanes", page.all ? "all" : "some", "some");
  page.link?.(q);
  return `#${q}`;
}

function readLink(hash) {
  const q = new URLSearchParams(hash.slice(1));
  const number = (name) => (/^\d+$/.test(q.get(name) ?? "") ? Number(q.get(name)) : null);
  const schedule = schedules[number("schedule") ?? 0] ? (number("schedule") ?? 0) : 0;
  const view = /^(\d+)-(\d+)$/.exec(q.get("view") ?? "");
  const one = (name, of) => (of.includes(q.get(name)) ? q.get(name) : of[0]);
  return {
    schedule,
    run: q.get("run"),
    beside: q.get("beside"),
    event: number("event"), // by its number in the picture
    step: number("step"), // of a moment without a number: how many are before it
    at: number("at"),
    view: view && Number(view[1]) < Number(view[2]) ? { from: Number(view[1]), to: Number(view[2]) } : null,
    kind: one("time", ["text", "true"]),
    messages: one("messages", ["matter", "all", "none"]),
    message: number("message"),
    hidden: new Set(q.getAll("hide")),
    query: (q.get("search") ?? "").toLowerCase(),
    causes: q.get("causes") === "true",
    all: q.get("lanes") === "all",
  };
}
