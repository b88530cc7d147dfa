// faint lists the texts of a page whose colour is too near to what they stand on: below 4.5 to 1, or 3 to 1 if they are
// large (WCAG 2.1, 1.4.3). A text in a picture stands on its halo; controls that are off need no contrast.
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let n = node; n; n = n.parentElement) {
      const c = rgba(getComputedStyle(n).backgroundColor);
      if (c[3] > 0) return c[3] < 1 ? over(c, ground(n.parentElement)) : c;
    }
    return rgba(getComputedStyle(document.documentElement).colorScheme === "dark" ? "#000" : "#fff");
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    if (
      ![...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) ||
      node.closest("script, style, :disabled, .off, option, title")
    )
      continue;
    if (!node.checkVisibility()) continue;
    const style = getComputedStyle(node),
      picture = node.namespaceURI.endsWith("svg");
    let under = ground(node);
    if (picture) {
      const rect = node.previousElementSibling;
      if (rect && rect.tagName === "rect") under = over(rgba(getComputedStyle(rect).fill), under);
    }
    const letters = over(rgba(picture ? style.fill : style.color), under);
    const [a, b] = [light(letters), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize),
      large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5))
      found.push(
        ratio.toFixed(2) +
          " " +
          node.tagName +
          "." +
          (node.getAttribute("class") || node.id) +
          ": " +
          node.textContent.slice(0, 40),
      );
  }
  return [...new Set(found)];
})();
