package harness_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/sim/wasm"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// builtGuest is where the child processes of a test find the program that it has built.
const builtGuest = "LOCKSIM_BUILT_GUEST"

// guestCode builds the client program of this package's tests, once.
var guestCode = sync.OnceValues(func() ([]byte, error) {
	if built := os.Getenv(builtGuest); built != "" {
		return os.ReadFile(built)
	}
	return buildGuest(filepath.Join("testdata", "guest"))
})

// buildGuest compiles a client program.
func buildGuest(source string, flags ...string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "locksim")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "guest.wasm")
	build := exec.Command("go", append([]string{"build", "-buildmode=c-shared", "-o", out}, append(flags, ".")...)...)
	build.Dir = source
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(out)
}

// compiled is where compiled programs are kept from test to test.
func compiled() string {
	folder, err := os.UserCacheDir()
	must(err)
	return filepath.Join(folder, "locksim", "compiled")
}

// guestModule is the program of this package's tests, ready to be run.
var guestModule = sync.OnceValues(func() (*wasm.Module, error) {
	code, err := guestCode()
	if err != nil {
		return nil, err
	}
	return wasm.Load(code, compiled())
})

func guestLock(t *testing.T) *locks.Algorithm {
	t.Helper()
	module, err := guestModule()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no Go toolchain to build a client program with")
	}
	require.NoError(t, err)
	return &locks.Algorithm{
		Name: "guest", Program: module, Authority: locks.OneNode, Deadline: locks.OnMonotonic, Identity: "value",
		Lease: true,
	}
}

func guestPlan(t testing.TB, lock *locks.Algorithm, text string) *harness.Plan {
	t.Helper()
	p, err := harness.Compile(guestScenarioOf(t, text).Cases()[0], harness.Options{Instead: lock})
	require.NoError(t, err)
	return p
}

func guestScenarioOf(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("story.yaml", []byte("name: story\ntitle: A story\nstory: Clients contend.\n"+text))
	require.NoError(t, err)
	return s
}

// keyed is the lock of a scenario by whose key the program knows what it is to do.
func keyed(key string) string { return "lock: {algorithm: guest, key: " + key + "}\n" }

type verdictsOf map[checker.Property]checker.Verdict

// guestStories is what becomes of the program's lock, which lives for 2 s and is right but for what its clients do.
var guestStories = []struct {
	claim    string
	scenario string
	verdicts verdictsOf
}{
	{
		"A lock that is not disturbed excludes",
		"clients:\n  a: {count: 3, sections: 2, work: 100ms, think: 10ms}\n",
		verdictsOf{
			checker.MutualExclusion: checker.Held, checker.ExclusionAtService: checker.Held,
			checker.ReleaseSafety: checker.Vacuous,
		},
	},
	{
		"A holder that is paused for longer than its lease writes after it",
		`
clients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}
faults:
  - {after: {node: a, does: receive, what: read, peer: storage}, plus: 100ms, pause: a, for: 5s}
`,
		verdictsOf{
			checker.MutualExclusion: checker.Violated, checker.ExclusionAtService: checker.Held,
			checker.Resource: checker.Violated,
		},
	},
	{
		"A careful one looks at its deadline and does not",
		`
styles: careful
clients: {a: {work: 1s}, b: {start: 500ms, work: 1s}}
faults:
  - {after: {node: a, does: receive, what: read, peer: storage}, plus: 100ms, pause: a, for: 5s}
`,
		verdictsOf{checker.MutualExclusion: checker.Held, checker.ExclusionAtService: checker.Held},
	},
	{
		"A deadline on the monotonic clock does not move with the wall clock",
		`
styles: careful
clients: {a: {work: 4s, write: 3s}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, clock: a, step: -5s}]
`,
		verdictsOf{checker.MutualExclusion: checker.Held},
	},
	{
		"One on the wall clock does",
		`
lock: {algorithm: guest, ttl: 2s, key: wall}
styles: careful
clients: {a: {work: 4s, write: 3s}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, clock: a, step: -5s}]
`,
		verdictsOf{checker.MutualExclusion: checker.Violated},
	},
	{
		"A late reply makes nobody a holder whose lease is over",
		`
styles: careful
clients: {a: {work: 100ms}, b: {start: 500ms, work: 1s}}
faults: [{before: {node: redis-1, does: reply, what: SET, peer: a}, delay: 3s}]
`,
		verdictsOf{checker.MutualExclusion: checker.Vacuous, checker.ExclusionAtService: checker.Held},
	},
	{
		"A server that forgets the key lets two hold",
		`
clients: {a: {work: 1500ms}, b: {start: 500ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, crash: redis-1, restart: 100ms}]
`,
		verdictsOf{checker.MutualExclusion: checker.Violated, checker.ExclusionAtService: checker.Violated},
	},
}

// TestProgramsMeetFaultsAsNativeLocksDo plays a lock that somebody has compiled from plain Go.
func TestProgramsMeetFaultsAsNativeLocksDo(t *testing.T) {
	lock := guestLock(t)
	var r harness.Runner
	defer r.Close()
	seeds := uint64(long.Pick(1, 2, 5))
	for _, story := range guestStories {
		text := story.scenario
		if !strings.Contains(text, "algorithm:") {
			text += "lock: {algorithm: guest, ttl: 2s}\n"
		}
		p := guestPlan(t, lock, text)
		for seed := range seeds {
			result, err := r.Run(p, seed, false)
			require.NoError(t, err)
			for property, verdict := range story.verdicts {
				require.Equal(t, verdict, result.Report.Verdicts[property], "%s: %v, seed %d\n%v",
					story.claim, property, seed, result.History)
			}
		}
	}
}

// TestAnApplicationThatRenewsLateLosesItsLease plays one that renews in time, and one that does not, with a lock that is right: the
// history says that the loss is the application's, and only if there is one.
func TestAnApplicationThatRenewsLateLosesItsLease(t *testing.T) {
	lock := *guestLock(t)
	lock.Extends = true
	var r harness.Runner
	defer r.Close()
	for _, x := range []struct {
		late     string
		verdict  checker.Verdict
		lossIs   checker.Verdict // of silent-loss, which is of b alone if a is late
		stopsAt  time.Duration   // when a learns of the loss
		violated bool
	}{
		{"", checker.Held, checker.Held, 0, false},
		{", renews-late: 1s", checker.Held, checker.Vacuous, 0, false},
		{", renews-late: 2s", checker.Violated, checker.Vacuous, 2500 * time.Millisecond, true},
	} {
		p := guestPlan(t, &lock, "styles: attentive\nlock: {algorithm: guest, ttl: 2s, renew: 500ms}\n"+
			"clients: {a: {work: 5s"+x.late+"}, b: {start: 500ms, work: 1s}}\nnetwork: {latency: 1ms}\n")
		result, err := r.Run(p, 1, false)
		require.NoError(t, err)
		h, report := result.History, result.Report
		require.Equal(t, x.verdict, report.Verdicts[checker.MutualExclusion], "%s: %v", x.late, h)
		require.Equal(t, x.lossIs, report.Verdicts[checker.SilentLoss], x.late)
		require.Equal(t, x.late != "", h.Acquisitions[0].Late)
		if x.violated {
			require.Equal(t, checker.Application, report.Violations[0].Broken)
			require.InDelta(t, x.stopsAt, h.Acquisitions[0].Noticed.Sub(0), float64(50*time.Millisecond))
		}
	}
}

// TestNothingOfAProgramRunsAfterACrash crashes a holder and starts it again: nothing is released, and its second life
// knows nothing of the first.
func TestNothingOfAProgramRunsAfterACrash(t *testing.T) {
	p := guestPlan(t, guestLock(t), `
lock: {algorithm: guest, ttl: 2s}
clients: {a: {work: 1s}, b: {start: 500ms, work: 100ms}}
faults: [{after: {node: a, does: acquired}, plus: 100ms, crash: a, restart: 300ms}]
`)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, true)
	require.NoError(t, err)
	h := result.History
	require.Len(t, h.Acquisitions, 3)
	first, second := &h.Acquisitions[0], &h.Acquisitions[1]
	if second.Client == "b" {
		second = &h.Acquisitions[2]
	}
	require.Equal(t, [2]string{"a", "a"}, [2]string{first.Client, second.Client})
	require.NotEqual(t, trace.Never, first.Crashed)
	require.Equal(t, trace.Never, first.Unlocked)
	require.NotEqual(t, first.Value, second.Value)
	for _, e := range result.Events {
		if e.Node == "a" && e.At > first.Crashed {
			require.GreaterOrEqual(t, e.At, first.Crashed.Add(300e6), "%v", e.Step)
		}
	}
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.MutualExclusion])
}

// TestAPausedProgramStandsStill looks for steps of a process while it is paused, its timers' too.
func TestAPausedProgramStandsStill(t *testing.T) {
	p := guestPlan(t, guestLock(t), `
lock: {algorithm: guest, ttl: 2s}
clients: {a: {start: 500ms, work: 1s}, b: {work: 4s}}
faults: [{at: 1s, pause: a, for: 2s}]
`)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, true)
	require.NoError(t, err)
	before, after := 0, 0
	for _, e := range result.Events {
		if e.Node == "a" && e.Does == trace.Send {
			require.False(t, e.At > trace.Instant(1e9) && e.At < trace.Instant(3e9), "%v %v", e.At, e.Step)
			before += one(e.At < trace.Instant(1e9))
			after += one(e.At > trace.Instant(3e9))
		}
	}
	require.Positive(t, before)
	require.Positive(t, after)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestAProgramThatEndsItselfIsToldWithWhatItWrote lets the program end itself in the ways that there are.
func TestAProgramThatEndsItselfIsToldWithWhatItWrote(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, failing := range []struct{ key, kind, text, output string }{
		{"panics", "panic in main.misbehave", "panics: runtime error: invalid memory address", "main.misbehave"},
		{"panics-beside", "panic in main.misbehave.func1", "panics: beside", "created by main.try"},
		{"logs-and-exits", "exit with status 3", "exits with status 3", "panic: recovered from\nenough"},
		{"hoards", "out of memory", "runs out of memory: it may have 128 MB", "fatal error: out of memory"},
	} {
		p := guestPlan(t, guestLock(t), keyed(failing.key)+"clients: {a: {work: 1s}}\n")
		result, err := r.Run(p, 1, false)
		require.NoError(t, err)
		h := result.History
		require.Len(t, h.Exits, 1, failing.key)
		exit := h.Exits[0]
		require.Equal(t, "a", exit.Client)
		require.Equal(t, failing.kind, exit.Kind)
		require.Contains(t, exit.Text, failing.text)
		require.Contains(t, exit.Output, failing.output)
		require.NotContains(t, exit.Output, "locksim/workload", "ours")
		require.NotContains(t, exit.Output, "runtime.", "Go's")
		require.Equal(t, exit.At, h.Acquisitions[0].Crashed)
		require.Equal(t, checker.Violated, result.Report.Verdicts[checker.Survival])
		require.Equal(t, exit.Output, result.Report.Violations[0].Output)
		for _, note := range h.Notes {
			require.Equal(t, "logs-and-exits", failing.key, "what is told with the end is no note: %v", note)
		}
	}
}

// TestNobodyStartsAProgramAgainThatEndedItself has one end while it holds: its connections are closed, what it was granted
// lasts as long as its lease, and there is nothing left for a crash to kill.
func TestNobodyStartsAProgramAgainThatEndedItself(t *testing.T) {
	p := guestPlan(t, guestLock(t), keyed("panics-holding")+`
clients: {a: {work: 1s}, b: {start: 500ms, work: 100ms, wait: 10s}}
faults: [{at: 2s, crash: a, restart: 100ms}]
`)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, true)
	require.NoError(t, err)
	h := result.History
	require.Equal(t, []string{"a", "b"}, []string{h.Exits[0].Client, h.Exits[1].Client}, "each of them at its release")
	require.False(t, h.Faults[0].Fired)
	a, b := &h.Acquisitions[0], &h.Acquisitions[len(h.Acquisitions)-1]
	require.LessOrEqual(t, a.Unlocked, h.Exits[0].At)
	require.Equal(t, trace.Never, a.Released)
	require.Greater(t, b.Returned, h.Grants[0].From.Add(1500e6), "the lease has to end first")
	last := trace.Event{}
	for _, e := range result.Events {
		if e.Node == "a" {
			last = e
		}
	}
	require.Equal(t, trace.Step{Node: "a", Does: trace.Done, What: h.Exits[0].Kind}, last.Step)
}

// TestAProgramThatIsNeverReadyIsAnError of its own: that it ends itself at once says nothing of locks.
func TestAProgramThatIsNeverReadyIsAnError(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	const clients = "clients: {a: {work: 1s}, b: {work: 1s}}\n"
	_, err := r.Run(guestPlan(t, guestLock(t), keyed("panics-at-once")+clients), 1, false)
	var unborn *harness.Unborn
	require.ErrorAs(t, err, &unborn)
	require.ErrorContains(t, err, "the program of client a panics: not configured, before it asks for the lock for the first time")
	require.ErrorContains(t, err, "main.open(")

	// What a fault may have brought about says something: here a server is not there when the program begins.
	p := guestPlan(t, guestLock(t), keyed("panics-unless-connected")+clients+"faults: [{at: 0s, crash: redis-1, restart: 1s}]\n")
	result, err := r.Run(p, 1, false)
	require.NoError(t, err)
	require.Len(t, result.History.Exits, 2)
	result, err = r.Run(guestPlan(t, guestLock(t), keyed("panics-unless-connected")+clients), 1, false)
	require.NoError(t, err)
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.Survival])
}

// TestAProgramThatGoesRoundForEverIsUnknown bounds what computes without end, at the same place every time.
func TestAProgramThatGoesRoundForEverIsUnknown(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	for _, key := range []string{"looks-at-its-clock", "loops"}[:long.Pick(1, 1, 2)] {
		p := guestPlan(t, guestLock(t), keyed(key)+"clients: {a: {work: 1s}, b: {work: 1s}}\n")
		result, err := r.Run(p, 1, false)
		require.NoError(t, err, key)
		require.Equal(t, program.LoopBound, result.History.Bound, key)
		require.Equal(t, checker.Undecided, result.Report.Verdicts[checker.MutualExclusion], key)
	}
	p := guestPlan(t, guestLock(t), keyed("computes")+"clients: {a: {sections: 3}}\n")
	result, err := r.Run(p, 1, false)
	require.NoError(t, err)
	require.Empty(t, result.History.Bound, "a program that computes much, and waits in between")
}

// TestAProgramMayWaitForever, and is not ended as one in which all goroutines are asleep: in an application there are others.
func TestAProgramMayWaitForever(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	p := guestPlan(t, guestLock(t), keyed("lock")+"until: 30s\nclients: {a: {work: forever}, b: {start: 1s}}\n")
	result, err := r.Run(p, 1, false)
	require.NoError(t, err)
	require.Empty(t, result.History.Bound)
	p = guestPlan(t, guestLock(t), keyed("waits")+"progress: 10s\nuntil: 30s\nclients: {a: {}}\n")
	result, err = r.Run(p, 1, false)
	require.NoError(t, err)
	require.Equal(t, checker.Violated, result.Report.Verdicts[checker.Progress])
}

// TestOutputOfAProgramIsRecorded: the notes of a run contain the lines that a library logs.
func TestOutputOfAProgramIsRecorded(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	p := guestPlan(t, guestLock(t), keyed("writes")+"clients: {a: {work: 1s}}\n")
	result, err := r.Run(p, 1, false)
	require.NoError(t, err)
	require.Equal(t, "writes: all is well", result.History.Notes[0].Text)
	p = guestPlan(t, guestLock(t), keyed("cannot-be-opened")+"clients: {a: {work: 1s}}\n")
	result, err = r.Run(p, 1, true)
	require.NoError(t, err)
	require.Equal(t, "no lock is to be had here", result.Events[0].Detail)
	require.Equal(t, "cannot set up its lock: no lock is to be had here", result.History.Notes[0].Text)
	require.Equal(t, history.Failed, result.History.Acquisitions[0].Outcome)
}

// TestReasonOfALibrarysRefusalIsKept in the words of the library, unless the reason is that others have the lock.
func TestReasonOfALibrarysRefusalIsKept(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for key, said := range map[string]string{"refuses": "the door is shut", "breaks": "the key does not fit", "lock": ""} {
		p := guestPlan(t, guestLock(t), keyed(key)+"clients: {a: {work: 5s}, b: {start: 1s, wait: try}}\n")
		result, err := r.Run(p, 1, false)
		require.NoError(t, err)
		refused := 0
		for _, a := range result.History.Acquisitions {
			if a.Outcome != history.OK {
				require.Equal(t, said, a.Said, key)
				refused++
			}
		}
		require.Positive(t, refused, key)
	}
	lock, _ := locks.Catalogue().Find("set-nx-lua")
	native := guestPlan(t, &lock, keyed("lock")+"clients: {a: {work: 5s}, b: {start: 1s, wait: try}}\n")
	result, err := r.Run(native, 1, false)
	require.NoError(t, err)
	require.Equal(t, history.Failed, result.History.Acquisitions[1].Outcome)
	require.Empty(t, result.History.Acquisitions[1].Said)
}

// TestProgramsAreRefusedWhatTheyCannotDo says so before a run.
func TestProgramsAreRefusedWhatTheyCannotDo(t *testing.T) {
	lock := guestLock(t)
	for _, refused := range []struct{ scenario, text string }{
		{"lock: {algorithm: guest}\nclients: {a: {tasks: 2}}\n", "want 1 task"},
		{"lock: {algorithm: guest, renew: 1s}\nclients: {a: {}}\n", "not known to prolong its leases"},
	} {
		_, err := harness.Compile(guestScenarioOf(t, refused.scenario).Cases()[0], harness.Options{Instead: lock})
		require.ErrorContains(t, err, refused.text)
	}
}

// guestScenario has in it what could let something else than scenario and seed into a run of a program.
const guestScenario = `
lock: {algorithm: guest, ttl: 2s}
clients: {a: {count: 3, sections: 2, work: 300ms, again: 50ms, wait: 1s}}
faults:
  - {after: {node: a-1, does: acquired}, pause: a-1, for: 3s}
  - {after: {node: a-2, does: acquired}, crash: a-2, restart: 200ms}
  - {at: 1s, clock: a-3, step: 10s}
`

func guestDigests(t *testing.T, r *harness.Runner, p *harness.Plan, seeds ...uint64) (digests []string) {
	t.Helper()
	for _, seed := range seeds {
		result, err := r.Run(p, seed, false)
		require.NoError(t, err)
		digests = append(digests, fmt.Sprintf("%d %016x", seed, result.Digest))
	}
	return digests
}

// TestAProgramsRunsDoNotKnowOfEachOther plays each alone, and after others that were cut short in their midst.
func TestAProgramsRunsDoNotKnowOfEachOther(t *testing.T) {
	lock := guestLock(t)
	p := guestPlan(t, lock, guestScenario)
	var alone []string
	for seed := range uint64(4) {
		var r harness.Runner
		alone = append(alone, guestDigests(t, &r, p, seed)...)
		r.Close()
	}
	var r harness.Runner
	defer r.Close()
	require.Equal(t, alone, guestDigests(t, &r, p, 0, 1, 2, 3))
	hoarding, err := r.Run(guestPlan(t, lock, keyed("hoards")+"clients: {a: {}}\n"), 1, false)
	require.NoError(t, err)
	require.Len(t, hoarding.History.Exits, 1)
	require.Equal(t, alone, guestDigests(t, &r, p, 0, 1, 2, 3))
}

// TestMemoryIsGivenBack plays a program that takes a third of what it may have, again and again.
func TestMemoryIsGivenBack(t *testing.T) {
	p := guestPlan(t, guestLock(t), keyed("needs-room")+"clients: {a: {work: 1s}}\n")
	var r harness.Runner
	defer r.Close()
	first := guestDigests(t, &r, p, 1)
	for range 4 {
		require.Equal(t, first, guestDigests(t, &r, p, 1))
	}
}

// TestWorkersShareAProgram has several of them play the same at once.
func TestWorkersShareAProgram(t *testing.T) {
	p := guestPlan(t, guestLock(t), guestScenario)
	var alone harness.Runner
	defer alone.Close()
	want := guestDigests(t, &alone, p, 0, 1, 2, 3)
	got := make([][]string, long.Pick(2, 2, 4))
	var workers sync.WaitGroup
	for i := range got {
		workers.Go(func() {
			var r harness.Runner
			defer r.Close()
			got[i] = guestDigests(t, &r, p, 0, 1, 2, 3)
		})
	}
	workers.Wait()
	for i := range got {
		require.Equal(t, want, got[i])
	}
}

// TestAProgramsDigestsAreTheSameInOtherProcesses is the guard of TestSameSeedSameBytesInOtherProcesses for client
// programs.
func TestAProgramsDigestsAreTheSameInOtherProcesses(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	var digests []string
	for _, text := range []string{guestScenario, connectedScenario} {
		digests = append(digests, guestDigests(t, &r, guestPlan(t, connectingLock(t), text), 0, 1, 2, 3)...)
	}
	here := strings.Join(digests, "\n")
	if os.Getenv(builtGuest) != "" {
		fmt.Println(here)
		return
	}
	code, err := guestCode()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "guest.wasm")
	require.NoError(t, os.WriteFile(file, code, 0o600))
	for _, env := range [][]string{{"GOMAXPROCS=1", "GOGC=10"}, {"GOMAXPROCS=8", "GOGC=off"}, {"GOMAXPROCS=2"}}[:long.Pick(1, 1, 3)] {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(append(os.Environ(), env...), builtGuest+"="+file)
		there, err := child.Output()
		require.NoError(t, err)
		require.Contains(t, string(there), here, env)
	}
}

// TestAnotherBuildOfAProgramIsTheSame builds it in two folders, and compares the bytes.
func TestAnotherBuildOfAProgramIsTheSame(t *testing.T) {
	long.Only(t)
	guestLock(t)
	source := filepath.Join("testdata", "guest")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Symlink(root, elsewhere))

	flags := []string{"-trimpath", "-buildvcs=false"}
	here, err := buildGuest(source, flags...)
	require.NoError(t, err)
	there, err := buildGuest(filepath.Join(elsewhere, "internal", "harness", source), flags...)
	require.NoError(t, err)
	require.True(t, bytes.Equal(here, there))
}
