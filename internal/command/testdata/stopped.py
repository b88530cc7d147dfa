import os, sys, threading, time
def watch():
    last = time.monotonic()
    while True:
        time.sleep(0.02)
        now = time.monotonic()
        if now - last > 1: print("stood still for %d s" % round(now - last), flush=True)
        last = now
threading.Thread(target=watch, daemon=True).start()
exec(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lease.py")).read())
