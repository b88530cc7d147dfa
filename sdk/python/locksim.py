"""Runs a lock under locksim: run(open), where open(config) returns an object with acquire(wait) and release().

config has servers, key, ttl_ms and more; wait is seconds, 0 for once, None forever. acquire returns a dictionary with any of
value, token, ttl_ms (from now) and until_ms (of the wall clock). Raise Refused if it is certain that the lock is not held.
"""
import json, os, socket

class Refused(Exception):
    pass

def run(open):
    host, port = os.environ["LOCKSIM"].split(":")
    lines = socket.create_connection((host, int(port))).makefile("rw", encoding="utf-8", newline="\n")
    def say(word, **more):
        lines.write(json.dumps({"word": word, **more}) + "\n")
        lines.flush()
    def hear():
        return json.loads(lines.readline() or '{"word": "done"}')
    say("ready", can=["verify"] if hasattr(open, "verify") else [])
    lock = open(hear())
    while (asked := hear())["word"] != "done":
        word = asked["word"]
        try:
            if word == "start":
                wait = asked.get("wait_ms")
                say("acquired", **(lock.acquire(None if wait is None else wait / 1000) or {}))
            elif word == "release":
                lock.release()
                say("released")
            elif word == "verify":
                lock.verify()
                say("held")
        except Refused as why:
            say("refused", why=str(why))
        except Exception as why:
            say("failed", why=repr(why))
