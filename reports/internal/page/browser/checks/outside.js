// outside lists what sticks out of the window or of what it stands in, and texts of the picture that lie on each other.
(() => {
  const found = [],
    wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide)
    found.push("the page scrolls sideways: " + document.documentElement.scrollWidth);
  for (const n of document.querySelectorAll("#app *, header *, footer *")) {
    if (!n.checkVisibility() || n.closest("[clip-path], .wide, code, #lane-boxes, clipPath, defs")) continue;
    const r = n.getBoundingClientRect();
    if (r.width && (r.right > wide + 1 || r.left < -1))
      found.push(
        n.tagName + "." + (n.getAttribute("class") || n.id) + " " + Math.round(r.left) + " to " + Math.round(r.right),
      );
  }
  for (const chart of document.querySelectorAll(".timeline")) {
    const texts = [...chart.querySelectorAll(".front text, .names text")]
      .filter((n) => n.checkVisibility())
      .map((n) => [n.textContent, n.getBoundingClientRect()]);
    texts.forEach(([a, r], i) =>
      texts.slice(i + 1).forEach(([b, q]) => {
        if (
          Math.min(r.right, q.right) - Math.max(r.left, q.left) > 2 &&
          Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 6
        )
          found.push(a + " lies on " + b);
      }),
    );
  }
  return found;
})();
