package locktest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// promiseOfLock is a promise of a lock of the catalogue.
func promiseOfLock(t *testing.T, name string, p Promise) (*subject, *pledge) {
	t.Helper()
	a, _ := locks.Catalogue().Find(name)
	s, err := examine(a.New(locks.Options{}), Options{})
	require.NoError(t, err)
	list := s.promises()
	i := slices.IndexFunc(list, func(x pledge) bool { return x.Name == p })
	require.GreaterOrEqual(t, i, 0, "%s is not asked of %s", p, name)
	return s, &list[i]
}

func TestWhatIsDrawnForAPromiseIsWhatItAllows(t *testing.T) {
	for _, name := range []string{
		"set-nx-lua", "watchdog", "redlock", "set-nx-lua-wait", "zk-sequential", "etcd", "consul", "chubby", "hazelcast-fenced", "memcached-cas",
		"mysql-get-lock", "mysql-lease-row", "pg-advisory", "mongo-ttl",
	} {
		a, _ := locks.Catalogue().Find(name)
		s, err := examine(a.New(locks.Options{}), Options{})
		require.NoError(t, err, name)
		list := s.promises()
		for i := range list {
			p := &list[i]
			for n := range uint64(50) {
				drawn := p.draw(search.Seeded(n))
				require.True(t, p.allows(drawn), "%s of %s\n%s", p.Name, name, drawn.YAML())
				again := p.draw(search.FromBytes(p.bytes(byte(i), search.Seeded(n))[1:]))
				require.Equal(t, string(drawn.YAML()), string(again.YAML()), "bytes of %s of %s", p.Name, name)
			}
		}
	}
}

// TestAShortLeaseLeavesTimeForMessages draws for a lease of which a message of 5 ms is a twentieth.
func TestAShortLeaseLeavesTimeForMessages(t *testing.T) {
	a, _ := locks.Catalogue().Find("set-nx-lua")
	s, err := examine(a.New(locks.Options{TTL: 100 * time.Millisecond}), Options{})
	require.NoError(t, err)
	list := s.promises()
	for i := range list {
		for n := range uint64(20) {
			drawn := list[i].draw(search.Seeded(n))
			require.LessOrEqual(t, slowest(drawn), time.Millisecond, list[i].Name)
			require.True(t, list[i].allows(drawn), "%s", drawn.YAML())
		}
	}
}

func TestWhatLeavesThePremiseOfAPromiseIsNotAllowed(t *testing.T) {
	for _, c := range []struct {
		lock   string
		of     Promise
		what   string
		change func(*scenarios.Scenario)
	}{
		{"redlock", Availability, "three servers", func(s *scenarios.Scenario) { s.Servers.Masters = 3 }},
		{"set-nx-lua-wait", Progress, "no replica", func(s *scenarios.Scenario) { s.Servers.Replicas = 0 }},
		{"set-nx-lua", ExclusionWithinLease, "no disk", func(s *scenarios.Scenario) { s.Servers.Persistence = "" }},
		{"set-nx-lua", ExclusionWithinLease, "longer work", func(s *scenarios.Scenario) { s.Clients[0].Work = s.Lock.TTL }},
		{"set-nx-lua", ExclusionWithinLease, "a shorter lease", func(s *scenarios.Scenario) { s.Lock.TTL /= 10 }},
		{"set-nx-lua", ExclusionWithinLease, "slow messages", func(s *scenarios.Scenario) { s.Network.Latency = sim.Constant(s.Lock.TTL / 50) }},
		{"set-nx-lua", ExclusionWithinLease, "a fast clock", func(s *scenarios.Scenario) {
			s.Clocks = []scenarios.Clock{{Node: "a", Rate: 6_000}}
		}},
		{"set-nx-lua", ExclusionWithinLease, "a long pause", func(s *scenarios.Scenario) {
			s.Faults = []sim.Fault{{Action: sim.Action{Kind: sim.Pause, Node: "a"}, For: s.Lock.TTL}}
		}},
		{"zk-sequential", ExclusionWithinSession, "slow ticks", func(s *scenarios.Scenario) { s.Servers.Tick = 2 * time.Second }},
		{"zk-sequential", ExclusionOfLostWaiters, "the holder is lost", func(s *scenarios.Scenario) {
			s.Faults[0].Action.Node = s.Faults[0].Trigger.Step.Node
		}},
		{"etcd", ExclusionOfLostWaiters, "somebody is lost at some time", func(s *scenarios.Scenario) {
			s.Faults[0].Trigger = sim.Trigger{At: s.Lock.TTL}
		}},
		{"etcd", ExclusionOfLostWaiters, "a short section", func(s *scenarios.Scenario) { s.Clients[0].Work = 0 }},
		{"etcd", Progress, "a message that is very late", func(s *scenarios.Scenario) {
			s.Faults = []sim.Fault{{Action: sim.Action{Kind: sim.Delay, By: 2 * s.Lock.TTL}}}
		}},
	} {
		_, p := promiseOfLock(t, c.lock, c.of)
		drawn := p.draw(search.Seeded(1))
		require.True(t, p.allows(drawn))
		c.change(drawn)
		require.False(t, p.allows(drawn), "%s of %s: %s", c.of, c.lock, c.what)
	}
}

// TestWhatIsMadeSmallIsStillAllowed has wrong locks found, and looks at what is left.
func TestWhatIsMadeSmallIsStillAllowed(t *testing.T) {
	for _, c := range []struct {
		lock  string
		of    Promise
		right string // which must survive what is left
	}{
		{"etcd-no-recheck", ExclusionOfLostWaiters, "etcd"},
		{"redlock-no-drift", ExclusionUntilDeadline, "redlock"},
		{"set-nx-get-del", ReleaseSafety, "set-nx-lua"},
		{"zk-sequential-no-recheck", ExclusionWithinSession, "zk-sequential"},
	} {
		a, _ := locks.Catalogue().Find(c.lock)
		found, err := Check(a.New(locks.Options{}), Options{Only: []Promise{c.of}})
		require.NoError(t, err)
		require.NotNil(t, found, c.lock)
		_, p := promiseOfLock(t, c.lock, c.of)
		require.True(t, p.allows(found.Scenario), "%s", found.Scenario.YAML())
		b, _ := locks.Catalogue().Find(c.right)
		kept, err := Replay(b.New(locks.Options{}), Options{}, "saved.yaml", found.Scenario.YAML())
		require.NoError(t, err)
		require.Nil(t, kept, "%s", kept)
	}
}

func TestSettingsOfDisksAreLeftOutWhereTheyDoNotMatter(t *testing.T) {
	a, _ := locks.Catalogue().Find("set-nx-get-del")
	found, err := Check(a.New(locks.Options{}), Options{Only: []Promise{ReleaseSafety}})
	require.NoError(t, err)
	require.Empty(t, found.Scenario.Servers.Persistence)
	require.Equal(t, "honest", found.Scenario.Servers.Disk)
}

func TestASavedScenarioIsAskedOfLocksThatMakeItsPromiseOnly(t *testing.T) {
	wrong, _ := locks.Catalogue().Find("set-nx-get-del")
	found, err := Check(wrong.New(locks.Options{}), Options{Only: []Promise{ReleaseSafety}})
	require.NoError(t, err)
	for _, c := range []struct {
		lock    string
		options Options
		why     string
	}{
		{"etcd", Options{}, "it is of a lock on redis"},
		{"set-nx-get-del", Options{Waive: []Promise{ReleaseSafety}}, "release-safety"},
		{"set-nx-get-del", Options{TTL: time.Second}, "its lease is 10s, not 1s"},
	} {
		a, _ := locks.Catalogue().Find(c.lock)
		again, err := Replay(a.New(locks.Options{}), c.options, "saved.yaml", found.Scenario.YAML())
		require.ErrorIs(t, err, ErrNotAsked)
		require.ErrorContains(t, err, c.why)
		require.Nil(t, again)
	}
}

func TestNamesOfTestsAreFoldersAndPatterns(t *testing.T) {
	test := "TestLock/a_[b*]/../it's"
	require.Equal(t, "testdata/locktest/TestLock/a_[b_]/_/it_s", folder(test))
	require.Equal(t, `go test -run '^TestLock$/^a_\[b\*\]$/^\.\.$/^it'\''s$/^saved$/^1f\.yaml$'`,
		replayLine(test, folder(test)+"/1f.yaml"))
}

func TestADeadlineIsCountedFromTheFirstRequest(t *testing.T) {
	s, err := examine(func(p locks.Process) (locks.Lock, error) { return &tardy{p}, nil }, Options{})
	require.NoError(t, err)
	require.Zero(t, s.Allowance)
}

// tardy is a lock that waits before its first request.
type tardy struct{ p locks.Process }

func (l *tardy) Acquire(time.Duration) (locks.Lease, error) {
	l.p.Sleep(time.Second)
	sent := l.p.Monotonic()
	if reply, err := l.p.Redis(0).Do(time.Second, "SET", "lock", "x", "NX", "PX", "10000"); err != nil || !reply.OK() {
		return locks.Lease{}, locks.ErrNotAcquired
	}
	return locks.Lease{Value: "x", Deadline: locks.MonotonicDeadline(sent.Add(10 * time.Second))}, nil
}

func (l *tardy) Release(locks.Lease) error {
	_, err := l.p.Redis(0).Do(time.Second, "DEL", "lock")
	return err
}

// skipped is a test that notes why it was skipped.
type skipped struct{ why string }

func (s *skipped) Skip(reasons ...any) { s.why = fmt.Sprint(reasons...) }

func TestAPromiseThatWasNeverAtRiskIsSkipped(t *testing.T) {
	for _, c := range []struct {
		dangers int
		why     string
	}{
		{1, ""},
		{0, "kept in 7 schedules, at risk in 0: nothing that it is to survive ever happened, so this says nothing"},
	} {
		var test skipped
		(&tally{runs: 7, dangers: c.dangers}).own(&test)
		require.Equal(t, c.why, test.why)
	}
}

func TestALeaseIsAsLongAsItIsMeantToBe(t *testing.T) {
	for _, c := range []struct{ seen, meant time.Duration }{
		{10*time.Second + 2*time.Millisecond, 10 * time.Second},
		{10*time.Second - 2*time.Millisecond, 10 * time.Second},
		{12500 * time.Millisecond, 12500 * time.Millisecond},
		{1003 * time.Millisecond, time.Second},
		{750 * time.Millisecond, 750 * time.Millisecond},
		{10 * time.Minute, 10 * time.Minute},
	} {
		require.Equal(t, c.meant, meant(c.seen))
	}
}

func TestASoundLockIsPutToAllSchedulesInTwoParts(t *testing.T) {
	for _, c := range []struct{ all, first int }{{0, 0}, {1, 1}, {9, 1}, {10, 1}, {25, 2}, {1000, 100}} {
		from, to := brief.of(c.all)
		require.Equal(t, []int{0, c.first}, []int{from, to})
		from, to = atLength.of(c.all)
		require.Equal(t, []int{c.first, c.all}, []int{from, to})
	}
}

func TestALockThatIsNeverFreeAgainDoesNotTakeLong(t *testing.T) {
	var long, cut tally
	long.steps, cut.undecided = briefSteps+1, mostUndecided
	require.True(t, brief.enough(&long))
	require.False(t, atLength.enough(&long))
	require.True(t, atLength.enough(&cut))
	require.False(t, brief.enough(&tally{steps: briefSteps}))
}

func TestFaultsThatAreLeftOutForOneLockAreThereForOthers(t *testing.T) {
	a, _ := locks.Catalogue().Find("consul")
	for _, only := range [][]string{{"drift"}, nil} {
		s, err := examine(a.New(locks.Options{}), Options{Faults: only})
		require.NoError(t, err)
		list := s.promises()
		for i := range list {
			for _, kinds := range list[i].Focus {
				require.Equal(t, only != nil, len(kinds) == 0, "%s with %v", list[i].Name, only)
			}
		}
	}
}

func TestAPassSaysWhatWasNeverDrawnAndNeverExposed(t *testing.T) {
	a, _ := locks.Catalogue().Find("set-nx-lua")
	s, err := examine(a.New(locks.Options{}), Options{Only: []Promise{ReleaseSafety, Progress}})
	require.NoError(t, err)
	list := s.promises()
	tallies := make([]tally, len(list))
	for i := range list {
		tallies[i] = tally{runs: 1, dangers: one(list[i].Name == Progress)}
	}
	require.Equal(t, "never drawn: same-random; never exposed: release-safety", s.never(list, tallies))
	require.Equal(t, "never drawn: same-random", s.never(list, make([]tally, len(list))), "not asked")
	s.options.Only = nil
	tallies = slices.Repeat([]tally{{dangers: 1}}, len(s.promises()))
	require.Equal(t, "never drawn: same-random", s.never(s.promises(), tallies))
	s.verifies = true
	require.Contains(t, s.never(s.promises(), tallies), "; never called: Verify (")
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestMessagesArriveInTimeForALockThatWaitsForLittle draws for a Redlock that waits 25 ms for an answer: 10 ms each way, and as much for a
// connection, would let it never have one.
func TestMessagesArriveInTimeForALockThatWaitsForLittle(t *testing.T) {
	a, _ := locks.Catalogue().Find("redlock")
	s, err := examine(a.New(locks.Options{Timeout: 25 * time.Millisecond}), Options{})
	require.NoError(t, err)
	list := s.promises()
	for i := range list {
		for n := range uint64(50) {
			require.LessOrEqual(t, slowest(list[i].draw(search.Seeded(n))), 5*time.Millisecond, list[i].Name)
		}
	}
}
