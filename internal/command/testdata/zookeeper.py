import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python"))
from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
import locksim
class Lock:
    def __init__(self, c):
        self.zk = KazooClient(hosts=",".join(c["servers"]), timeout=c["ttl_ms"] / 1000)
        self.zk.start()
        self.lock = self.zk.Lock("/locks/" + c["key"], c["client"])
    def acquire(self, wait):
        try:
            if not self.lock.acquire(blocking=wait != 0, timeout=wait): raise locksim.Refused("held")
        except LockTimeout as why: raise locksim.Refused(str(why))
        return {"value": self.lock.node, "token": self.zk.exists(self.lock.path + "/" + self.lock.node).czxid}
    def release(self):
        if not self.lock.release(): raise locksim.Refused("not held")
locksim.run(Lock)
