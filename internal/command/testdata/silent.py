# A program without any SDK: each argument is a step. lock and unlock are SET NX PX and a script that deletes, get and put access the
# resource: another register if its name follows, and with a query if one does; a number is a sleep, in seconds; "CLIENT:" before a step leaves it to that client.
import os, socket, sys, time, urllib.error, urllib.request
host, port = os.environ["LOCKSIM_SERVERS"].split(",")[0].split(":")
me, key, ttl = os.environ["LOCKSIM_CLIENT"], os.environ["LOCKSIM_KEY"], os.environ["LOCKSIM_TTL_MS"]
server = socket.create_connection((host, int(port)))
answers = server.makefile("rb")
def do(*args):
    server.sendall(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a.encode()) for a in args))
    return answers.readline()
def access(method, path):
    path = path[4:] if path[3:4] == "/" else path.replace("get", "x", 1).replace("put", "x", 1)
    request = urllib.request.Request(os.environ["LOCKSIM_RESOURCE"] + "/" + path, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            print(method, answer.status, answer.read().decode().strip(), flush=True)
    except urllib.error.HTTPError as why:
        print(method, why.code, why.read().decode().strip(), flush=True)
    except OSError as why:
        print(method, type(why).__name__, flush=True)
for step in sys.argv[1:]:
    client, colon, rest = step.partition(":")
    step = rest if colon else step
    if colon and client != me: continue
    if step == "lock":
        while not do("SET", key, me, "NX", "PX", ttl).startswith(b"+OK"): time.sleep(0.1)
    elif step == "renew": do("PEXPIRE", key + "-of-nobody", ttl)
    elif step == "unlock":
        do("EVAL", "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end", "1", key, me)
    elif step.startswith("get"): access("GET", step)
    elif step.startswith("put"): access("PUT", step)
    elif step.startswith("post"): access("POST", "x")
    elif step.startswith("/"): access("GET", step)
    elif step == "exit": sys.exit(3)
    elif step == "die": os.kill(os.getpid(), 9)
    else: time.sleep(float(step))
