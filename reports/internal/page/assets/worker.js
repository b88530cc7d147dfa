"use strict";
// The engine in a worker: a message is a request with a number, as is its answer.
importScripts("wasm_exec.js");
const waiting = [];
let engine = null;
const answer = ({ id, request }) => {
  try {
    postMessage({ id, answer: engine(request) });
  } catch (err) {
    postMessage({ id, failed: String(err) });
  }
};
self.ready = () => {
  engine = self.locksim;
  postMessage({ ready: true });
  waiting.splice(0).forEach(answer);
};
onmessage = (e) => (engine ? answer(e.data) : waiting.push(e.data));
(async () => {
  const go = new Go();
  try {
    const response = await fetch("locksim.wasm");
    if (!response.ok) throw new Error(`locksim.wasm: ${response.status}`);
    const source = new Response(response.body, { headers: { "Content-Type": "application/wasm" } });
    const { instance } = await WebAssembly.instantiateStreaming(source, go.importObject);
    await go.run(instance);
    postMessage({ dead: "the engine has ended" });
  } catch (err) {
    postMessage({ dead: String(err) });
  }
})();
