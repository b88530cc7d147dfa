# A lock by hand with pymemcache: add acquires, and a compare-and-swap to an end in the past releases.
# locksim:lock servers=memcached
import time, uuid, locksim
from pymemcache.client.base import Client as Memcached

class Client:
    def __init__(self, config):
        host, port = config["servers"][0].split(":")
        self.key, self.ttl, self.retry = config["key"], int(config["ttl_ms"] / 1000), config.get("retry_ms", 100) / 1000
        self.memcached = Memcached((host, int(port)))

    def acquire(self, wait):
        self.value = uuid.uuid4().hex.encode()
        end = None if wait is None else time.monotonic() + wait
        while not self.memcached.add(self.key, self.value, expire=self.ttl, noreply=False):
            if end is not None and time.monotonic() >= end:
                raise locksim.Refused("somebody else holds it")
            time.sleep(self.retry)
        return {"value": self.value.decode()}

    def release(self):
        value, cas = self.memcached.gets(self.key)
        if value != self.value or not self.memcached.cas(self.key, b"", cas, expire=-1):
            raise locksim.Refused("it was not ours any more")

locksim.run(Client)
