import os, sys, socket, time, uuid
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python"))
import locksim
class Lock: # Redlock: most of the servers, asked in turn, 50 ms each
    def __init__(self, c):
        self.key, self.ttl, self.at = c["key"], int(c["ttl_ms"]), [s.split(":") for s in c["servers"]]
        self.files = {}
    def do(self, i, *args):
        try:
            if i not in self.files: self.files[i] = socket.create_connection(self.at[i], 0.05).makefile("rwb")
            self.files[i].write(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in (str(x).encode() for x in args)))
            self.files[i].flush()
            return self.files[i].readline() in (b"+OK\r\n", b":1\r\n")
        except OSError: # an answer that comes later must not be taken for the next
            self.files.pop(i, None)
            return False
    def most(self, *args):
        return sum([self.do(i, *args) for i in range(len(self.at))]) > len(self.at) // 2
    def acquire(self, wait):
        end = None if wait is None else time.monotonic() + wait
        while True:
            begun, self.value = time.monotonic(), uuid.uuid4().hex
            if self.most("SET", self.key, self.value, "NX", "PX", self.ttl):
                left = self.ttl - self.ttl / 100 - 2 - (time.monotonic() - begun) * 1000
                if left > 0: return {"value": self.value, "ttl_ms": left}
            self.delete()
            if end is not None and time.monotonic() >= end: raise locksim.Refused("held")
            time.sleep(0.1)
    def delete(self):
        return self.most("EVAL", "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end", 1, self.key, self.value)
    def release(self):
        if not self.delete(): raise locksim.Refused("not held")
locksim.run(Lock)
