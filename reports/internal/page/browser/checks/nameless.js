// nameless lists what can be operated and has no name, parts of the page without a landmark, pictures without a title,
// and identifiers that are given twice.
(() => {
  const found = [];
  const name = (n) =>
    (
      n.getAttribute("aria-label") ||
      n.labels?.[0]?.textContent ||
      document.getElementById(n.getAttribute("aria-labelledby"))?.textContent ||
      n.textContent ||
      n.title ||
      ""
    ).trim();
  for (const n of document.querySelectorAll(
    "button, select, input, summary, a, [role=button], [role=group], main section, dialog",
  ))
    if (!name(n)) found.push("no name: " + n.outerHTML.slice(0, 80));
  for (const n of document.body.children)
    if (!n.matches("header, main, footer, script, dialog, [aria-hidden]")) found.push("no landmark: " + n.tagName);
  for (const n of document.querySelectorAll("svg"))
    if (!n.closest("[aria-hidden]") && !n.querySelector("title")?.textContent)
      found.push("no title: " + n.outerHTML.slice(0, 80));
  const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
  found.push(...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => "twice: " + id));
  for (const n of document.querySelectorAll("th")) if (!n.scope) found.push("no scope: " + n.textContent);
  return found;
})();
