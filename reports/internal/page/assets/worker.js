"use strict";
// The engine in a worker. The first message has the compiled engine, if another worker has compiled it already; every other one is a
// request with a number, as is its answer, before which it may say how many runs were played so far.
if (!self.Go) importScripts("wasm_exec.js"); // it may stand before this script
const waiting = [];
let engine = null;
let compiled = null;
let script = null; // all that runs here, if it was loaded
let asked = 0; // the number of the request that is being answered
let told = null; // when its progress was told
self.progress = (runs) => {
  if (told != null && performance.now() - told < 500) return;
  told = performance.now();
  postMessage({ id: asked, runs });
};
const answer = ({ id, request }) => {
  asked = id;
  told = null;
  try {
    postMessage({ id, answer: engine(request) });
  } catch (err) {
    postMessage({ id, failed: String(err) });
  }
};
self.ready = () => {
  engine = self.locksim;
  postMessage({ ready: true, compiled, script });
  waiting.splice(0).forEach(answer);
};
onmessage = ({ data }) => ("compiled" in data ? start(data.compiled) : engine ? answer(data) : waiting.push(data));

async function start(given) {
  const go = new Go();
  try {
    compiled = given ?? (await load());
    await go.run(await WebAssembly.instantiate(compiled, go.importObject));
    postMessage({ dead: "the engine has ended" });
  } catch (err) {
    postMessage({ dead: String(err) });
  }
}

async function load() {
  script = (await Promise.all(["wasm_exec.js", "worker.js"].map(async (name) => (await fetch(name)).text()))).join("\n");
  const response = await fetch("locksim.wasm");
  if (!response.ok) throw new Error(`locksim.wasm: ${response.status}`);
  return WebAssembly.compileStreaming(new Response(response.body, { headers: { "Content-Type": "application/wasm" } }));
}
