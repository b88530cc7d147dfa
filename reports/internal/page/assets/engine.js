// The engine, in workers of its own: what runs too long, or panics, is ended there and started again.

class Engine {
  // What a first worker has loaded, its script and the compiled engine, others get from it: after that nothing is loaded any more, also
  // if one is ended and started again where there is no network.
  constructor(limit, first = null) {
    this.limit = limit; // of an answer, in milliseconds
    this.next = 0;
    this.asked = new Map();
    this.script = "worker.js";
    this.compiled = null;
    this.others = [];
    if (first) first.others.push(this);
    else this.start();
  }

  start() {
    this.ready = this.warm = false;
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }) => this.hears(data);
    this.worker.onerror = (e) => this.restart(e.message || "the engine failed");
    this.worker.postMessage({ compiled: this.compiled });
    for (const x of this.asked.values()) this.worker.postMessage(x.message);
  }

  hears({ id, answer, failed, runs, ready, dead, compiled, script }) {
    if (ready) {
      this.ready = true;
      this.compiled = compiled;
      if (script) this.script = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      for (const x of this.asked.values()) this.watch(x);
      if (!this.busy) this.startOthers();
      return;
    }
    if (dead) return this.restart(dead);
    const x = this.asked.get(id);
    if (!x) return;
    if (runs) return x.progress?.(runs);
    clearTimeout(x.timer);
    this.asked.delete(id);
    if (failed) x.fail(new Error(failed));
    else x.tell(JSON.parse(answer));
    this.warm = true;
    this.startOthers();
  }

  // startOthers has the others begin when this one has answered: they would only delay it.
  startOthers() {
    for (const other of this.others.splice(0)) {
      other.compiled = this.compiled;
      other.script = this.script;
      other.start();
    }
  }

  // watch ends what takes too long. The first answer may take five times as long: its code is compiled meanwhile.
  watch(x) {
    x.timer = setTimeout(() => this.restart("it took too long, and was stopped"), this.warm ? x.limit : 5 * x.limit);
  }

  // restart ends the worker. What was asked fails with the reason. One that is not ready yet has played nothing: it goes on loading.
  restart(why) {
    if (this.ready) this.worker.terminate();
    const all = [...this.asked.values()];
    this.asked.clear();
    for (const x of all) {
      clearTimeout(x.timer);
      x.fail(new Error(why));
    }
    if (this.ready) this.start(); // what never became ready would fail again
  }

  ask(request, limit = this.limit, progress = null) {
    return new Promise((tell, fail) => {
      const id = this.next++;
      const x = { tell, fail, limit, progress, message: { id, request: JSON.stringify(request) } };
      this.asked.set(id, x);
      if (this.ready) this.watch(x);
      this.worker?.postMessage(x.message);
    });
  }

  get busy() {
    return this.asked.size > 0;
  }
}
