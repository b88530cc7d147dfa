package advise_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/advise"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func lock(t *testing.T, name string) locks.Algorithm {
	t.Helper()
	found, ok := locks.Catalogue().Find(name)
	require.True(t, ok, name)
	return found
}

// plan is that of a situation, with few seeds.
func plan(s *advise.Situation) advise.Plan {
	return advise.Plan{
		File: "my-case.yaml", Text: textOf(s), Situation: s, Locks: locks.Catalogue(), Seeds: long.Pick(10, 10, 60), Jobs: 2,
		Other: func(lock string, _ []byte) (string, error) { return "my-case-" + lock + ".yaml", nil },
	}
}

func textOf(s *advise.Situation) []byte {
	if s == nil {
		return nil
	}
	return s.File("my-case")
}

func found(t *testing.T, p advise.Plan) *advise.Report {
	t.Helper()
	if p.Situation != nil {
		require.NoError(t, p.Situation.Check())
		require.NoError(t, advise.Check(p.Text, p.Locks))
	}
	r, err := advise.For(t.Context(), p)
	require.NoError(t, err)
	confirm(t, &p, r)
	return r
}

// confirm plays what advice says again, run by run: it violates what it is said to violate, in as many runs, and nothing else.
func confirm(t *testing.T, p *advise.Plan, r *advise.Report) {
	t.Helper()
	var runner harness.Runner
	defer runner.Close()
	check := func(x *advise.Trial) {
		text := x.Text
		if text == nil {
			text = p.Text
		}
		s, err := scenarios.Parse(x.File, text, x.Changes...)
		require.NoError(t, err)
		require.Equal(t, s.Seed, x.Seeds.First, "run begins with the seed of the scenario")
		for _, c := range s.Cases() {
			said := x.At(c.Variant)
			require.NotNil(t, said, c.Variant)
			plan, err := harness.Compile(c, harness.Options{Locks: p.Locks})
			require.NoError(t, err)
			var violated [checker.PropertyCount]int
			for i := range x.Seeds.Count {
				result, err := runner.Run(plan, x.Seeds.First+uint64(i), false)
				require.NoError(t, err)
				for q, v := range result.Report.Verdicts {
					if v == checker.Violated {
						violated[q]++
					}
				}
			}
			for q := range checker.PropertyCount {
				require.Equal(t, violated[q], said.Counts[q].Violated, "%s: %s of %s", x.Command(), q, c.Variant)
			}
		}
	}
	check(r.Base)
	for i := range r.Advice {
		a := &r.Advice[i]
		check(a.Trial)
		require.Equal(t, r.Base.Seeds.Count, a.Trial.Seeds.Count, "advice is confirmed with all seeds")
		require.NotEqual(t, advise.Nothing, a.Grade)
		require.NotEmpty(t, a.Fixed)
		require.Equal(t, a.Grade == advise.Holds, !a.Trial.Violated(), "%s", a.What)
		for _, x := range a.Trial.Cases {
			if a.Grade == advise.Guards {
				require.Zero(t, x.Counts[checker.Resource].Violated)
			}
		}
	}
}

// of returns the advice of a kind, or about a lock.
func of(r *advise.Report, what string) []advise.Advice {
	var list []advise.Advice
	for _, a := range r.Advice {
		if a.Kind == what || a.Trial.Lock == what {
			list = append(list, a)
		}
	}
	return list
}

func one(t *testing.T, r *advise.Report, what string) advise.Advice {
	t.Helper()
	list := of(r, what)
	require.NotEmpty(t, list, "no advice on %s", what)
	return list[0]
}

// A row in a database with a lease of 8 s lets a pause take 3 s, just as the lock does that it would replace.
func TestALockThatHoldsByLuckIsNotAdvised(t *testing.T) {
	t.Parallel()
	r := found(t, plan(&advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 8 * time.Second, Work: 5 * time.Second, Pause: 3 * time.Second}))
	require.True(t, r.Base.Violated())
	require.Empty(t, of(r, "mysql-lease-row"))
	i := slices.IndexFunc(r.Useless, func(a advise.Advice) bool { return a.Trial.Lock == "mysql-lease-row" })
	require.Equal(t, 3*time.Second, r.Useless[i].Least().From)
	require.InDelta(t, 3100*time.Millisecond, r.Useless[i].Least().To, float64(100*time.Millisecond))
	require.Less(t, of(r, "ttl")[0].Reach[0].To, 4*time.Second, "the smallest number that helps is advised")
}

func useless(r *advise.Report) (kinds []string) {
	for _, a := range r.Useless {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

// between requires that a number that helps begins to do so between two others.
func between(t *testing.T, a advise.Advice, least, most time.Duration) {
	t.Helper()
	require.NotNil(t, a.Border)
	kept, err := time.ParseDuration(a.Border.Kept)
	require.NoError(t, err)
	require.GreaterOrEqual(t, kept, least, a.Border.Text())
	require.LessOrEqual(t, kept, most, a.Border.Text())
}

// The work takes longer than the lease, and nothing fails. A lease that is as long as the work does, or work as short as the lease; a
// renewed lease; a client that heeds its deadline; a resource that compares versions protects its data.
func TestALeaseThatIsTooShortForTheWork(t *testing.T) {
	t.Parallel()
	r := found(t, plan(&advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 4 * time.Second, Work: 5 * time.Second}))
	require.True(t, r.Base.Violated())
	between(t, one(t, r, "ttl"), 4900*time.Millisecond, 5200*time.Millisecond)
	between(t, one(t, r, "work"), 3800*time.Millisecond, 4050*time.Millisecond)
	require.Equal(t, advise.Holds, one(t, r, "watchdog").Grade)
	require.Equal(t, advise.Holds, one(t, r, "etcd").Grade)
	require.Equal(t, advise.Guards, one(t, r, "fencing").Grade)
	var paid []string
	for _, c := range r.Costs(&of(r, "ttl")[0]) {
		paid = append(paid, c.Measure)
	}
	require.Contains(t, paid, "next-holder-after-crash-ns")
}

// 5 s of work and a pause of 4 s take a second less than a lease of 10 s, and one second more than one of 8 s.
func TestAPauseThatIsLongerThanTheMargin(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 8 * time.Second, Work: 5 * time.Second, Pause: 4 * time.Second}
	r := found(t, plan(s))
	require.True(t, r.Base.Violated())
	between(t, one(t, r, "ttl"), 8900*time.Millisecond, 9200*time.Millisecond)
	between(t, one(t, r, "work"), 3800*time.Millisecond, 4050*time.Millisecond)
	require.Contains(t, useless(r), "style", "a client that is paused behind its last check does not stop")
	require.Equal(t, advise.Guards, one(t, r, "fencing").Grade)
}

// A watchdog that renews a lease of 8 s after 2.67 s lets a pause take what is left of the lease when it begins, after 5 s of work: 5.67 s.
// A connection does not end while its process is paused, however long.
func TestAdviceSaysHowFarItHolds(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 8 * time.Second, Work: 5 * time.Second, Pause: 4 * time.Second}
	r := found(t, plan(s))
	watchdog := one(t, r, "watchdog")
	require.Len(t, watchdog.Reach, 1)
	require.Positive(t, watchdog.Tried)
	m := watchdog.Reach[0]
	require.InDelta(t, 5600*time.Millisecond, m.Kept, float64(100*time.Millisecond))
	require.InDelta(t, 5700*time.Millisecond, m.To, float64(100*time.Millisecond))
	require.Equal(t, checker.MutualExclusion, m.Property)
	connection := one(t, r, "mysql-get-lock").Reach
	require.Len(t, connection, 1)
	require.Zero(t, connection[0].To)
	require.Equal(t, 64*time.Second, connection[0].Kept)
	require.Empty(t, one(t, r, "fencing").Reach, "it protects the data alone")
}

// A resource that compares tokens is not judged with a lock that hands out none: such a lock is no advice. One that hands them out is, and
// so is an application that does not make its mistake.
func TestWhatIsNotJudgedIsNoAdvice(t *testing.T) {
	text, err := scenarios.Text("token-passed-on")
	require.NoError(t, err)
	set := []scenarios.Change{{Path: "resource.fencing", Value: "fenced-write"}}
	r := found(t, advise.Plan{File: "token-passed-on", Text: text, Set: set, Locks: locks.Catalogue(), Seeds: 8, Jobs: 2})
	require.True(t, r.Base.Violated())
	require.Equal(t, advise.Holds, of(r, "application")[0].Grade)
	for _, x := range r.Advice {
		lock, known := locks.Catalogue().Find(x.Trial.Lock)
		require.True(t, known)
		compares := !slices.ContainsFunc(x.Trial.Changes, func(c scenarios.Change) bool {
			return c.Path == "resource.fencing" && (c.Value == "compare-and-set" || c.Value == "token-equality")
		})
		require.True(t, lock.Token || !compares, x.What)
	}
}

// The same with a lease of 10 s is safe, by the second that is left.
func TestASafeCaseHasAMargin(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 10 * time.Second, Work: 5 * time.Second, Pause: 4 * time.Second}
	r := found(t, plan(s))
	require.False(t, r.Base.Violated())
	require.Empty(t, r.Advice)
	i := slices.IndexFunc(r.Margins, func(m advise.Margin) bool { return strings.HasPrefix(m.What, "pause") })
	require.GreaterOrEqual(t, i, 0)
	require.InDelta(t, 5*time.Second, r.Margins[i].To, float64(150*time.Millisecond))
	require.Equal(t, "pause", r.Margins[i].Variant)
}

// Two clients wait for each other until a lease ends: one order is the remedy. Where they have it, and are only slow, it is none.
func TestOneOrderOfLocksIsAdvisedWhereThereAreTwo(t *testing.T) {
	text := `
name: two-orders
title: Two clients take two locks
lock: {algorithm: zk-sequential, ttl: 10s}
locks: {x: {}, z: {}}
servers: {kind: zookeeper}
clients:
  a: {takes: [x, z], between: 1s, work: 500ms}
  b: {takes: [z, x], between: 1s, start: 500ms, work: 500ms}
resource: {fencing: none}
network: {latency: 1ms}
progress: 5s
expect: {progress: held}
`
	advised := func(text string) *advise.Report {
		p := plan(nil)
		p.Text = []byte(text)
		return found(t, p)
	}
	order := one(t, advised(text), "order")
	require.Equal(t, advise.Holds, order.Grade)
	require.Equal(t, []scenarios.Change{{Path: "clients.b.takes", Value: "[x, z]"}}, order.Trial.Changes)

	slow := strings.NewReplacer("[z, x]", "[x, z]", "work: 500ms", "work: 7s").Replace(text)
	r := advised(slow)
	require.True(t, r.Base.Violated())
	require.Empty(t, of(r, "order"))
	require.NotContains(t, useless(r), "order")
}

// The master is lost before its replica has heard of the lock. No time to live helps, nor do clients that heed deadlines; a resource that
// compares versions protects its data, and servers that agree before they grant keep the lock.
func TestAFailoverOfAsynchronousReplicas(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{
		Lock: lock(t, "set-nx-lua"), TTL: 30 * time.Second, Work: 8 * time.Second, Sentinel: true, Failover: time.Second,
	}
	r := found(t, plan(s))
	require.True(t, r.Base.Violated())
	require.Empty(t, of(r, "ttl"))
	require.Subset(t, useless(r), []string{"ttl", "style"})
	require.Equal(t, advise.Guards, one(t, r, "fencing").Grade)
	require.Equal(t, advise.Holds, one(t, r, "zk-sequential").Grade)
	require.Equal(t, advise.Holds, one(t, r, "etcd").Grade)

	wait := one(t, r, "set-nx-lua-wait")
	require.Equal(t, advise.Holds, wait.Grade, "Sentinel promotes the replica that has acknowledged most")
	require.Contains(t, wait.What, "for 1 of 2")
	all := r.Useless[slices.IndexFunc(r.Useless, func(a advise.Advice) bool { return strings.Contains(a.What, "for 2 of 2") })]
	require.Equal(t, "failover", all.Stuck, "the new master has only one replica left")
	require.Contains(t, useless(r), "min-replicas", "the master thinks that its replicas are there for ten more seconds")
}

// A change that only keeps others from the lock, or from wanting it, is no advice: here b wants it after 3 s, so that a's shorter work is
// over before.
func TestShorterWorkThatNobodyWaitsForIsNoAdvice(t *testing.T) {
	t.Parallel()
	text, err := scenarios.Text("failover-lost-key")
	require.NoError(t, err)
	r := found(t, advise.Plan{File: "failover-lost-key", Text: text, Locks: locks.Catalogue(), Seeds: 8, Jobs: 2})
	require.True(t, r.Base.Violated())
	require.Empty(t, of(r, "work"))
	require.Equal(t, advise.Guards, one(t, r, "fencing").Grade)
}

// The clock of one of the three servers jumps 10 s ahead, so that its key expires: a lease that outlasts work and jump together does
// hold, and what servers write to disk does not matter.
func TestAClockJumpWithRedlock(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "redlock"), TTL: 8 * time.Second, Work: 4 * time.Second, Servers: 3, Step: 10 * time.Second}
	r := found(t, plan(s))
	require.True(t, r.Base.Violated())
	between(t, one(t, r, "ttl"), 13800*time.Millisecond, 14500*time.Millisecond)
	require.Empty(t, of(r, "persistence"))
	require.Equal(t, advise.Holds, one(t, r, "etcd").Grade, "its servers count leases by a monotonic clock")
}

// A server of three restarts without its data. It keeps them on disk, if each write is flushed, or stays down until the leases that it
// has forgotten are over, which is Redlock's own remedy.
func TestARestartWithRedlock(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "redlock"), TTL: 8 * time.Second, Work: 4 * time.Second, Servers: 3, Restart: time.Second}
	r := found(t, plan(s))
	require.True(t, r.Base.Violated())
	persistence := one(t, r, "persistence")
	require.Equal(t, advise.Holds, persistence.Grade)
	require.Equal(t, "always", persistence.Trial.Changes[0].Value)
	require.Contains(t, useless(r), "persistence", "everysec may lose the last second")
	between(t, one(t, r, "downtime"), 3800*time.Millisecond, 8*time.Second)
	require.Empty(t, of(r, "ttl"))
}

// TestFaultyLocksAreNeverAdvised plants a lock that keeps everything and is known to be faulty: it is never advised; the same lock
// without that remark is.
func TestFaultyLocksAreNeverAdvised(t *testing.T) {
	t.Parallel()
	s := &advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 4 * time.Second, Work: 5 * time.Second}
	for _, status := range []locks.Status{locks.Mistake, locks.Superseded, locks.Unavailable, locks.Usable} {
		planted := lock(t, "watchdog")
		planted.Name, planted.Status = "planted", status
		p := plan(s)
		p.Locks, p.Seeds = p.Locks.With(planted), 8
		r := found(t, p)
		require.Equal(t, status == locks.Usable, len(of(r, "planted")) > 0, status.String())
		for _, a := range r.Advice {
			known, ok := p.Locks.Find(a.Trial.Lock)
			require.True(t, ok)
			require.Equal(t, locks.Usable, known.Status, known.Name)
		}
	}
}

// TestRareViolationsAreNoGroundForAdvice has a case that is violated in about one run of six, and plays so few that a change which does
// nothing would often seem to help. More are played, and then only what helps is said to.
func TestRareViolationsAreNoGroundForAdvice(t *testing.T) {
	long.Only(t)
	s := &advise.Situation{Lock: lock(t, "set-nx-lua"), TTL: 8 * time.Second, Work: 5 * time.Second, Pause: 3 * time.Second}
	p := plan(s)
	p.Seeds = 8
	r := found(t, p)
	for i := range r.Base.Cases {
		if c := &r.Base.Cases[i]; c.Counts[checker.MutualExclusion].Violated > 0 {
			require.False(t, c.Seldom(checker.MutualExclusion))
			require.Less(t, c.Counts[checker.MutualExclusion].Violated, c.Counts[checker.MutualExclusion].Runs)
		}
	}
	require.Greater(t, r.Base.Seeds.Count, 8)
	require.Empty(t, of(r, "style"), "the pause comes behind the last check of any style")
	between(t, one(t, r, "ttl"), 8001*time.Millisecond, 8200*time.Millisecond)
}
