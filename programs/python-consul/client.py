# A lock by hand with python-consul: a session with a TTL, which is not renewed here, acquires a key.
# locksim:lock servers=consul
import time, consul, locksim

class Client:
    def __init__(self, config):
        host, port = config["servers"][0].split(":")
        self.key, self.name, self.retry = config["key"], config["client"], config.get("retry_ms", 100) / 1000
        self.ttl, self.delay = config["ttl_ms"] // 1000, config.get("lock_delay_ms", 15000) // 1000
        self.consul = consul.Consul(host=host, port=int(port))

    def acquire(self, wait):
        self.session = self.consul.session.create(ttl=self.ttl, lock_delay=self.delay)
        end = None if wait is None else time.monotonic() + wait
        while not self.consul.kv.put(self.key, self.name, acquire=self.session):
            if end is not None and time.monotonic() >= end:
                raise locksim.Refused("somebody else holds it")
            time.sleep(self.retry)
            self.consul.session.renew(self.session)
        return {}

    def release(self):
        if not self.consul.kv.put(self.key, "", release=self.session):
            raise locksim.Refused("it was not ours any more")

locksim.run(Client)
