package command_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// plan compiles a scenario with a program in place of its lock.
func plan(t *testing.T, text string, argv ...string) *harness.Plan {
	t.Helper()
	return planOf(t, 10*time.Second, text, argv...)
}

// planOf does so with a lease of some length.
func planOf(t *testing.T, ttl time.Duration, text string, argv ...string) *harness.Plan {
	t.Helper()
	p := program(t, argv...)
	s, err := scenarios.Parse("test.yaml", fmt.Appendf(nil, "name: x\nlock: {algorithm: set-nx-lua, ttl: %s}\n%s", ttl, text))
	require.NoError(t, err)
	a := locks.Algorithm{
		Name: "program", Title: "a program", Servers: "redis", Authority: locks.OneNode, Identity: "value", Lease: true,
		Deadline: locks.OnMonotonic, Program: p, Key: func(o locks.Options) string { return o.Key },
	}
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &a})
	require.NoError(t, err)
	return plan
}

// program makes a command a program, if what runs it is installed here.
func program(t *testing.T, argv ...string) *command.Program {
	t.Helper()
	name := argv[0]
	if strings.HasPrefix(name, "--") {
		name = argv[1]
	}
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name, "is not installed")
	}
	p, err := command.New(argv)
	if err != nil && strings.Contains(err.Error(), "on Linux only") {
		t.Skip(err)
	}
	require.NoError(t, err)
	return p
}

func play(t *testing.T, p *harness.Plan) (harness.Result, error) {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	return r.Run(p, 1, true)
}

// Both scenarios have the same clients: in the first the holder is paused for longer than its lease.
const (
	pausedHolder = `
clients: {a: {work: 5s}, b: {start: 100ms, work: 5s}, c: {start: 200ms, work: 2s}}
faults: [{at: 1s, pause: a, for: 12s}, {at: 14s, cut: {from: b, to: redis-1}, for: 2s}]
`
	pausedForLess = `
clients: {a: {work: 5s}, b: {start: 100ms, work: 5s}, c: {start: 200ms, work: 2s}}
faults: [{at: 1s, pause: a, for: 4s}]
`
)

// languages are programs with the same lock.
var languages = [][]string{
	{"python3", "testdata/lease.py"}, {"node", "testdata/lease.js"}, {"java", "testdata/Lease.java"},
	{"ruby", "testdata/lease.rb"}, {"php", "testdata/lease.php"}, {"g++", "testdata/lease.cpp"},
}

// built compiles what has to be, or skips the test if a library is missing.
func built(t *testing.T, argv []string) []string {
	t.Helper()
	text, err := os.ReadFile(argv[1])
	require.NoError(t, err)
	switch compiler := map[string]string{"java": "javac", "g++": "g++", python: python}[argv[0]]; compiler {
	case "":
		return argv
	case python:
		for _, library := range []string{"kazoo", "redis"} {
			if bytes.Contains(text, []byte("import "+library)) && exec.Command(python, "-c", "import "+library).Run() != nil {
				t.Skip("the Python library", library, "is not installed")
			}
		}
		return argv
	case "javac":
		jars := ""
		if bytes.Contains(text, []byte("org.apache.curator")) {
			jars = curator(t)
		}
		classes := t.TempDir()
		compile(t, compiler, "-d", classes, "-cp", jars, "../../sdk/java/Locksim.java", argv[1])
		return []string{"java", "-cp", classes + ":" + jars, strings.TrimSuffix(filepath.Base(argv[1]), ".java")}
	default:
		file := filepath.Join(t.TempDir(), "lease")
		compile(t, compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", file, argv[1])
		return []string{file}
	}
}

func compile(t *testing.T, compiler string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(compiler, "is not installed")
	}
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// curator returns the class path of Curator, without that of the program itself.
func curator(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../programs/curator/debian.args")
	require.NoError(t, err)
	jars := strings.TrimPrefix(strings.TrimSpace(string(text)), "-cp classes:")
	for _, jar := range strings.Split(jars, ":") {
		if _, err := os.Stat(jar); err != nil {
			t.Skip(err)
		}
	}
	return jars
}

func TestAProgramIsPausedAndJudgedLikeAnyLock(t *testing.T) {
	for i, argv := range languages {
		t.Run(argv[0], func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				long.Only(t)
			}
			argv := built(t, argv)
			result, err := play(t, plan(t, pausedHolder, argv...))
			require.NoError(t, err)
			require.Equal(t, checker.Violated, result.Report.Verdicts[checker.MutualExclusion])
			require.Equal(t, checker.Violated, result.Report.Verdicts[checker.Resource])
			require.Equal(t, checker.NotSeen, result.Report.Verdicts[checker.ExclusionAtService])
			result, err = play(t, plan(t, pausedForLess, argv...))
			require.NoError(t, err)
			require.Equal(t, checker.NotSeen, result.Report.Verdicts[checker.MutualExclusion])
			require.Len(t, result.History.Acquisitions, 3)
			for _, a := range result.History.Acquisitions {
				require.Equal(t, history.OK, a.Outcome)
			}
		})
	}
}

// TestTheSameScheduleGivesTheSameSteps compares digests, in which are all messages and when they were sent: random values are
// drawn from the seed.
func TestTheSameScheduleGivesTheSameSteps(t *testing.T) {
	for _, load := range []int{0, 10} {
		for i, argv := range languages[:3] { // the long form is long: the others have few threads
			t.Run(fmt.Sprintf("%s, load %d", argv[0], load), func(t *testing.T) {
				if (i > 0 || load > 0) && long.Pick(0, 0, 1) < 5 {
					t.Skip("LONG=5 plays it: with load all other tests of the machine would be slow meanwhile")
				}
				loaded(t, load)
				p := plan(t, pausedHolder, built(t, argv)...)
				seen := map[uint64]int{}
				for range long.Pick(2, 2, 3) { // 30 with LONG=10
					result, err := play(t, p)
					require.NoError(t, err)
					seen[result.Digest]++
				}
				require.Len(t, seen, 1)
			})
		}
	}
}

// loaded keeps processors busy with a number of processes while a test runs.
func loaded(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, busy.Start())
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		})
	}
}

const alone = "clients: {a: {work: 1s}}\n"

// TestEveryWaitTakesVirtualTime runs a program that waits in each way that takes a time limit, with the C libraries that there are.
func TestEveryWaitTakesVirtualTime(t *testing.T) {
	for compiler, random := range map[string]string{"cc": "a87d2f59", "musl-gcc": "a4896b06"} { // they draw differently before
		t.Run(compiler, func(t *testing.T) { waitsInEveryWay(t, compiledBy(t, compiler, "waits"), random) })
	}
}

func waitsInEveryWay(t *testing.T, file, random string) {
	t.Helper()
	result, err := play(t, plan(t, alone+"until: 1h\n", file))
	require.NoError(t, err)
	require.Len(t, result.History.Exits, 1)
	exit := result.History.Exits[0]
	require.Equal(t, `nanosleep 1500 0; usleep 250 0; clock_nanosleep 3000 0; poll 1000 0
poll 0 0 0; select 2000 0; pselect 1500 0; ppoll 1500 0
epoll_wait 600000 0; pthread_cond_timedwait 4000 1; pthread_cond_timedwait, signalled 700 0; pthread_join 0 0
sem_timedwait 5000 -1; poll, written to by a child 30000 1; wait 0 7; system 12000 0
wall and monotonic clock 1577736800000
reads its clock until it shows more 5 0; recv, SO_RCVTIMEO 2000 1; read, SO_RCVTIMEO 2000 1; read, what is there 0 1
sigtimedwait 1500 1; sigtimedwait, what is there 0 1; poll, all signals blocked 1000 0; clock_nanosleep, wall clock 7000 0
epoll_pwait2 1500 0; io_uring is not there 0 1; random `+random, exit.Output)
	require.Equal(t, "exits with status 3", exit.Text)
}

func TestProgramsThatCannotBePlayedAreToldWhy(t *testing.T) {
	script := func(text string) []string {
		file := filepath.Join(t.TempDir(), "client.py")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return []string{"python3", file}
	}
	const connects = "import os,socket\nh,p=os.environ['LOCKSIM'].split(':')\ns=socket.create_connection((h,int(p)))\n"
	for name, c := range map[string]struct {
		argv []string
		why  string
	}{
		"dies at once":       {script("raise SystemExit('no configuration')"), "exits with status 1, before it asks for the lock for the first time\nno configuration"},
		"another protocol":   {script(connects + "s.sendall(b'hello\\n')\ns.recv(1)"), `it says "hello", which is no line of the protocol`},
		"another word":       {script(connects + "s.sendall(b'{\"word\":\"acquired\"}\\n')\ns.recv(1)"), `it says "acquired" where "ready" is expected`},
		"an unknown field":   {script(connects + "s.sendall(b'{\"word\":\"ready\",\"kan\":[]}\\n')\ns.recv(1)"), `unknown field "kan"`},
		"never ready":        {[]string{"sleep", "100000"}, "it has not said ready for 5s, nor asked for the lock, nor accessed the resource: see docs/languages.md"},
		"killed by a signal": {script("import os\nos.kill(os.getpid(), 9)"), "by the signal killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := play(t, plan(t, alone, c.argv...))
			require.ErrorContains(t, err, c.why)
		})
	}
}

// TestWhatCannotBeGivenVirtualTimeLeavesARunUnknown has programs do what locksim cannot play, after they have acquired the lock: that is
// no fault of theirs.
func TestWhatCannotBeGivenVirtualTimeLeavesARunUnknown(t *testing.T) {
	for bound, does := range map[string]string{
		"calls that cannot be given virtual time (setitimer)":   "import signal\ntry: signal.setitimer(signal.ITIMER_REAL, 1)\nexcept OSError: pass",
		"computing without a wait (10s, by its thread python3)": "while True: pass",
	} {
		t.Run(bound, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(does, "while") {
				long.Only(t)
			}
			lock := "import sys\nsys.path.insert(0, '../../sdk/python')\nimport locksim\nclass Lock:\n  def __init__(self, c): pass\n" +
				"  def acquire(self, wait):\n    " + strings.ReplaceAll(does, "\n", "\n    ") + "\n  def release(self): pass\nlocksim.run(Lock)\n"
			file := filepath.Join(t.TempDir(), "client.py")
			require.NoError(t, os.WriteFile(file, []byte(lock), 0o600))
			result, err := play(t, plan(t, alone, "python3", file))
			require.NoError(t, err)
			require.Equal(t, bound, result.History.Bound)
			require.Equal(t, checker.Undecided, result.Report.Verdicts[checker.Survival])
		})
	}
}

// TestAConnectionThatNobodyAnswersLeavesARunUnknown has the machine of the only server fail. A program's connect() would wait on a real
// network, and returns here: one that waits for a reply then, without a limit, is not accused of waiting in vain. One with
// a limit of its own is played on.
func TestAConnectionThatNobodyAnswersLeavesARunUnknown(t *testing.T) {
	const dead = alone + "faults: [{at: 0s, crash: redis-1, kind: host}]\n"
	for limit, bound := range map[string]string{
		"None": "connections that nobody answers (connect to redis-1): the program could not notice that it takes long", "2": "",
	} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			lock := "import sys, socket\nsys.path.insert(0, '../../sdk/python')\nimport locksim\nclass Lock:\n" +
				"  def __init__(self, c): self.c = c\n  def acquire(self, wait):\n    h, p = self.c['servers'][0].split(':')\n" +
				"    s = socket.create_connection((h, int(p)), " + limit + ")\n    s.sendall(b'*1\\r\\n$4\\r\\nPING\\r\\n')\n" +
				"    try: s.recv(100)\n    except OSError: raise locksim.Refused('no answer')\n    finally: s.close()\n" +
				"  def release(self): pass\nlocksim.run(Lock)\n"
			file := filepath.Join(t.TempDir(), "client.py")
			require.NoError(t, os.WriteFile(file, []byte(lock), 0o600))
			result, err := play(t, plan(t, dead, "python3", file))
			require.NoError(t, err)
			require.Equal(t, bound, result.History.Bound)
		})
	}
}

func TestCommandsThatCannotHaveVirtualTimeAreRefused(t *testing.T) {
	program(t, "true")
	_, err := command.New([]string{"no-such-program"})
	require.ErrorContains(t, err, "executable file not found")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lock-client"), []byte("#!/bin/sh\n"), 0o755))
	_, err = command.New([]string{filepath.Join(dir, "lock-clinet")})
	require.ErrorContains(t, err, fmt.Sprintf("did you mean %q?", filepath.Join(dir, "lock-client")))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	_, err = command.New([]string{"lock-clinet"})
	require.ErrorContains(t, err, `executable file not found in $PATH; did you mean "lock-client"?`)
	itself, err := os.Executable()
	require.NoError(t, err)
	_, err = command.New([]string{itself})
	require.ErrorContains(t, err, "is a program of Go")
}

func TestNothingIsLeftBehind(t *testing.T) {
	_, err := play(t, plan(t, alone, "sh", "-c", "sleep 200000 & sleep 200000"))
	require.ErrorContains(t, err, "it has not said ready")
	out, _ := exec.Command("pgrep", "-f", "^sleep 200000$").Output()
	require.Empty(t, string(out))
}

// TestTheLibraryIsBuiltFromItsSource compares checksums: preload/build.sh writes both.
func TestTheLibraryIsBuiltFromItsSource(t *testing.T) {
	sums, err := os.ReadFile("preload/sums")
	require.NoError(t, err)
	for _, name := range []string{"preload.c", "linux_amd64.so", "linux_arm64.so"} {
		text, err := os.ReadFile(filepath.Join("preload", name))
		require.NoError(t, err)
		require.Contains(t, string(sums), fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name), "run preload/build.sh")
	}
}
