import os, sys, socket, time, uuid
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python"))
import locksim
class Lock:
    def __init__(self, c):
        self.c = c
        h, p = c["servers"][0].split(":")
        self.s = socket.create_connection((h, int(p)))
        self.f = self.s.makefile("rb")
    def do(self, *args):
        self.s.sendall(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in (str(x).encode() for x in args)))
        l = self.f.readline()
        return None if l.startswith(b"$-1") or not l else l
    def acquire(self, wait):
        self.value = uuid.uuid4().hex
        end = None if wait is None else time.monotonic() + wait
        while True:
            if self.do("SET", self.c["key"], self.value, "NX", "PX", int(self.c["ttl_ms"])):
                return {"value": self.value, "ttl_ms": self.c["ttl_ms"]}
            if end is not None and time.monotonic() >= end: raise locksim.Refused("held")
            time.sleep(0.1)
    def release(self):
        r = self.do("EVAL", "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end", 1, self.c["key"], self.value)
        if r != b":1\r\n": raise locksim.Refused("not held")
locksim.run(Lock)
