// The text of the scenario: words are completed as it is written, and mistakes are marked at their places.

const words = { list: [], at: -1, from: 0, asked: 0 };

// placeIn is the line and the column of a place in a text, both from 0.
function placeIn(text, at) {
  const lines = text.slice(0, at).split("\n");
  return [lines.length - 1, lines.at(-1).length];
}

// Lines are not wrapped and letters are of one width, so that places follow from lines and columns.
const placed = (line, column) => `left: calc(${column}ch + .65rem); top: calc(${line} * 1.45em + .55rem)`;

// complete offers what can be written at the cursor; if it was not asked for, only to complete a word that has been begun.
async function complete(wanted) {
  const field = $("text");
  const asked = ++words.asked;
  const before = field.value.slice(0, field.selectionStart);
  if (!wanted && !/[a-z][\w-]*$/i.test(before)) return offerWords([]);
  const { word = "", words: list = [] } = await live.ask({ do: "complete", text: field.value, before });
  if (asked !== words.asked || document.activeElement !== field) return;
  words.from = before.length - word.length;
  offerWords(list.length === 1 && list[0].text === word ? [] : list);
}

function offerWords(list) {
  words.list = list;
  words.at = -1;
  const field = $("text");
  $("words").hidden = !list.length;
  $("words-say").textContent = list.length ? `${list.length} ${list.length > 1 ? "words" : "word"} to choose with the arrow keys` : "";
  $("words").replaceChildren(
    ...list.map(({ text, about }, i) =>
      el(
        "li",
        { role: "option", id: `word-${i}`, "aria-selected": "false", onpointerdown: (e) => (e.preventDefault(), writeWord(i)) },
        el("b", {}, text),
        about && el("small", {}, about),
      ),
    ),
  );
  field.removeAttribute("aria-activedescendant");
  if (!list.length) return;
  const [line, column] = placeIn(field.value, words.from);
  $("words").setAttribute("style", `left: clamp(0px, ${column}ch - ${field.scrollLeft}px, max(100% - 30rem, 0px)); top: calc(${line + 1} * 1.45em + .55rem - ${field.scrollTop}px)`);
}

function chooseWord(i) {
  words.at = (i + words.list.length) % words.list.length;
  [...$("words").children].forEach((li, k) => li.setAttribute("aria-selected", String(k === words.at)));
  $("words").children[words.at].scrollIntoView({ block: "nearest" });
  $("text").setAttribute("aria-activedescendant", `word-${words.at}`);
}

function writeWord(i) {
  const field = $("text");
  field.setRangeText(words.list[i].text, words.from, field.selectionStart, "end");
  offerWords([]);
  field.dispatchEvent(new Event("input"));
}

function typedInText(e) {
  if (e.key === " " && e.ctrlKey) complete(true);
  else if (!words.list.length) return;
  else if (e.key === "ArrowDown") chooseWord(words.at + 1);
  else if (e.key === "ArrowUp") chooseWord(words.at < 0 ? -1 : words.at - 1);
  else if (e.key === "Escape") offerWords([]);
  else if (words.at >= 0 && (e.key === "Enter" || e.key === "Tab")) writeWord(words.at);
  else return;
  e.preventDefault();
  e.stopPropagation();
}

// markProblems underlines what is wrong, to the end of its word.
function markProblems(list) {
  const lines = $("text").value.split("\n");
  const long = (p) => /^[\w.-]+/.exec((lines[p.line - 1] ?? "").slice(p.column - 1))?.[0].length ?? 1;
  $("marks").replaceChildren(
    ...list
      .filter((p) => p.line)
      .map((p) => el("span", { style: `${placed(p.line - 1, p.column - 1)}; width: ${long(p)}ch` })),
  );
  scrollMarks();
}

function scrollMarks() {
  $("marks").style.translate = `${-$("text").scrollLeft}px ${-$("text").scrollTop}px`;
}

function startText() {
  const field = $("text");
  field.addEventListener("input", (e) => e.isTrusted && complete(false));
  field.addEventListener("keydown", typedInText);
  field.addEventListener("blur", () => offerWords([]));
  field.addEventListener("scroll", () => (scrollMarks(), words.list.length && offerWords([])));
}
