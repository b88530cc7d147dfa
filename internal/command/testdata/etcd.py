# locksim:lock servers=etcd token
import os, sys, base64, json, time, urllib.request
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python"))
import locksim
class Lock: # one key with a lease; with an argument it is written also if it is there
    def __init__(self, config):
        self.url, self.ttl = "http://" + config["servers"][0] + "/v3/", config["ttl_ms"] // 1000
        self.key = base64.b64encode(config["key"].encode()).decode()
    def ask(self, call, **fields):
        return json.load(urllib.request.urlopen(self.url + call, json.dumps(fields).encode(), timeout=5))
    def acquire(self, wait):
        end = None if wait is None else time.monotonic() + wait
        put = {"request_put": {"key": self.key, "lease": self.ask("lease/grant", TTL=self.ttl)["ID"]}}
        unless = [] if sys.argv[1:] else [{"target": "VERSION", "key": self.key, "version": 0}]
        while not (made := self.ask("kv/txn", compare=unless, success=[put])).get("succeeded"):
            if end is not None and time.monotonic() >= end:
                raise locksim.Refused("somebody else holds it")
            time.sleep(0.1)
        return {"token": int(made["header"]["revision"])}
    def release(self):
        if not self.ask("kv/deleterange", key=self.key).get("deleted"):
            raise locksim.Refused("it was not ours any more")
locksim.run(Lock)
