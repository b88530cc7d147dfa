// The engine, in workers of its own: what runs too long, or panics, is ended there and started again.

class Engine {
  constructor(limit) {
    this.limit = limit; // of an answer, in milliseconds
    this.next = 0;
    this.asked = new Map();
    this.start();
  }

  start() {
    this.ready = this.warm = false;
    this.worker = new Worker("worker.js");
    this.worker.onmessage = ({ data }) => this.hears(data);
    this.worker.onerror = (e) => this.restart(e.message || "the engine failed");
  }

  hears({ id, answer, failed, ready, dead }) {
    if (ready) {
      this.ready = true;
      for (const x of this.asked.values()) this.watch(x);
      return;
    }
    if (dead) return this.restart(dead);
    const x = this.asked.get(id);
    if (!x) return;
    clearTimeout(x.timer);
    this.asked.delete(id);
    if (failed) x.fail(new Error(failed));
    else x.tell(JSON.parse(answer));
    this.warm = true;
  }

  // watch ends what takes too long. The first answer may take five times as long: its code is compiled meanwhile.
  watch(x) {
    x.timer = setTimeout(() => this.restart("it took too long, and was stopped"), this.warm ? x.limit : 5 * x.limit);
  }

  // restart ends the worker. What was asked fails with the reason.
  restart(why) {
    this.worker.terminate();
    const all = [...this.asked.values()];
    this.asked.clear();
    for (const x of all) {
      clearTimeout(x.timer);
      x.fail(new Error(why));
    }
    if (this.ready) this.start(); // what never became ready would fail again
  }

  ask(request, limit = this.limit) {
    return new Promise((tell, fail) => {
      const x = { tell, fail, limit };
      const id = this.next++;
      this.asked.set(id, x);
      if (this.ready) this.watch(x);
      this.worker.postMessage({ id, request: JSON.stringify(request) });
    });
  }

  get busy() {
    return this.asked.size > 0;
  }
}
