"""What kazoo, a client for Python, sees of each of several servers, which should be the same.

Of each server two addresses are given: its own, and that of a link that whoever started this can cut.
"""
import logging
import queue
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException
from kazoo.recipe.watchers import PatientChildrenWatch
from kazoo.security import make_digest_acl

logging.disable(logging.CRITICAL)


def say(*words):
    print(*words, flush=True)


def ask(for_what):
    say(for_what)
    sys.stdin.readline()


def attempt(what, call):
    try:
        say(what, call())
    except KazooException as e:
        say(what, type(e).__name__)


def told(stat):
    recent = abs(time.time() - stat.mtime / 1000) < 60
    return (stat.version, stat.cversion, stat.aversion, stat.dataLength, stat.numChildren, stat.ephemeralOwner != 0,
            recent, stat.ctime <= stat.mtime)


def client(address, timeout=2.0):
    c = KazooClient(hosts=address, timeout=timeout)
    c.start(timeout=20)
    return c


def nodes(c):
    attempt("create", lambda: c.create("/k/a/b", b"x", makepath=True))
    attempt("again", lambda: c.create("/k/a/b", b"x"))
    path, stat = c.create("/k/s-", b"", ephemeral=True, sequence=True, include_data=True)
    say(path, told(stat))
    say("data", c.get("/k/a/b")[0], told(c.get("/k/a/b")[1]))
    say("set", told(c.set("/k/a/b", b"yz", version=0)))
    attempt("late", lambda: c.set("/k/a/b", b"", version=0))
    say("children", sorted(c.get_children("/k")), told(c.get_children("/k", include_data=True)[1]))
    say("none", c.exists("/none"))
    attempt("delete", lambda: c.delete("/k"))
    attempt("recursively", lambda: c.delete("/k/a", recursive=True))
    t = c.transaction()
    t.check("/k", version=0)
    t.create("/k/t", b"t")
    t.set_data("/k/t", b"u")
    t.delete("/k/t")
    say("transaction", [r if isinstance(r, (bool, str)) else told(r) for r in t.commit()])
    t = c.transaction()
    t.create("/k/t", b"t")
    t.check("/k", version=9)
    say("failing", [type(r).__name__ for r in t.commit()])
    say("sync", c.sync("/k"))
    say("version", c.server_version()[:3], c.command(b"ruok"))


def watches(c, other):
    seen = queue.Queue()
    c.ensure_path("/w")
    c.get("/w", watch=lambda e: seen.put(("data", e.type, e.path)))
    c.get_children("/w", watch=lambda e: seen.put(("children", e.type, e.path)))
    c.exists("/w/later", watch=lambda e: seen.put(("exists", e.type, e.path)))
    other.set("/w", b"1")
    other.create("/w/later", b"")
    for _ in range(3):
        say(*seen.get(timeout=15))
    changes = queue.Queue()
    c.DataWatch("/w/later", lambda data, stat: changes.put(data))
    for data in (b"1", b"2"):
        say("before", changes.get(timeout=15))
        other.set("/w/later", data)
    say("after", changes.get(timeout=15))
    other.delete("/w/later")
    say("gone", changes.get(timeout=15))
    children, _ = PatientChildrenWatch(c, "/w", time_boundary=0.2).start().get(timeout=15)
    say("patient", children)


def access(c, other):
    c.add_auth("digest", "user:secret")
    attempt("mine", lambda: c.create("/mine", b"", acl=[make_digest_acl("user", "secret", all=True)]))
    for who, one in (("c", c), ("other", other)):
        attempt(who + " reads", lambda: one.get("/mine")[0])
        attempt(who + " asks", lambda: one.get_acls("/mine")[0])
        attempt(who + " changes", lambda: told(one.set_acls("/mine", one.get_acls("/mine")[0], version=0)))


def locks(c, other):
    first, second = c.Lock("/lock", "first"), other.Lock("/lock", "second")
    say("first", first.acquire(), "second", second.acquire(blocking=False), first.contenders())
    got = threading.Event()

    def take():
        second.acquire(timeout=15)
        got.set()

    thread = threading.Thread(target=take)
    thread.start()
    while len(first.contenders()) < 2:
        pass
    say("contenders", first.contenders(), got.is_set())
    first.release()
    say("second holds", got.wait(15), second.is_acquired, first.contenders())
    thread.join()
    second.release()
    reader, writer = c.ReadLock("/rw", "r"), other.WriteLock("/rw", "w")
    say("reader", reader.acquire(), "writer", writer.acquire(blocking=False))
    reader.release()
    say("writer", writer.acquire(blocking=False))
    writer.release()
    semaphores = [one.Semaphore("/semaphore", max_leases=1) for one in (c, other)]
    say("semaphores", [s.acquire(blocking=False) for s in semaphores])
    semaphores[0].release()
    counter = c.Counter("/counter")
    counter += 2
    say("counter", counter.value, sorted(c.get_children("/")))
    elected = []
    c.Election("/election", "c").run(lambda: elected.append(1))
    say("elected", elected)


def sessions(other, link):
    c = client(link)
    states = queue.Queue()
    c.add_listener(states.put)
    c.create("/session", b"", ephemeral=True)
    gone = threading.Event()
    other.exists("/session", watch=lambda e: gone.set())
    before = c.client_id[0]
    ask("cut")
    say(states.get(timeout=15))
    ask("mend")
    say(states.get(timeout=15), c.client_id[0] == before, other.exists("/session") is not None)
    ask("cut")
    say(states.get(timeout=15), gone.wait(15), other.exists("/session"))
    ask("mend")
    say(states.get(timeout=15), states.get(timeout=15), c.client_id[0] == before)
    c.stop()
    say(states.get(timeout=15))


def main(addresses):
    for i in range(0, len(addresses), 2):
        say("== server", i // 2)
        c, other = client(addresses[i]), client(addresses[i])
        nodes(c)
        watches(c, other)
        access(c, other)
        locks(c, other)
        sessions(other, addresses[i + 1])
        for one in (c, other):
            one.stop()
            one.close()


main(sys.argv[1:])
