// The data of the page, and what is computed from them.

const broken = (m) => m.tone === "amber" || m.tone === "red";
const glyphOf = { red: "✗", amber: "◆", green: "✓", near: "≈", differs: "≠" };

// Each node has a lane of its own in a picture: that of a client's belief, of a server, or of the resource.
const home = { belief: 1, node: 1, storage: 1 };
const nodeOfLane = (lane) => lane.node || (lane.kind === "storage" ? lane.name : "");

// lists replaces missing lists by empty ones.
function lists(of, ...names) {
  for (const name of names) of[name] ||= [];
}

// prepared computes what the page needs of each schedule.
function prepared(list) {
  for (const schedule of list) {
    lists(schedule, "heading", "settings", "commands", "assumptions", "boundary", "margins");
    lists(schedule.axis, "stops", "ticks");
    for (const run of schedule.runs) {
      lists(run, "lanes", "moments", "messages", "verdicts", "why", "proof", "measures");
      for (const lane of run.lanes) lists(lane, "bars", "marks", "levels");
      // A run that differs in more than the fencing stands beside all others.
      run.key = run.beside ? "beside" : run.fencing;
      run.name = run.beside || `fencing ${run.fencing}`;
      run.lane = new Map(run.lanes.map((l) => [l.name, l]));
      run.homes = new Map(run.lanes.filter((l) => home[l.kind]).map((l) => [nodeOfLane(l), l.name]));
      const clients = new Set([
        ...run.lanes.filter((l) => l.kind === "belief").map((l) => nodeOfLane(l).split("/")[0]),
        ...(schedule.more?.clients || []),
      ]);
      run.talks = new Set(run.messages.flatMap((m) => [m.from, m.to]));
      // Servers without lanes of their own are drawn on the lane of their service, which itself sends nothing.
      const service = run.lanes.find((l) => l.kind === "node" && !run.talks.has(nodeOfLane(l)));
      const known = [...run.homes.keys(), ...(schedule.more?.clients || [])];
      if (service) for (const n of run.talks) if (!known.includes(n)) run.homes.set(n, service.name);
      run.sent = run.messages.toSorted((a, b) => a.sent - b.sent);
      for (const m of run.messages) {
        m.lost = m.received === undefined; // it never arrives, whatever the reason
        m.answers = m.reply && clients.has(m.to); // what one server passes on to another answers nobody
        m.fate = m.lost ? fateOf(schedule, run, m) : "arrived";
      }
    }
  }
  return list;
}

// fateOf says what happened to a message that did not arrive.
function fateOf(schedule, run, m) {
  const end = Math.min(schedule.axis.to, schedule.end);
  const holds = (b) => b.label === "stalled" && m.sent < b.to && b.to >= end;
  if (m.late && run.lanes.some((l) => l.kind === "network" && l.bars.some(holds))) return "waits";
  return m.on_its_way ? "on its way" : "lost";
}

// leftOut lists what the picture of a schedule does not show.
function leftOut({ more, partial, axis, end }) {
  const few = 8;
  const some = (list) => (list.length > few ? `${list.slice(0, few).join(", ")} and others` : list.join(", "));
  const hidden = (list, what) =>
    list?.length ? [`${list.length} more ${what} are not drawn: ${some(list)}.`] : [];
  return [
    ...hidden(more?.clients, "clients"),
    ...hidden(more?.servers, "servers"),
    ...(partial
      ? [`This is the time from ${precise(axis.from)} to ${precise(axis.to)} of a run of ${precise(end)}.`]
      : []),
  ];
}

// nodesAt tells at which nodes messages began or ended at a moment: an event of the lock service is its server's, even
// if it stands on the lane of the client that it concerns.
function nodesAt(run) {
  if (!run.ends) {
    run.ends = new Map();
    const add = (at, node) => (run.ends.has(at) ? run.ends.get(at).push(node) : run.ends.set(at, [node]));
    for (const m of run.messages) {
      add(m.sent, m.from);
      if (!m.lost) add(m.received, m.to);
    }
    for (const l of run.lanes) if (l.kind === "node") for (const m of l.marks) add(m.at, nodeOfLane(l));
  }
  return run.ends;
}

function nodeOf(run, moment) {
  const lane = run.lane.get(moment.lane);
  const own = lane ? nodeOfLane(lane) : moment.who;
  const there = nodesAt(run).get(moment.at) || [];
  if (lane?.kind !== "truth" && run.talks.has(own)) return own;
  return there.find((n) => n !== own) || own;
}

// causes computes happened-before: for each node, until when everything happened before an event, and from when on
// everything happened after it. What is in between is concurrent with the event.
function causes(run, node, at) {
  const past = new Map([[node, at]]),
    future = new Map([[node, at]]);
  run.received ||= run.messages.filter((m) => !m.lost).sort((a, b) => b.received - a.received || b.sent - a.sent);
  for (const m of run.received) {
    if (m.received <= (past.get(m.to) ?? -1)) past.set(m.from, Math.max(past.get(m.from) ?? -1, m.sent));
  }
  for (const m of run.sent) {
    if (!m.lost && m.sent >= (future.get(m.from) ?? Infinity))
      future.set(m.to, Math.min(future.get(m.to) ?? Infinity, m.received));
  }
  return {
    of: (n, t) =>
      n === node && t === at
        ? "this"
        : t <= (past.get(n) ?? -1)
          ? "before"
          : t >= (future.get(n) ?? Infinity)
            ? "after"
            : "apart",
    until: (n) => past.get(n) ?? -1,
    from: (n) => future.get(n) ?? Infinity,
    holds: (m) => m.received <= (past.get(m.to) ?? -1) || (!m.lost && m.sent >= (future.get(m.from) ?? Infinity)),
  };
}

// steps merges the moments of a run with those of the run beside it: a moment of both is one step.
function stepsOf(run, twin) {
  const key = (m) => `${m.at} ${m.lane} ${m.who}`;
  const others = new Map();
  for (const m of twin?.moments || []) others.has(key(m)) ? others.get(key(m)).push(m) : others.set(key(m), [m]);
  const steps = run.moments.map((m) => ({ at: m.at, own: m, other: others.get(key(m))?.shift() }));
  for (const rest of others.values()) for (const m of rest) steps.push({ at: m.at, other: m });
  return steps.sort((a, b) => a.at - b.at);
}

// stateOf returns the state of a lane at a moment; key omits what changes with time alone.
function stateOf(lane, at) {
  const on = lane.bars.filter((b) => b.from <= at && (at < b.to || b.from === b.to));
  const has = (sign) => on.find((b) => b.sign === sign);
  const last = (ok) => lane.marks.findLast((m) => m.at <= at && ok(m));
  const say = (text, key = text) => ({ text, key });
  switch (lane.kind) {
    case "belief": {
      const words = [];
      const belief = has("believes");
      if (belief) {
        const token = last((m) => m.sign === "begins" && m.at >= belief.from)?.label;
        words.push(`believes${token ? `, token ${token}` : ""}`);
      } else if (has("waits")) words.push("waits");
      if (has("paused")) words.push("paused");
      if (has("down")) words.push("down");
      return say(words.join(", ") || "idle");
    }
    case "truth":
      return say(has("granted") ? "granted" : has("lapsed") ? "no longer granted" : "not granted");
    case "overlap":
      return say(on.length ? "more than one believes" : "no");
    case "fate":
      return say(on.length ? "violated in all futures played" : "no");
    case "network":
      return say(on.map((b) => b.label || "cut").join("; ") || "whole");
    case "node": {
      const kept = on
        .filter((b) => b.sign === "life")
        .map((b) => {
          const owner = lane.marks.findLast((m) => m.at <= b.from && m.label && !m.sign)?.label || "a key";
          const since = (b.lives || [b.from]).findLast((t) => t <= at) ?? b.from;
          return {
            key: `${owner} ${since}`,
            text: b.life ? `${owner}, ${precise(Math.max(b.life - (at - since), 0))} left` : `${owner}, for good`,
          };
        });
      const words = on.filter((b) => b.sign === "down" || b.sign === "paused").map((b) => b.label || b.sign);
      return say(
        [...kept.map((k) => k.text), ...words].join("; ") || "nothing",
        [...kept.map((k) => k.key), ...words].join("; "),
      );
    }
    case "level": {
      const level = lane.levels.findLast((l) => l.at <= at);
      return say(level?.text || "–");
    }
    case "storage": {
      const mark = last((m) => m.label);
      return say(
        [
          mark ? `${mark.label} ${mark.sign || ""}`.trim() : "untouched",
          ...on.map((b) => b.label || "one on its way"),
        ].join("; "),
      );
    }
  }
  return say(
    lane.marks
      .filter((m) => m.at <= at)
      .map((m) => m.label)
      .join(", ") || "none",
  );
}

let schedules = prepared(JSON.parse($("data").textContent));
