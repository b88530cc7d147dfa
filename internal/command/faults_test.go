package command_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/long"
)

// TestClocksOfProgramsAreWrongAsTheScenarioSays has a program read its clocks, wait until its wall clock shows 20 s more, and
// for 10 s. Between its wall and its monotonic clock are 1,577,736,800 s if they are right.
func TestClocksOfProgramsAreWrongAsTheScenarioSays(t *testing.T) {
	file := compiled(t, "clocks")
	for name, c := range map[string]struct {
		scenario, says string
		ends           time.Duration // in true time
	}{
		"right":             {"", "apart 1577736800000, until 20000 20000, for 30000 30000", 30 * time.Second},
		"ahead":             {"clocks: {a: {offset: 1h}}", "apart 1577740400000, until 20000 20000, for 30000 30000", 30 * time.Second},
		"fast":              {"clocks: {a: {rate: 25%}}", "apart 1577736800000, until 20000 20000, for 30000 30000", 24 * time.Second},
		"slow from 10 s on": {"faults: [{at: 10s, clock: a, rate: -50%}]", "apart 1577736800000, until 20000 20000, for 30000 30000", 50 * time.Second},
		"set ahead":         {"faults: [{at: 5s, clock: a, step: 10s}]", "apart 1577736800000, until 10000 20000, for 20000 30000", 20 * time.Second},
		"set far ahead":     {"faults: [{at: 5s, clock: a, step: 1h}]", "apart 1577736800000, until 5000 3605000, for 15000 3615000", 15 * time.Second},
		"set back":          {"faults: [{at: 5s, clock: a, step: -10s}]", "apart 1577736800000, until 30000 20000, for 40000 30000", 40 * time.Second},
		"both set ahead":    {"faults: [{at: 25s, clock: a, step: 3s, of: both}]", "apart 1577736800000, until 20000 20000, for 30000 30000", 27 * time.Second},
		"paused":            {"faults: [{at: 5s, pause: a, for: 1m}]", "apart 1577736800000, until 65000 65000, for 75000 75000", 75 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := play(t, plan(t, alone+"until: 10m\n"+c.scenario+"\n", file))
			require.NoError(t, err)
			require.Len(t, result.History.Exits, 1)
			exit := result.History.Exits[0]
			require.Equal(t, c.says, exit.Output)
			require.InDelta(t, float64(c.ends), float64(exit.At), float64(10*time.Millisecond))
		})
	}
}

// TestACrashKillsAllProcessesOfAProgram restarts a program twice: what it finds of its earlier lives is nothing.
func TestACrashKillsAllProcessesOfAProgram(t *testing.T) {
	program(t, "python3")
	said := filepath.Join(t.TempDir(), "pids")
	result, err := play(t, plan(t, "clients: {a: {work: 10s}}\n"+
		"faults: [{at: 1s, crash: a, restart: 3s}, {at: 6s, crash: a, restart: 2s}]\n", "python3", "testdata/lives.py", said))
	require.NoError(t, err)
	var notes []string
	for _, n := range result.History.Notes {
		if n.Node == "a" {
			notes = append(notes, n.Text)
		}
	}
	require.Equal(t, []string{"writes: alive 0", "writes: alive 0", "writes: alive 0"}, notes)
	require.Len(t, result.History.Acquisitions, 3)
	for i, crashed := range []time.Duration{time.Second, 6 * time.Second} {
		require.EqualValues(t, crashed, result.History.Acquisitions[i].Crashed)
	}
	require.Equal(t, "exits with status 5", result.History.Exits[0].Text)
}

// TestALongLeaseCostsWhatAShortOneCosts counts how often a program comes to rest, which is when time can jump, and the steps of its run.
func TestALongLeaseCostsWhatAShortOneCosts(t *testing.T) {
	for i, argv := range languages {
		t.Run(argv[0], func(t *testing.T) {
			if i > 0 {
				long.Only(t)
			}
			argv, wakes := built(t, argv), 0
			if argv[0] == "java" {
				argv = slices.Insert(argv, 1, quietJava(t)...)
				wakes = 540 / 2 // its two compilers look for work each five seconds, its cleaner each minute
			}
			cost := func(ttl time.Duration) (rests int64, steps int) {
				p := planOf(t, ttl, fmt.Sprintf("clients: {a: {work: %s}}\nuntil: 2h\n", ttl*9/10), argv...)
				result, err := play(t, p)
				require.NoError(t, err)
				require.Greater(t, time.Duration(result.Virtual), ttl*9/10)
				return p.Algorithm.Program.(*command.Program).Rests(), result.Steps
			}
			rests, steps := cost(10 * time.Second)
			longer, more := cost(10 * time.Minute)
			require.InDelta(t, steps, more, float64(wakes))
			require.InDelta(t, rests, longer, float64(3+6*wakes)) // a thread that is about to wait may be seen once more
			require.Less(t, rests, int64(100))
		})
	}
}

// quietJava returns what docs/languages.md tells to give Java, whose own threads wake many times a second.
func quietJava(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/languages.md")
	require.NoError(t, err)
	options := regexp.MustCompile(`-XX:[^` + "`" + `\n]*`).Find(page)
	require.NotEmpty(t, options)
	return strings.Fields(string(options))
}

// TestCallsThatAreNotGivenVirtualTimeAreNamed has a program make each of them: nothing is known of such a run.
func TestCallsThatAreNotGivenVirtualTimeAreNamed(t *testing.T) {
	file := compiled(t, "refused")
	for _, call := range []string{
		"timerfd_create", "timer_settime", "setitimer", "alarm", "semtimedop", "mq_timedsend", "mq_timedreceive", "recvmmsg", "io_getevents",
		"futex_waitv", "execve after SO_RCVTIMEO",
	} {
		if call == "alarm" && runtime.GOARCH != "amd64" {
			continue // others have no such call
		}
		result, err := play(t, plan(t, alone, file, call))
		require.NoError(t, err)
		require.Equal(t, "calls that cannot be given virtual time ("+call+")", result.History.Bound)
	}
	result, err := play(t, plan(t, alone, file, "none"))
	require.NoError(t, err)
	require.Empty(t, result.History.Bound)
}

// compiled compiles a C program.
func compiled(t *testing.T, name string) string {
	t.Helper()
	return compiledBy(t, "cc", name)
}

// compiledBy does so for the C library of a compiler.
func compiledBy(t *testing.T, compiler, name string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(compiler, "is not installed")
	}
	file := filepath.Join(t.TempDir(), name)
	out, err := exec.Command(compiler, "-O1", "-Wall", "-o", file, "testdata/"+name+".c", "-pthread").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// TestNobodyWakesEarlyWhileOthersCompute has a thread sleep for an hour while others hand a token round. Time does not move for
// these, and the hour passes for the sleeper.
func TestNobodyWakesEarlyWhileOthersCompute(t *testing.T) {
	file := compiled(t, "ring")
	t.Setenv("SDK", "1")
	for seed := range long.Pick(2, 4, 100) {
		count := filepath.Join(t.TempDir(), "count")
		require.NoError(t, os.WriteFile(count, make([]byte, 64), 0o600))
		result, err := play(t, plan(t, alone+"until: 2h\n", file, strconv.Itoa(seed), "1000", count))
		require.NoError(t, err)
		require.Len(t, result.History.Exits, 1)
		require.Equal(t, "round for 0, slept 0, 3600000", result.History.Exits[0].Output, "seed %d", seed)
	}
}
