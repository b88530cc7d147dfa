package harness_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The child process of the tests below is this test binary: with the first variable set it prints the digests of
// every case, with the second the whole trace of one.
const (
	printDigests = "LOCKSIM_PRINT_DIGESTS"
	printTrace   = "LOCKSIM_PRINT_TRACE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(printDigests) != "":
		fmt.Print(strings.Join(digests(), "\n"))
	case os.Getenv(printTrace) != "":
		fmt.Print(traceOf(os.Getenv(printTrace)))
	default:
		os.Exit(long.RunWaiting(m))
	}
}

const digestSeeds = 3

// caseName names a case and a seed in one word.
func caseName(c scenarios.Case, seed uint64) string {
	return fmt.Sprintf("%s/%s/%v/%v/%d", c.Scenario.Name, strings.ReplaceAll(c.Variant, " ", "_"), c.Style, c.Fencing, seed)
}

// eachCase calls f for every case of every named scenario and every seed, with one runner for all.
func eachCase(f func(name string, run func(r *harness.Runner, keep bool) harness.Result)) {
	for _, name := range scenarios.Names() {
		s, err := scenarios.Load(name)
		must(err)
		for _, c := range s.Cases() {
			p, err := harness.Compile(c, harness.Options{})
			must(err)
			for seed := range uint64(digestSeeds) {
				f(caseName(c, seed), func(r *harness.Runner, keep bool) harness.Result {
					result, err := r.Run(p, seed, keep)
					must(err)
					return result
				})
			}
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// digests are those of all cases and seeds, played once by one runner.
var digests = sync.OnceValue(func() []string {
	var lines []string
	var r harness.Runner
	defer r.Close()
	eachCase(func(name string, run func(*harness.Runner, bool) harness.Result) {
		lines = append(lines, digestLine(name, run(&r, false)))
	})
	return lines
})

func digestLine(name string, r harness.Result) string { return fmt.Sprintf("%s %016x", name, r.Digest) }

func traceOf(wanted string) string {
	var text strings.Builder
	eachCase(func(name string, run func(*harness.Runner, bool) harness.Result) {
		if name != wanted {
			return
		}
		var r harness.Runner
		defer r.Close()
		for _, e := range run(&r, true).Events {
			fmt.Fprintf(&text, "%v %v %016x %s\n", e.At, e.Step, e.Sum, e.Detail)
		}
	})
	return text.String()
}

// TestSameSeedSameBytesInOtherProcesses is the guard that matters most: hashes, addresses and global seeds differ
// only between processes.
func TestSameSeedSameBytesInOtherProcesses(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	here := digests()
	require.NotEmpty(t, here)
	envs := [][]string{{"GOMAXPROCS=8", "GOGC=off"}, {"GOMAXPROCS=1", "GOGC=10"}}
	for _, env := range envs[:long.Pick(1, 1, 2)] {
		there := strings.Split(string(child(t, append(env, printDigests+"=1"))), "\n")
		require.Len(t, there, len(here))
		for i := range here {
			if here[i] == there[i] {
				continue
			}
			name, _, _ := strings.Cut(here[i], " ")
			t.Fatalf("%v: %s there, %s here; %s", env, there[i], here[i],
				firstDifference(traceOf(name), string(child(t, append(env, printTrace+"="+name)))))
		}
	}
}

func child(t *testing.T, env []string) []byte {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, stderr.String())
	return out
}

func firstDifference(a, b string) string {
	one, other := bufio.NewScanner(strings.NewReader(a)), bufio.NewScanner(strings.NewReader(b))
	for step := 1; one.Scan(); step++ {
		if !other.Scan() || one.Text() != other.Text() {
			return fmt.Sprintf("they differ first in step %d:\n  here:  %s\n  there: %s", step, one.Text(), other.Text())
		}
	}
	return "their traces are equal when run alone: a run is not independent of those before it"
}

// TestRunsDoNotKnowOfEachOther runs every case with a runner of its own, and keeps the trace: neither may matter.
func TestRunsDoNotKnowOfEachOther(t *testing.T) {
	t.Parallel()
	shared, played := digests(), 0
	eachCase(func(name string, run func(*harness.Runner, bool) harness.Result) {
		if played++; played%long.Every(5, 1) == 0 {
			var alone harness.Runner
			defer alone.Close()
			require.Equal(t, shared[0], digestLine(name, run(&alone, true)))
		}
		shared = shared[1:]
	})
	require.Empty(t, shared)
}

// TestDigestSeesTheSeed makes sure that equal digests mean something.
func TestDigestSeesTheSeed(t *testing.T) {
	seen := make(map[string]bool)
	for _, line := range digests() {
		name, digest, _ := strings.Cut(line, " ")
		key := name[:strings.LastIndex(name, "/")] + " " + digest
		require.False(t, seen[key], "two seeds of %s have one digest", name)
		seen[key] = true
	}
	require.NotEmpty(t, seen)
}

// TestDigestsAreTheSameOnEveryMachine holds the digests against those that are kept in the repository, so that a build
// server of another architecture compares itself with all others. They change with every change of behaviour; UPDATE=1
// rewrites them.
func TestDigestsAreTheSameOnEveryMachine(t *testing.T) {
	sums := make(map[string]*trace.Digest)
	for _, line := range digests() {
		name, _, _ := strings.Cut(line, "/")
		if sums[name] == nil {
			sums[name] = &trace.Digest{}
		}
		sums[name].String(line)
	}
	var text strings.Builder
	for _, name := range scenarios.Names() {
		fmt.Fprintf(&text, "%016x %s\n", sums[name].Sum(), name)
	}
	const file = "testdata/digests"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "if the behaviour has changed: UPDATE=1 go test ./harness")
}
