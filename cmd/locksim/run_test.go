package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func locksim(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = runIn(ctx, plainEnv(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestEveryScenarioIsAsExpected(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := locksim(t.Context(), "run", "--all")
	require.Equal(t, exitOK, code, stdout[strings.LastIndex(stdout, "\n\n"):])
	require.Empty(t, stderr)
}

func TestAFileIsReplacedWhenAllIsDone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	code, stdout, _ := locksim(t.Context(), "run", "testdata/wrong.yaml", "--format", "json", "-o", file)
	require.Equal(t, exitDiffers, code, "a report of a run that is not as expected is a report")
	require.Empty(t, stdout)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, json.Valid(text), string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it keeps its mode")
}

// TestTheQuickStartsModesAreAsExpected plays a scenario in all fencing modes, one of which it does not name.
func TestTheQuickStartsModesAreAsExpected(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "run", "lease-overrun", "--fencing", "all", "--seeds", "2")
	require.Equal(t, exitOK, code, stdout)
	require.Contains(t, stdout, "token-equality")
}

// TestSmallMistakesAreNamed plays commands that were taken for others, or that failed without naming what was wrong.
func TestSmallMistakesAreNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "misdelete", "--lock", ""}, `invalid value "" for --lock: it is empty`},
		{[]string{"fuzz", "redsnc@v4.4.3"}, `there is no lock, library or scenario "redsnc@v4.4.3"; did you mean "redsync@v4.4.3"?`},
		{[]string{"run", "misdelete", "--lock", "redlock@v1"}, `there is no lock "redlock@v1"; did you mean "redlock"?`},
		{[]string{"fuzz", "redlock", "--save", ""}, `invalid value "" for --save: it is empty`},
		{[]string{"fuzz", "redlock", "--from", "-1"}, "not the number of a run: a number of 64 bits"},
		{[]string{"merge", "nosuch"}, "no ledger given to be merged into nosuch"},
	} {
		code, _, stderr := locksim(t.Context(), c.args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, c.want)
	}
	text, err := os.ReadFile("testdata/story.yaml")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("-x.yaml", text, 0o600))
	_, stdout, _ := locksim(t.Context(), "run", "--variant", "short", "--", "-x.yaml")
	require.Contains(t, stdout, "reproduce: locksim run ./-x.yaml --variant short")
	code, _, stderr := locksim(t.Context(), "check", "./-x.yaml", "--", "-y.yaml")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "-y.yaml: no such file")
}

// full is an output without any room, such as /dev/full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostOutputIsAnError has commands write where nothing can be written.
func TestLostOutputIsAnError(t *testing.T) {
	for _, args := range [][]string{
		{"help"}, {"help", "run"}, {"run", "--help"}, {"version"}, {"check", "testdata/story.yaml"}, {"list"}, {"run", "misdelete"},
		{"run", "testdata/wrong.yaml"}, {"campaign", "--list"},
		{"fuzz", "--help"}, {"merge", "--help"},
	} {
		var stderr bytes.Buffer
		code := runIn(t.Context(), plainEnv(), args, full{}, &stderr)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, stderr.String(), syscall.ENOSPC.Error(), args)
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "%s: %s", args, &stderr)
	}
}

func TestAFailedRunDestroysNoFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out.txt")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	for _, args := range [][]string{
		{"run", "testdata/bad.yaml", "-o", file},
		{"run", "fencing-33-34", "--lock", "nonsense", "-o", file},
		{"run", "fencing-33-34", "-o", dir},
		{"run", "fencing-33-34", "-o", filepath.Join(dir, "no", "such", "folder")},
	} {
		code, _, stderr := locksim(t.Context(), args...)
		require.Equal(t, exitUsage, code)
		require.NotEmpty(t, stderr)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	requireFiles(t, dir, "out.txt")
}

func requireFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	require.Equal(t, names, found)
}

func TestAnInterruptLeavesAWholeDocument(t *testing.T) {
	long.NotShort(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := locksim(ctx, "run", "--all", "--seeds", "1000", "--format", "json")
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stderr, "interrupted; the first 0 of ")
	require.JSONEq(t, `{"schema":"locksim.run/1","runs":[],"interrupted":true}`, stdout)
	code, stdout, _ = locksim(ctx, "run", "testdata/story.yaml", "--seeds", "1000")
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stdout, "interrupted: 0 of 4000 runs played\n")
}

// interrupter interrupts as soon as anything is written, or some word, and keeps what is.
type interrupter struct {
	bytes.Buffer
	interrupt func()
	when      string // not before this is
}

// Write interrupts, and is done when the interrupt is. A signal comes when it comes, a context that is over is.
func (i *interrupter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(i.when)) {
		i.interrupt()
	}
	return i.Buffer.Write(b)
}

func TestARequestToTerminateIsAnInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		self, err := os.FindProcess(os.Getpid())
		require.NoError(t, err)
		out := interrupter{interrupt: sync.OnceFunc(func() { assert.NoError(t, self.Signal(signal)) })}
		var stderr bytes.Buffer
		code := run([]string{"run", "testdata/story.yaml", "--seeds", "1000000", "--format", "json"}, &out, &stderr)
		require.Equal(t, exitInterrupted, code)
		require.Regexp(t, `^locksim: interrupted; the first \d+ of 4000000 runs are in the output\n$`, stderr.String())
		var document struct {
			Runs        []json.RawMessage
			Interrupted bool
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &document))
		require.NotEmpty(t, document.Runs)
		require.True(t, document.Interrupted)
	}
}

func TestACompleteDocumentHasNoMark(t *testing.T) {
	long.NotShort(t)
	_, stdout, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--format", "json")
	require.NotContains(t, stdout, "interrupted")
}

// broken is a lock with a mistake in its code.
type broken struct{ votes []int }

func (b *broken) Acquire(time.Duration) (locks.Lease, error) {
	return locks.Lease{}, b.count(len(b.votes))
}
func (b *broken) Release(locks.Lease) error { return nil }

func (b *broken) count(i int) error {
	b.votes[i]++
	return nil
}

func compiled(t *testing.T, o *runOptions) (*batch, error) {
	t.Helper()
	list, err := (&call{}).load(o)
	require.NoError(t, err)
	return o.compile(list)
}

func TestALockThatPanicsIsShownWhere(t *testing.T) {
	o := &runOptions{}
	_, err := parseFlags(runFlags(o, plainEnv()), nil)
	require.NoError(t, err)
	o.names = []string{"fencing-33-34"}
	o.play.Instead = &locks.Algorithm{Name: "broken", New: func(locks.Options) locks.Builder {
		return func(locks.Process) (locks.Lock, error) { return &broken{}, nil }
	}}
	batch, err := compiled(t, o)
	require.NoError(t, err)
	var out, stderr bytes.Buffer
	c := &call{ctx: t.Context(), env: plainEnv(), stdout: &out, stderr: &stderr}
	require.Equal(t, exitUsage, c.play(o, batch))
	lines := strings.Split(stderr.String(), "\n")
	require.Equal(t, "locksim: fencing-33-34, seed 0x1: the code of client a panicked: runtime error: "+
		"index out of range [0] with length 0", lines[0])
	require.Regexp(t, `^  .*/cmd/locksim\.\(\*broken\)\.count$`, lines[1], "first what panicked")
	require.Regexp(t, `^      .*/run_test\.go:\d+$`, lines[2])
	require.Regexp(t, `\(\*broken\)\.Acquire$`, lines[3], "then the caller")
	require.NotContains(t, stderr.String(), "/workload.", "the simulator's own calls are left out")
	require.NotContains(t, stderr.String(), "debug.Stack")
}

func TestAComplaintSteersNoTerminal(t *testing.T) {
	_, _, stderr := locksim(t.Context(), "check", "no\x1b[31mred.yaml")
	require.Equal(t, "locksim: open no\\x1b[31mred.yaml: no such file or directory\n", stderr)
}

func TestTheLastSeedsCanBePlayed(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--seed", "18446744073709551614", "--seeds", "2",
		"--format", "json")
	require.Equal(t, exitOK, code)
	require.Contains(t, stdout, `"seed":"0xffffffffffffffff"`)
}

func TestAnInterruptKeepsAnEarlierFile(t *testing.T) {
	long.NotShort(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := locksim(ctx, "run", "--all", "--format", "json", "-o", file)
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stderr, "out.json.partial")
	requireFiles(t, dir, "out.json", "out.json.partial")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
}

func TestTheOutputDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		_, one, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--seeds", "100", "--format", format, "--jobs", "1")
		_, many, _ := locksim(t.Context(), "run", "testdata/story.yaml", "--seeds", "100", "--format", format, "--jobs", "8")
		require.NotEmpty(t, one)
		require.Equal(t, one, many)
	}
}

func TestListHasTheSchemasKeys(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "list", "--json")
	require.Equal(t, exitOK, code)
	var l struct {
		Schema    string
		Scenarios []struct {
			Name, Title, Lock, Source string
			Servers                   []string
			Fencing                   []string
		}
		Locks  []struct{ Name, Title, Servers string }
		Faults []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, "locksim.list/1", l.Schema)
	require.Len(t, l.Scenarios, len(scenarios.Names()))
	for _, s := range l.Scenarios {
		require.NotEmpty(t, s.Title, s.Name)
		require.NotEmpty(t, s.Lock, s.Name)
		require.NotEmpty(t, s.Servers, s.Name)
		require.NotEmpty(t, s.Fencing, s.Name)
	}
	require.NotEmpty(t, l.Locks)
	for _, k := range l.Locks {
		require.NotEmpty(t, k.Servers, k.Name)
	}
	_, stdout, _ = locksim(t.Context(), "list", "locks", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Empty(t, l.Scenarios, "only what was asked for")
}

func TestLocksAreListedByTheirServers(t *testing.T) {
	_, stdout, _ := locksim(t.Context(), "list", "locks")
	for _, a := range locks.Catalogue().All() {
		head := "locks on " + titleOf(a.Backend()) + ": "
		require.Equal(t, 1, strings.Count(stdout, head), stdout)
		_, after, _ := strings.Cut(stdout, head)
		own, _, _ := strings.Cut(after, "\n\n")
		require.Contains(t, own, "  "+a.Name+" ")
	}
}

func TestALockIsPlayedOnItsOwnServersOnly(t *testing.T) {
	o := &runOptions{}
	_, err := parseFlags(runFlags(o, plainEnv()), nil)
	require.NoError(t, err)
	o.names, o.play.Instead = []string{"fencing-33-34"}, &locks.Algorithm{Name: "zk", Servers: "zookeeper"}
	_, err = compiled(t, o)
	require.EqualError(t, err, "the lock zk needs ZooKeeper, but the servers of fencing-33-34 are Redis; see locksim list locks")
	o.all, o.names, o.play.Instead.Servers = true, nil, "no such kind"
	_, err = compiled(t, o)
	require.ErrorContains(t, err, "no scenario runs on ")
}

func TestEveryFaultIsListed(t *testing.T) {
	var names []string
	for _, f := range faultEntries() {
		names = append(names, f.Name)
	}
	require.Equal(t, sim.ActionNames(), names)
}

func TestColorIsForTerminalsUnlessAskedFor(t *testing.T) {
	const escape = "\x1b["
	_, plain, _ := locksim(t.Context(), "run", "testdata/wrong.yaml")
	require.NotContains(t, plain, escape)
	_, colored, _ := locksim(t.Context(), "run", "testdata/wrong.yaml", "--color", "always")
	require.Contains(t, colored, escape)
}

func TestColumnsGivesTheWidth(t *testing.T) {
	play := func(columns int) string {
		var out, errs bytes.Buffer
		runIn(t.Context(), env{columns: columns, jobs: 1}, []string{"run", "testdata/wrong.yaml"}, &out, &errs)
		return out.String()
	}
	require.Equal(t, play(0), play(100))
	require.NotEqual(t, play(100), play(150))
	require.Equal(t, play(minWidth), play(10), "a narrow terminal gets the narrowest text there is")
}

func TestVersionIsOneLine(t *testing.T) {
	code, stdout, _ := locksim(t.Context(), "version")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `^locksim .*go1\.\d+.*\n$`, stdout)
}

// TestSetChangesTheScenario plays a scenario as its file has it, and with a lease that ends before the work does.
func TestSetChangesTheScenario(t *testing.T) {
	code, _, _ := locksim(t.Context(), "run", "lua-release", "--no-margin")
	require.Equal(t, exitOK, code)
	code, text, said := locksim(t.Context(), "run", "lua-release", "--set", "lock.ttl=5s", "--set", "b.work=2s", "--no-margin")
	require.Equal(t, exitDiffers, code, said)
	require.Contains(t, text, "(with lock.ttl=5s, clients.b.work=2s)")
	require.Contains(t, text, "mutual-exclusion is violated, which is not expected")
	command := "run lua-release --set lock.ttl=5s --set clients.b.work=2s --seed 0x1"
	require.Contains(t, text, "locksim "+command)
	code, again, _ := locksim(t.Context(), append(strings.Fields(command), "--no-margin")...)
	require.Equal(t, exitDiffers, code)
	require.Equal(t, text, again)
	_, text, _ = locksim(t.Context(), "run", "lua-release", "--set", "b.work=2s", "--format", "json")
	require.Contains(t, text, `"set":["clients.b.work=2s"]`)
	code, _, said = locksim(t.Context(), "run", "lease-overrun", "--set", "clients.a.work=5s", "--set", "clients.b.work=5s",
		"--variant", "lease-10s-work-12s")
	require.Equal(t, exitOK, code, "it is not expected to be violated any more: %s", said)
}
