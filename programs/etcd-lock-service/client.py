# etcd's own service for locks, over the gateway's JSON: the server keeps the queue, and the client its lease.
# locksim:lock servers=etcd renews
import base64, json, threading, urllib.error, urllib.request, locksim

class Client:
    def __init__(self, config):
        self.url = "http://" + config["servers"][0] + "/v3/"
        self.name, self.ttl = base64.b64encode(config["key"].encode()).decode(), max(config["ttl_ms"] // 1000, 2)

    def ask(self, call, timeout=5, **fields):
        request = urllib.request.Request(self.url + call, json.dumps(fields).encode())
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise Exception(json.load(refused)["error"])

    def acquire(self, wait):
        self.lease = self.ask("lease/grant", TTL=self.ttl)["ID"]
        self.over = threading.Event()
        threading.Thread(target=self.keep, args=(self.lease, self.over), daemon=True).start()
        try:
            self.key = self.ask("lock/lock", 1e6 if wait is None else max(wait, 1), name=self.name, lease=self.lease)["key"]
        except Exception as why:  # the server notices that nobody waits any more
            self.over.set()
            self.ask("lease/revoke", ID=self.lease)
            if isinstance(why, TimeoutError):
                raise locksim.Refused("somebody else holds it")
            raise
        return {}

    def keep(self, lease, over):
        while not over.wait(self.ttl / 3):
            try:
                if "TTL" not in self.ask("lease/keepalive", ID=lease)["result"]:
                    return
            except Exception:
                pass  # it is asked again

    def release(self):
        self.over.set()
        self.ask("lock/unlock", key=self.key)
        self.ask("lease/revoke", ID=self.lease)

locksim.run(Client)
