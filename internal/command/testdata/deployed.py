import os, sys, time, uuid
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python"))
import redis, locksim
from redis.sentinel import Sentinel
class Lock: # redis-py's lock where Sentinels or the nodes of a cluster say which server has it
    def __init__(self, c):
        at = [(h, int(p)) for h, p in (s.split(":") for s in c["servers"])]
        limit = c.get("timeout_ms", 0) / 1000 or None
        if "sentinel" in c:
            self.redis = Sentinel(at, socket_timeout=limit).master_for(c["sentinel"], socket_timeout=limit)
        else:
            nodes = [redis.cluster.ClusterNode(*a) for a in at]
            self.redis = redis.cluster.RedisCluster(startup_nodes=nodes, socket_timeout=limit)
        self.c = c
    def acquire(self, wait):
        retry = self.c.get("retry_ms", 100) / 1000
        self.lock = self.redis.lock(self.c["key"], timeout=self.c["ttl_ms"] / 1000, sleep=retry)
        self.value = uuid.uuid4().hex
        while True:
            try:
                if self.lock.acquire(blocking=wait != 0, blocking_timeout=wait or None, token=self.value): break
                raise locksim.Refused("held")
            except (redis.ConnectionError, redis.TimeoutError): # a new master is awaited
                if wait is not None: raise
                time.sleep(retry)
        return {"value": self.value, "ttl_ms": self.c["ttl_ms"]}
    def release(self):
        self.lock.release()
locksim.run(Lock)
