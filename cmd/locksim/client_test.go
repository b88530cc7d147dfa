package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const mine = "../../clients/testdata/mine"

// said runs a command, and returns its exit code, its output and its complaints.
func said(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = runIn(t.Context(), plainEnv(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestWhatIsFoundInLibrariesIsStillThere(t *testing.T) {
	long.Only(t)
	files, err := filepath.Glob("../../clients/testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	told, err := os.ReadFile("../../clients/FINDINGS.md")
	require.NoError(t, err)
	for i, file := range files {
		if i%long.Every(1, 3) != 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			require.Contains(t, string(told), filepath.Base(file), "the argument from the library's source is missing")
			if tooLarge(filepath.Base(file)) {
				t.Skip("played with LONG=5 only")
			}
			code, out, problems := said(t, "run", file, "--no-margin")
			if code == exitUsage && strings.Contains(problems, "cannot be had in version") {
				t.Skip(problems)
			}
			require.Equal(t, exitOK, code, "%s\n%s", out, problems)
			require.Contains(t, problems, "the library's own code (")
		})
	}
}

// tooLarge reports whether a test is not to build a client, or play a scenario of it: client-go takes minutes to compile, the
// others half a minute each.
func tooLarge(name string) bool {
	large := slices.ContainsFunc([]string{"aws-sdk-s3", "client-go", "consul-api", "dynamolock", "etcd-mutex"}, func(client string) bool { return strings.HasPrefix(name, client) })
	return large && long.Pick(0, 0, 1) < 5
}

// A violation is made smaller to one of its own cause: Lock returns what is over, and in each there is a plainer story, of
// a holder that stands still.
func TestALockThatIsOverWhenItReturnsIsAFindingOfItsOwn(t *testing.T) {
	long.Only(t)
	for _, c := range []struct{ scenario, says string }{
		{"go-zookeeper-ghost", "takes the grant, which has ended, for its own"},
		{"redislock-late-reply", "which has ended, and believes that it holds the lock"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			text, err := os.ReadFile("../../clients/testdata/" + c.scenario + ".yaml")
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), c.scenario+".yaml")
			require.NoError(t, os.WriteFile(file, text, 0o600))
			code, out, problems := said(t, "fuzz", file, "--faults", "none", "--runs", "1", "--property", "mutual-exclusion",
				"--save", filepath.Dir(file))
			require.Equal(t, exitDiffers, code, "%s\n%s", out, problems)
			require.Contains(t, out, "is violated: stale acquisition")
			require.Contains(t, out, "cause: a lock that is over when Lock returns; 1 hit")
			require.Contains(t, strings.Join(strings.Fields(out), " "), c.says)
			saved, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*-mutual-exclusion-*.yaml"))
			require.NoError(t, err)
			require.Len(t, saved, 1)
			text, err = os.ReadFile(saved[0])
			require.NoError(t, err)
			require.Regexp(t, `\n# What brings the lock is a program of github\.com/\S+ v[^\n]*, with the digest [0-9a-f]{16}\.\n`, string(text))
		})
	}
}

// TestLibrariesAreSeenToHold holds that an observer sees what each library is granted: that is what their keys and
// authorities in the catalogue of clients are for.
func TestLibrariesAreSeenToHold(t *testing.T) {
	long.Only(t)
	known := []string{"redsync", "redislock"} // those that other tests compile, which takes a minute under the race detector
	for _, c := range clients.Catalogue() {
		if !long.Enabled() && !slices.Contains(known, c.Lock.Name) || tooLarge(c.Lock.Name) {
			continue
		}
		lock := built(t, c.Lock.Name)
		for _, s := range contended(t, &lock) {
			t.Run(c.Lock.Name+" on "+s.Servers.Words(), func(t *testing.T) {
				first, second := playedOnce(t, s, &lock, 1), playedOnce(t, s, &lock, 1)
				require.Equal(t, first.Digest, second.Digest)
				require.Len(t, first.History.Acquisitions, 2)
				require.Len(t, first.History.Grants, 2)
				for i := range first.History.Grants {
					a := first.History.Acquisition(first.History.Grants[i].Acquisition)
					require.NotNil(t, a)
					require.LessOrEqual(t, first.History.Grants[i].From, a.Returned)
				}
				for _, p := range []checker.Property{checker.MutualExclusion, checker.ExclusionAtService} {
					require.Equal(t, checker.Held, first.Report.Verdicts[p], p)
				}
			})
		}
	}
}

// TestWhatIsGivenUpIsGivenBackInTheEnd answers the Unlock with an error that follows a Lock which came too late. The program that
// brings go-zookeeper sends it, since Lock cannot be told to stop, so a lock that stayed would not be the library's mistake.
func TestWhatIsGivenUpIsGivenBackInTheEnd(t *testing.T) {
	long.NotShort(t)
	s, err := scenarios.Parse("late", []byte(`name: late
lock: {algorithm: go-zookeeper}
servers: {kind: zookeeper}
clients: {a: {start: 1ms}, b: {wait: 10ms, stays: true}}
network: {latency: 1ms}
faults:
  - {before: {node: zk-3, does: execute, what: release}, error: throttledOp}
`))
	require.NoError(t, err)
	lock := built(t, "go-zookeeper")
	result := playedOnce(t, s, &lock, 2)
	require.True(t, result.History.Faults[0].Fired)
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.Leak])
}

// TestLibrariesFindTheMasterThroughSentinels plays libraries with their own clients of Sentinels. If the replica has the key in
// time, the next client meets it at the new master; else it is granted the lock a second time.
func TestLibrariesFindTheMasterThroughSentinels(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	s, err := scenarios.Load("sentinel-lost-key")
	require.NoError(t, err)
	for _, name := range []string{"redislock", "redsync"}[:long.Pick(1, 1, 2)] {
		lock := built(t, name)
		for i, want := range []checker.Verdict{checker.Violated, checker.Held} {
			plan, err := harness.Compile(s.Cases()[i], harness.Options{Instead: &lock})
			require.NoError(t, err)
			var r harness.Runner
			result, err := r.Run(plan, 1, true)
			r.Close()
			require.NoError(t, err)
			require.Equal(t, want, result.Report.Verdicts[checker.MutualExclusion], "%s, %s", name, s.Cases()[i].Variant)
			require.Equal(t, want, result.Report.Verdicts[checker.ExclusionAtService], "%s, %s", name, s.Cases()[i].Variant)
			require.True(t, slices.ContainsFunc(result.Events, func(e trace.Event) bool {
				return e.Node == "b" && e.Does == trace.Send && e.What == "SENTINEL"
			}), "%s asks no Sentinel", name)
		}
	}
}

// TestLibrariesFindTheMasterOfTheirKeyInACluster has them dial a node by a name that another has told, and follow the key to
// the replica that takes its master's place: it has the key, or has never heard of it.
func TestLibrariesFindTheMasterOfTheirKeyInACluster(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	const text = `name: cluster
lock: {algorithm: redislock, ttl: 20s}
servers: {kind: redis, masters: 3, replicas: 1, cluster: true, down-after: 2s}
clients: {a: {work: 15s}, b: {start: 6s, work: 1s}}
faults:
  - {name: death, after: {node: a, does: acquired}, plus: 1s, crash: redis-1}
`
	const lag = "  - {name: lag, at: 0s, stall: {from: redis-1, to: redis-4, oneway: true}}\n"
	for _, name := range []string{"redislock", "redsync"}[:long.Pick(1, 1, 2)] {
		lock := built(t, name)
		for faults, want := range map[string]checker.Verdict{"": checker.Held, lag: checker.Violated} {
			s, err := scenarios.Parse("cluster", []byte(text+faults))
			require.NoError(t, err)
			result := playedOnce(t, s, &lock, 1)
			require.Len(t, result.History.Acquisitions, 2)
			require.Equal(t, want, result.Report.Verdicts[checker.MutualExclusion], "%s\n%s", name, faults)
			require.Equal(t, want, result.Report.Verdicts[checker.ExclusionAtService], "%s\n%s", name, faults)
		}
	}
}

func TestRedsyncKeepsItsPromiseWhenRepliesAreLate(t *testing.T) {
	t.Parallel()
	lock := built(t, "redsync")
	for n := range long.Pick(2, 3, 100) {
		random := rand.New(rand.NewPCG(uint64(n), 0))
		s := contended(t, &lock)[0]
		for range 1 + random.IntN(4) {
			s.Faults = append(s.Faults, sim.Fault{
				Trigger: sim.Trigger{
					When: sim.Before, Nth: random.IntN(4),
					Step: sim.Pattern{Node: fmt.Sprintf("redis-%d", 1+random.IntN(3)), Does: trace.Reply},
				},
				Action: sim.Action{Kind: sim.Delay, By: time.Duration(random.Int64N(int64(2 * s.Lock.TTL)))},
			})
		}
		report := playedOnce(t, s, &lock, uint64(n)).Report
		for _, p := range []checker.Property{checker.MutualExclusion, checker.ExclusionAtService, checker.ReleaseSafety} {
			require.NotEqual(t, checker.Violated, report.Verdicts[p], "%v in\n%s", p, s.YAML())
		}
	}
}

// built is a lock that a client brings.
func built(t *testing.T, name string) locks.Algorithm {
	t.Helper()
	lock, err := clients.Build(t.Context(), name)
	require.NoError(t, err)
	return lock
}

// contended is scenarios in which two careful clients want a lock, one for each way to deploy its servers.
func contended(t *testing.T, lock *locks.Algorithm) (all []*scenarios.Scenario) {
	t.Helper()
	servers, ttl := []string{"{masters: 1}"}, "4s"
	switch lock.Authority {
	case locks.Majority:
		servers[0] = "{masters: 3}"
	case locks.Queue:
		servers[0] = "{kind: zookeeper}"
	default:
		if lock.Servers != "" {
			servers[0] = "{kind: " + lock.Servers + "}"
		}
		if lock.Servers == "consul" {
			ttl = "10s" // it has no shorter sessions
		}
	}
	if lock.Sentinel {
		servers = append(servers, "{replicas: 1, sentinels: 3}", "{replicas: 1}")
	}
	if lock.Cluster {
		servers = append(servers, "{masters: 3, replicas: 1, cluster: true}")
	}
	for _, deployed := range servers {
		s, err := scenarios.Parse("contended", []byte("name: contended\nlock: {algorithm: "+lock.Name+", ttl: "+ttl+", key: billing}\n"+
			"servers: "+deployed+"\n"+
			"clients: {a: {work: 100ms, again: 1s}, b: {start: 50ms, work: 100ms, again: 1s}}\nstyles: careful\n"))
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

func playedOnce(t *testing.T, s *scenarios.Scenario, lock *locks.Algorithm, seed uint64) harness.Result {
	t.Helper()
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: lock})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(plan, seed, false)
	require.NoError(t, err)
	return result
}

func TestAProgramOfOnesOwnIsFuzzedByItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	campaign := []string{"fuzz", "--client", mine, "--runs", "16", "--faults", "none", "--save", dir, "--ledger", ledger}
	if !long.Enabled() {
		campaign = append(campaign, "--property", "survival") // to minimize what else is found takes most of the time
	}
	code, out, problems := said(t, campaign...)
	require.Contains(t, []int{exitOK, exitDiffers}, code, problems)
	require.Contains(t, out, "16 runs of "+mine)
	require.Contains(t, problems, "compiled to WebAssembly")

	text, err := os.ReadFile(ledger)
	require.NoError(t, err)
	lock := built(t, mine)
	digest := lock.Program.Digest()
	require.Contains(t, string(text), `"program":"`+digest+`"`)
	other := bytes.ReplaceAll(text, []byte(digest), []byte("another"))
	other = regexp.MustCompile(`(?m) [0-9a-f]{8}$`).ReplaceAll(other, nil) // as ledgers without checksums have it
	require.NoError(t, os.WriteFile(ledger, other, 0o644))
	code, _, problems = said(t, append(campaign, "--resume")...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, problems, "another version of its program")
}

func TestClientsThatCannotBePlayedAreRefused(t *testing.T) {
	for _, c := range []struct{ client, problem string }{
		{"silent", "it does not speak to the simulation: import github.com/locksim/locksim/guest, and call guest.Register"},
		{"unregistered", "guest.Register"},
		{"library", "it is package library, and a program is package main"},
		{"broken", "it does not compile\n  # example.test/broken\n  ./main.go:8:30: undefined: nobody"},
		{"elsewhere", "it cannot be built: golang.org/x/sys/windows is missing\n  build constraints exclude all Go files"},
		{"mainless", "it has no func main: add func main() {}"},
		{"unready", "the program of client a exits with status 1, before it asks for the lock for the first time\nno configuration\n"},
		{"nowhere", "--client ../../clients/testdata/nowhere: no such folder"},
	} {
		t.Run(c.client, func(t *testing.T) {
			code, out, problems := said(t, "fuzz", "--client", "../../clients/testdata/"+c.client, "--runs", "1")
			require.Equal(t, exitUsage, code)
			require.Empty(t, out)
			require.Contains(t, problems, c.problem)
		})
	}
	t.Run("no toolchain", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		code, _, problems := said(t, "fuzz", "redislock@v0.9.2", "--runs", "1") // one that no other test builds
		require.Equal(t, exitUsage, code)
		require.Contains(t, problems, "there is no go command in PATH")
	})
	t.Run("no such version", func(t *testing.T) {
		code, _, problems := said(t, "run", "lease-overrun", "--lock", "redislock@nine")
		require.Equal(t, exitUsage, code)
		require.Contains(t, problems, `"nine" is no version of github.com/bsm/redislock`)
	})
}

const fragile = "../../clients/testdata/fragile"

// The program panics when a request is not answered in time, which takes a fault.
func TestAProgramThatEndsItselfIsFoundAndToldWithItsOutput(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	dir := t.TempDir()
	campaign := []string{"fuzz", "--client", fragile, "--runs", strconv.Itoa(long.Pick(16, 16, 64)), "--save", dir, "--format", "json"}
	if !long.Enabled() {
		campaign = append(campaign, "--property", "survival") // to minimize what else is found takes most of the time
	}
	code, out, problems := said(t, campaign...)
	require.Equal(t, exitDiffers, code, problems)
	var r struct {
		Findings []struct{ Property, Cause, Kind, Scenario, Story, Output string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	list := slices.DeleteFunc(r.Findings, func(f struct{ Property, Cause, Kind, Scenario, Story, Output string }) bool {
		return f.Property != "survival"
	})
	require.Len(t, list, 1, "whichever faults it takes")
	found := list[0]
	require.Equal(t, "panic in main.answered", found.Kind)
	require.Equal(t, found.Kind, found.Cause)
	require.Contains(t, found.Story, "panics: fragile: no answer in time")
	require.Contains(t, found.Output, "goroutine 1 [running]:\nmain.answered(")
	require.NotContains(t, out+problems, "locksim/workload")

	code, out, problems = said(t, "run", found.Scenario)
	require.Equal(t, exitOK, code, problems)
	require.Contains(t, out, "its output:\n      panic: fragile: no answer in time")
	text, err := os.ReadFile(found.Scenario)
	require.NoError(t, err)
	for _, expect := range []string{"", "expect: {mutual-exclusion: vacuous}\n"} { // that it lives goes without saying
		unaware := filepath.Join(dir, "unaware.yaml")
		silent := strings.ReplaceAll(string(text), "expect: {survival: violated}\n", expect)
		require.NoError(t, os.WriteFile(unaware, []byte(silent), 0o644))
		code, out, problems = said(t, "run", unaware)
		require.Equal(t, exitDiffers, code, problems)
		require.Contains(t, out, "survival is violated, which is not expected")
		code, out, problems = said(t, "run", unaware, "--format", "json")
		require.Equal(t, exitDiffers, code, problems)
		require.Contains(t, out, `"output":"panic: fragile: no answer in time`)
	}
}

func TestAProgramThatEndsItselfIsCountedAmongWhatGoesWrong(t *testing.T) {
	long.Only(t)
	dir := t.TempDir()
	code, out, problems := said(t, "measure", fragile, "--runs", "64", "--faults", "server-pause", "--save", dir)
	require.Equal(t, exitOK, code, problems)
	require.Regexp(t, `survival +[1-9]`, out)
	require.Contains(t, out, "# panic in main.answered")
	code, once, problems := said(t, "measure", mine, "--runs", "8", "--faults", "server-pause", "--save", dir)
	require.Equal(t, exitOK, code, problems)
	code, twice, problems := said(t, "measure", mine, mine, "--runs", "8", "--faults", "server-pause", "--save", dir)
	require.Equal(t, exitOK, code, problems)
	require.Equal(t, strings.Count(once, mine), strings.Count(twice, mine))
	code, _, problems = said(t, "measure", "../../clients/testdata/unready", "--runs", "64")
	require.Equal(t, exitUsage, code)
	require.Contains(t, problems, "before it asks for the lock for the first time")
	code, out, problems = said(t, "explore", fragile, "--faults", "delay", "--stop-at-first", "--property", "survival", "--save", dir)
	require.Equal(t, exitDiffers, code, problems)
	require.Contains(t, out, "panic: fragile: no answer in time")
}
