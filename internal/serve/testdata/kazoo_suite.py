# Runs tests of kazoo against simulated servers, and prints how each ends: kazoo_suite.py TEST…. Lines that control the servers go out on
# descriptor 3, and their addresses and answers come in on descriptor 4. Kazoo has a mock of its own version of Python among its needs.
import os, sys, unittest, unittest.mock
import kazoo.testing.harness as harness

sys.modules["mock"] = unittest.mock
os.environ["ZOOKEEPER_VERSION"] = "3.8.0"
lines, answers = open(3, "w"), open(4)

class Server:
    def __init__(self, number):
        self.number, self.address, self.running = number, answers.readline().strip(), True

    def run(self):
        self.tell("restart", True)

    def stop(self):
        self.tell("crash", False)

    def tell(self, word, running):
        if self.running == running:
            return
        line = "%s zk-%d\n" % (word, self.number)
        lines.write(line)
        lines.flush()
        answer = answers.readline()
        assert answer == line, answer
        self.running = running

class Cluster(list):
    def start(self):
        for server in self:
            server.run()

    def stop(self):
        for server in self:
            server.stop()

    def terminate(self):
        pass

cluster = Cluster(map(Server, (1, 2, 3)))
harness.get_global_cluster = lambda: cluster

class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        print("pass", test.id(), flush=True)

    def addFailure(self, test, why):
        super().addFailure(test, why)
        print("fail", test.id(), flush=True)

    addError = addFailure

    def addSkip(self, test, why):
        print("skip", test.id(), flush=True)

def tests(of):
    for test in of:
        if isinstance(test, unittest.TestSuite):
            yield from tests(test)
        elif "TestReconfig" in test.id(): # kazoo does not know the error that reconfiguration is off, and waits forever
            print("skip", test.id(), flush=True)
        else:
            yield test

unittest.TextTestRunner(resultclass=Result).run(unittest.TestSuite(tests(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]))))
