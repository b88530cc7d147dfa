# The mutex of etcd's Go library by hand, over the gateway's JSON: each waiter's key has a lease, and the key made first holds.
# locksim:lock servers=etcd token renews
import base64, json, threading, time, urllib.error, urllib.request, locksim

def b64(text):
    return base64.b64encode(text.encode()).decode()

class Client:
    def __init__(self, config):
        self.url = "http://" + config["servers"][0] + "/v3/"
        self.name, self.ttl = config["key"], max(config["ttl_ms"] // 1000, 2)
        self.timeout = config.get("timeout_ms", 5000) / 1000

    def post(self, call, timeout=None, **fields):
        request = urllib.request.Request(self.url + call, json.dumps(fields).encode())
        try:
            return urllib.request.urlopen(request, timeout=timeout or self.timeout)
        except urllib.error.HTTPError as refused:
            raise Exception(json.load(refused)["error"])

    def ask(self, call, **fields):
        with self.post(call, **fields) as answer:
            return json.load(answer)

    def acquire(self, wait):
        end = None if wait is None else time.monotonic() + wait
        lease = self.ask("lease/grant", TTL=self.ttl)["ID"]
        self.over = threading.Event()
        threading.Thread(target=self.keep, args=(lease, self.over), daemon=True).start()
        self.lease, self.key = lease, f"{self.name}/{int(lease):x}"
        try:
            return self.take(lease, end)
        except Exception:
            self.over.set()  # what the server may have made ends with the lease
            raise

    def take(self, lease, end):
        made = self.ask("kv/txn", compare=[{"target": "CREATE", "key": b64(self.key), "create_revision": 0}],
                        success=[{"request_put": {"key": b64(self.key), "lease": lease}}])["header"]["revision"]
        while before := self.before(made):
            if end is not None and time.monotonic() >= end:
                self.release()
                raise locksim.Refused("somebody else holds it")
            self.until_deleted(before, end)
        if "kvs" not in self.ask("kv/range", key=b64(self.key)):  # its lease may have ended while it waited
            raise locksim.Refused("the lease has ended")
        return {"token": int(made)}

    def before(self, made):
        found = self.ask("kv/range", key=b64(self.name + "/"), range_end=b64(self.name + "0"), limit=1,
                         max_create_revision=int(made) - 1, sort_target="CREATE", sort_order="DESCEND")
        self.revision = int(found["header"]["revision"])
        return found["kvs"][0]["key"] if "kvs" in found else None

    def until_deleted(self, key, end):
        patience = None if end is None else max(end - time.monotonic(), 0.001)
        try:
            with self.post("watch", patience or 3600, create_request={"key": key, "start_revision": self.revision + 1}) as answers:
                for line in answers:
                    if any(e.get("type") == "DELETE" for e in json.loads(line)["result"].get("events", [])):
                        return
        except TimeoutError:
            pass

    def keep(self, lease, over):
        while not over.wait(self.ttl / 3):
            try:
                if "TTL" not in self.ask("lease/keepalive", ID=lease)["result"]:
                    return
            except Exception:
                pass  # it is asked again

    def release(self):
        self.over.set()
        deleted = self.ask("kv/deleterange", key=b64(self.key)).get("deleted")
        self.ask("lease/revoke", ID=self.lease)
        if not deleted:
            raise locksim.Refused("it was not ours any more")

locksim.run(Client)
