// Presenting: one sentence of the explanation at a time, in letters that the last row can read, each with the moments that it
// speaks of. Keys are those of a clicker.

const talk = { at: -1, list: [] };

// sentences are those of a run's explanation, after what came of it.
const sentences = (run) =>
  [run.headline, ...(run.proof.length ? run.proof : run.why)].flatMap((text) => text.split(/(?<=\S\.)\s+(?=\S)/));

const numbersIn = (text) => [...text.matchAll(/[①-⑳]/g)].map(([n]) => n.codePointAt(0) - 0x245f);

function present(at) {
  if (talk.at < 0) talk.list = sentences(page.run); // they stay while they are told, whatever further runs show
  talk.at = at >= 0 && at < talk.list.length ? at : -1;
  document.body.classList.toggle("presenting", talk.at >= 0);
  $("talk").hidden = talk.at < 0;
  const text = talk.list[talk.at] ?? "";
  const numbers = numbersIn(text);
  $("talk-text").replaceChildren(...linked(text, (n) => page.goNumber(n)));
  $("talk-back").disabled = talk.at < 1;
  $("talk-next").disabled = talk.at === talk.list.length - 1;
  $("talk-at").textContent = talk.at < 0 ? "" : `${talk.at + 1} of ${talk.list.length}`;
  page.lit = new Set(numbers);
  if (numbers.length) page.goNumber(numbers[0]);
  page.change({ width: chartWidth() });
  if (talk.at >= 0) $("talk").scrollIntoView({ block: "end" });
}

// chartWidth is how wide charts are drawn, within their borders: less than they are shown where they are presented, so that they are
// large, as far as there is room above the sentence.
function chartWidth() {
  const room = $("charts").clientWidth - 2;
  if (talk.at < 0) return room;
  const high = 0.72 * innerHeight - ($("charts").getBoundingClientRect().top + scrollY);
  return room / clamp(high / charts[0].height, 1, 2);
}

const clicks = {
  ArrowRight: 1,
  PageDown: 1,
  " ": 1,
  ArrowLeft: -1,
  PageUp: -1,
};

// clicked reports whether a key was for the presentation.
function clicked(e) {
  if (talk.at < 0) return false;
  const end = e.key === "Escape" || (talk.at === 0 && clicks[e.key] < 0);
  if (!clicks[e.key] && !end) return false;
  e.preventDefault();
  present(end ? -1 : Math.min(talk.at + clicks[e.key], talk.list.length - 1));
  return true;
}
