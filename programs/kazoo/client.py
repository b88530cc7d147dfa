# kazoo's Lock.
#
# locksim:lock servers=zookeeper key=/locks/{key} token
import locksim
from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

class Client:
    def __init__(self, config):
        self.zk = KazooClient(hosts=",".join(config["servers"]), timeout=config["ttl_ms"] / 1000)
        self.zk.start()
        self.lock = self.zk.Lock("/locks/" + config["key"], config["client"])

    def acquire(self, wait):
        try:
            if not self.lock.acquire(blocking=wait != 0, timeout=wait):
                raise locksim.Refused("somebody else holds it")
        except LockTimeout as why:
            raise locksim.Refused(str(why))
        return {"value": self.lock.node, "token": self.zk.exists(self.lock.path + "/" + self.lock.node).czxid}

    def release(self):
        if not self.lock.release():
            raise locksim.Refused("it was not ours any more")

locksim.run(Client)
