"use strict";
{
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // What is chosen in the form is what tables show: rows by lock, servers and property, columns by condition, and whole
  // tables by fencing mode.
  const form = $("#filter");
  const matrices = all("table[data-filter]");
  const faultsOf = new Map(matrices.map((table) => [table, all("thead th", table).map((th) => th.textContent)]));

  function matches(row, chosen) {
    const { lock, servers, property } = row.dataset;
    return lock.toLowerCase().includes(chosen.lock) && (!chosen.servers || servers === chosen.servers) &&
      (!chosen.property || !property || property === chosen.property);
  }

  function filter() {
    const chosen = Object.fromEntries(new FormData(form));
    chosen.lock = chosen.lock.trim().toLowerCase();
    for (const table of matrices) {
      const faults = faultsOf.get(table);
      for (const row of table.rows) {
        [...row.cells].forEach((cell, i) => {
          cell.hidden = i > 0 && chosen.faults !== "" && faults[i] !== chosen.faults;
        });
      }
    }
    for (const row of all("tr[data-lock]")) {
      row.hidden = !matches(row, chosen) || chosen.broken === "on" && !broken(row);
    }
    for (const one of all("details.lock, figure[data-lock]")) one.hidden = !matches(one, chosen);
    for (const table of matrices) table.parentElement.hidden = all("tbody tr", table).every((row) => row.hidden);
    for (const mode of all(".mode")) mode.hidden = chosen.fencing !== "" && mode.dataset.fencing !== chosen.fencing;
    const rows = all("#overview tr[data-lock]");
    form.elements.shown.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} locks`;
    rove();
  }

  const broken = (row) => row.closest(".costs") ||
    [...row.cells].some((cell) => !cell.hidden && /\b(red|amber)-/.test(cell.className));

  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());

  // One cell of a matrix is in the order of the Tab key; arrow keys go on from there.
  const link = (cell) => cell && $("a", cell);
  const seen = (element) => !element.hidden && !element.closest("[hidden]");

  function rove() {
    for (const table of matrices) {
      const links = all("td a", table);
      links.forEach((a) => { a.tabIndex = -1; });
      const first = links.find((a) => seen(a.closest("td")));
      if (first) first.tabIndex = 0;
    }
  }

  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  function next(from, [down, right]) {
    let cell = from.closest("td"), row = cell.parentElement;
    const column = cell.cellIndex;
    for (;;) {
      if (right) cell = right > 0 ? cell.nextElementSibling : cell.previousElementSibling;
      if (down) {
        row = down > 0 ? row.nextElementSibling : row.previousElementSibling;
        cell = row && row.cells[column];
      }
      if (!cell || cell.tagName === "TH") return null;
      if (seen(cell) && link(cell)) return link(cell);
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) return close();
    const a = event.target.closest?.("table[data-filter] td a");
    if (!a || !steps[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const to = next(a, steps[event.key]);
    if (!to) return;
    a.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
    to.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (!panel.hidden) show(to);
  });

  // What is known of a cell stands in a row of its lock's table; the panel shows that row beside the matrix.
  const panel = $("#panel");
  let chosen = null;

  const made = (name, text, className = "") =>
    Object.assign(document.createElement(name), { textContent: text, className });

  function show(a) {
    const row = document.getElementById(a.hash.slice(1));
    if (!row) return;
    chosen?.classList.remove("chosen");
    chosen = a;
    a.classList.add("chosen");
    const button = made("button", "Close", "close");
    button.type = "button";
    button.addEventListener("click", close);
    const lock = row.closest("details").dataset.lock;
    const parts = [];
    if (row.tagName === "TR") {
      const [faults, fencing, property, outcome, statement, seenBy] = row.cells;
      parts.push(
        made("h2", `${lock} · ${faults.textContent}`),
        made("p", `${property.textContent}, fencing ${fencing.textContent}`, "dim"),
        made("p", outcome.textContent, `outcome ${outcome.className}`), made("p", statement.textContent),
      );
      const to = link(seenBy);
      const example = to && document.getElementById(to.hash.slice(1));
      const command = $("code", seenBy);
      if (command) parts.push(made("p", "See it:", "dim"), command.cloneNode(true));
      if (example) {
        const copy = example.cloneNode(true);
        copy.removeAttribute("id");
        parts.push(copy);
      }
    } else {
      parts.push(made("h2", lock), made("p", row.textContent));
    }
    const inList = made("a", "in the list of all cells");
    inList.href = a.hash;
    parts.push(inList);
    panel.replaceChildren(button, ...parts);
    panel.hidden = false;
  }

  function close() {
    panel.hidden = true;
    chosen?.classList.remove("chosen");
    chosen?.focus();
    chosen = null;
  }

  document.addEventListener("click", (event) => {
    const a = event.target.closest?.("table[data-filter] td a, .overview td a");
    if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(a);
  });

  // A link into a lock's list opens the list; filters are not to hide what somebody was sent to.
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    const list = target?.closest("details");
    if (!list) return;
    list.open = true;
    list.hidden = false;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);

  form.hidden = false;
  all(".js").forEach((element) => { element.hidden = false; });
  filter();
  reveal();
}
