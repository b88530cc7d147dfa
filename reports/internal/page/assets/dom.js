// All elements are created here. Text only ever becomes a text node, so that nothing in a schedule can be
// markup.

const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((c) => c != null && c !== false));
  return node;
}

const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// renew gives an element other children, which nothing listens to. Those that look as before stay, and are neither laid out nor painted
// again.
function renew(parent, nodes) {
  const old = [...parent.childNodes];
  nodes.forEach((node, i) => {
    if (!old[i]) parent.append(node);
    else if (!old[i].isEqualNode(node)) old[i].replaceWith(node);
  });
  for (const node of old.slice(nodes.length)) node.remove();
}

// marked returns a text in which the search term is highlighted.
function marked(text, query) {
  const parts = [];
  const low = text.toLowerCase();
  let from = 0;
  for (let at; query && (at = low.indexOf(query, from)) >= 0; from = at + query.length) {
    parts.push(text.slice(from, at), el("mark", {}, text.slice(at, at + query.length)));
  }
  return [...parts, text.slice(from)];
}

// precise prints nanoseconds to four digits after the point at most, as the text report does.
function precise(ns) {
  if (ns === 0) return "0";
  if (ns >= 1e3) ns = ns >= 1e9 ? Math.round(ns / 1e5) * 1e5 : Math.round(ns / 1e3) * 1e3;
  if (ns >= 3600e9) return hours(ns);
  const [size, unit, digits] =
    ns >= 1e9 ? [1e9, "s", 4] : ns >= 1e6 ? [1e6, "ms", 3] : ns >= 1e3 ? [1e3, "µs", 0] : [1, "ns", 0];
  return Number((ns / size).toFixed(digits)) + unit;
}

// hours prints an hour and more as the text report does: "2h", "999h0m10.5s".
function hours(ns) {
  const minutes = Math.floor((ns % 3600e9) / 60e9);
  const seconds = ns % 60e9;
  return (
    Math.floor(ns / 3600e9) + "h" + (minutes || seconds ? minutes + "m" : "") + (seconds ? precise(seconds) : "")
  );
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// below returns how many entries of a sorted list lie before x.
function below(list, x, key = (v) => v) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (key(list[mid]) < x) low = mid + 1;
    else high = mid;
  }
  return low;
}
