# redis-py's Lock.
import redis, locksim
from redis.exceptions import LockNotOwnedError

class Client:
    def __init__(self, config):
        host, port = config["servers"][0].split(":")
        self.lock = redis.Redis(host=host, port=int(port)).lock(
            config["key"], timeout=config["ttl_ms"] / 1000, sleep=config.get("retry_ms", 100) / 1000)

    def acquire(self, wait):
        if not self.lock.acquire(blocking=wait != 0, blocking_timeout=wait or None):
            raise locksim.Refused("somebody else holds it")
        return {"value": self.lock.local.token.decode()}

    def release(self):
        try:
            self.lock.release()
        except LockNotOwnedError as why:
            raise locksim.Refused(str(why))

locksim.run(Client)
