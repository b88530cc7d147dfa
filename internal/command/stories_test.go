package command_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// story is a named scenario that is played with programs, and what lock they have.
type story struct {
	scenario string
	twin     string // the lock of the catalogue that has the same algorithm
	lock     locks.Algorithm
	argv     [][]string // the same algorithm in each language
}

// Redlock in the same languages as a lock on one server. Of ZooKeeper only Python and Java have clients here: without a library there is
// no session.
var stories = []story{
	{"lease-overrun", "set-nx-lua", onRedis(nil), languages},
	{"failover-lost-key", "set-nx-lua", onRedis(nil), languages},
	{"redlock-crash-restart", "redlock", onRedis(func(a *locks.Algorithm) { a.Authority = locks.Majority }), [][]string{
		{python, "testdata/redlock.py"}, {"node", "testdata/redlock.js"}, {"java", "testdata/Redlock.java"},
		{"ruby", "testdata/redlock.rb"}, {"php", "testdata/redlock.php"}, {"g++", "testdata/redlock.cpp"},
	}},
	{"zk-gc-pause", "zk-sequential", locks.Algorithm{
		Servers: "zookeeper", Authority: locks.Queue, Identity: "own node", Lease: true, Token: true,
		Key: func(o locks.Options) string { return "/locks/" + o.Key },
	}, [][]string{{python, "testdata/zookeeper.py"}, {"java", "../../programs/curator/Client.java"}}},
	{"etcd-lease-expired", "etcd", onEtcd(true), [][]string{{python, "testdata/folder.py", "etcd"}}},
	{"etcd-lease-expired", "etcd", onEtcd(true), [][]string{{python, "testdata/etcd.py"}}},
	{"etcd-lock-after-lease-lost", "etcd-no-recheck", onEtcd(false), [][]string{{python, "testdata/folder.py", "etcd-lock-service"}}},
	{"sentinel-lost-key", "", onRedis(func(a *locks.Algorithm) { a.Sentinel = true }), [][]string{{python, "testdata/deployed.py"}}},
	{"cluster-minority-master", "", onRedis(func(a *locks.Algorithm) { a.Cluster = true }), [][]string{{python, "testdata/deployed.py"}}},
}

// python is the one that has Debian's libraries.
const python = "/usr/bin/python3"

// onEtcd is a lock that is the first key in a queue.
func onEtcd(token bool) locks.Algorithm {
	return locks.Algorithm{Servers: "etcd", Authority: locks.Queue, Identity: "lease", Lease: true, Keeps: true, Renews: true, Token: token}
}

// onRedis is a lock with a value and a lease.
func onRedis(but func(*locks.Algorithm)) locks.Algorithm {
	a := locks.Algorithm{
		Servers: "redis", Authority: locks.OneNode, Identity: "value", Lease: true, Deadline: locks.OnMonotonic,
		Key: func(o locks.Options) string { return o.Key },
	}
	if but != nil {
		but(&a)
	}
	return a
}

// TestProgramsHaveTheVerdictsOfTheSimulation plays named scenarios with the same algorithm in each language: what is judged comes out
// the same, for the same reason.
func TestProgramsHaveTheVerdictsOfTheSimulation(t *testing.T) {
	for _, story := range stories {
		for i, argv := range story.argv {
			t.Run(story.scenario+" "+filepath.Base(argv[0]), func(t *testing.T) {
				t.Parallel()
				if i > 0 {
					long.Only(t)
				}
				lock := story.lock
				lock.Program = program(t, built(t, argv)...)
				lock.Name, lock.Title = "program", "a program"
				lock.Token = lock.Token && i == 0
				violated := false
				for _, c := range story.cases(t, i, &lock) {
					simulated := harness.Options{}
					if twin, found := (locks.Set{}).Find(story.twin); found {
						simulated.Instead = &twin
					}
					want, got := verdicts(t, &c, simulated), verdicts(t, &c, harness.Options{Instead: &lock})
					if story.twin == "set-nx-lua" { // it does not tell its lease's end, so that an overrun is its own fault
						for of := range want {
							want[of] = strings.ReplaceAll(want[of], "(lock)", "(application)")
						}
					}
					if !lock.Token {
						want[checker.FencingOrder] = checker.NotJudged.String()
					}
					require.Equal(t, want, got, "%s %s", c.Variant, c.Fencing)
					violated = violated || strings.HasPrefix(got[checker.MutualExclusion], checker.Violated.String())
				}
				require.True(t, violated)
			})
		}
	}
}

// cases are those whose resource asks for nothing that a lock does not have: all of the first language in the long form, else one.
func (s *story) cases(t *testing.T, language int, lock *locks.Algorithm) (list []scenarios.Case) {
	t.Helper()
	of, err := scenarios.Load(s.scenario)
	require.NoError(t, err)
	for _, c := range of.Cases() {
		if c.Style == history.Careless && (lock.Token || !c.Fencing.NeedsToken()) {
			list = append(list, c)
		}
	}
	if all := long.Pick(0, 0, 1); all > 1 || all > 0 && language == 0 {
		return list
	}
	return list[:1]
}

// verdicts returns those on what is about locks rather than about how they release, each with the kinds of what violates it, and who took
// part, as they are of a program.
func verdicts(t *testing.T, c *scenarios.Case, o harness.Options) map[checker.Property]string {
	t.Helper()
	p, err := harness.Compile(*c, o)
	require.NoError(t, err)
	result, err := play(t, p)
	require.NoError(t, err)
	found := map[checker.Property]string{}
	for _, of := range []checker.Property{checker.MutualExclusion, checker.ExclusionAtService, checker.Resource, checker.FencingOrder} {
		found[of] = result.Report.OfProgram().Verdicts[of].String()
		for i := range result.Report.Violations {
			if v := &result.Report.Violations[i]; v.Property == of {
				found[of] += fmt.Sprintf(", %s (%s)", v.Kind, v.Broken)
				var took []string
				for _, id := range v.Acquisitions {
					took = append(took, result.History.Acquisition(id).Client)
				}
				slices.Sort(took)
				found[of] += " " + strings.Join(took, " ")
			}
		}
	}
	return found
}

// TestAKeyInEtcdThatIsWrittenAgainIsAnothersLock has a program write the key whether or not it is there; its twin looks.
func TestAKeyInEtcdThatIsWrittenAgainIsAnothersLock(t *testing.T) {
	s, err := scenarios.Parse("test.yaml", []byte("name: x\nlock: {algorithm: etcd, ttl: 10s}\nservers: {kind: etcd}\n"+
		"clients: {a: {work: 5s}, b: {start: 1s, work: 5s}}\n"))
	require.NoError(t, err)
	for _, x := range []struct {
		argv []string
		want checker.Verdict
	}{
		{[]string{python, "testdata/etcd.py", "whatever"}, checker.Violated},
		{[]string{python, "testdata/etcd.py"}, checker.NotSeen},
	} {
		lock := onEtcd(true)
		lock.Name, lock.Title, lock.Program = "program", "a program", program(t, x.argv...)
		p, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &lock})
		require.NoError(t, err)
		result, err := play(t, p)
		require.NoError(t, err)
		for _, of := range []checker.Property{checker.MutualExclusion, checker.ExclusionAtService} {
			require.Equal(t, x.want, result.Report.OfProgram().Verdicts[of], "%v %v", x.argv, of)
		}
		require.Equal(t, x.want == checker.Violated, result.Report.OfProgram().Verdicts[checker.ReleaseSafety] == checker.Violated)
	}
}
