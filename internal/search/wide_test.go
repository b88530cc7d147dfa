package search_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func TestAWideModelSuitsEveryLock(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	for _, lock := range locks.Catalogue().All() {
		model := search.Wide(&lock, search.Kinds())
		for n := range uint64(20) {
			search.Play(&r, search.Generate(search.Seeded(n), model), harness.Options{},
				func(c scenarios.Case, _ *harness.Result, err error) bool {
					require.NoError(t, err, "%s", c.Scenario.YAML())
					return true
				})
		}
	}
}

// TestClientsOfLibrariesThatConnectBeginConnectedInMostScenarios compares what is drawn for such a lock with what is drawn for the same
// lock without it.
func TestClientsOfLibrariesThatConnectBeginConnectedInMostScenarios(t *testing.T) {
	lock := locks.Algorithm{Name: "library", Authority: locks.OneNode, Lease: true, Sentinel: true, Cluster: true}
	other := lock
	lock.Connects = true
	model, plain := search.Wide(&lock, search.Kinds()), search.Wide(&other, search.Kinds())
	connected, could := 0, 0
	for n := range uint64(800) {
		s, without := search.Generate(search.Seeded(n), model), search.Generate(search.Seeded(n), plain)
		if s.Servers.Sentinels > 0 || s.Servers.Cluster {
			require.Equal(t, without, s)
			continue
		}
		could++
		if s.Clients[0].Connected {
			connected++
		}
		for i := range without.Clients {
			without.Clients[i].Connected = s.Clients[0].Connected
		}
		require.Equal(t, without, s)
	}
	require.InDelta(t, could*7/8, connected, 40)
	model.Beside = []locks.Algorithm{other}
	for n := range uint64(20) {
		require.False(t, search.Generate(search.Seeded(n), model).Clients[0].Connected, "beside one that does not connect")
	}
}

func TestFaultsAreAddedToABase(t *testing.T) {
	base, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	added, violated := 0, false
	for n := range uint64(50) {
		s := search.Generate(search.Seeded(n), search.FaultModel{Base: base, Faults: search.Kinds()})
		require.Equal(t, base.Clients, s.Clients)
		require.Equal(t, base.Servers, s.Servers)
		require.Equal(t, base.Resource, s.Resource)
		require.Equal(t, base.Faults, s.Faults[:len(base.Faults)])
		added += len(s.Faults) - len(base.Faults)
		read, err := scenarios.Parse("added.yaml", s.YAML())
		require.NoError(t, err, "%s", s.YAML())
		require.Equal(t, string(s.YAML()), string(read.YAML()))
		search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, result *harness.Result, err error) bool {
			require.NoError(t, err)
			violated = violated || result.Report.Verdicts[checker.Resource] == checker.Violated
			return true
		})
	}
	require.Positive(t, added)
	require.True(t, violated)
}

// TestAWideMenuHasTheDeploymentsThatItsKindsCallFor counts what is drawn for one lock of each kind of servers.
func TestAWideModelHasTheDeploymentsThatItsKindsCallFor(t *testing.T) {
	type drawn struct {
		*scenarios.Scenario
		on *scenarios.Servers
	}
	for _, c := range []struct {
		lock string
		kind search.Kind
		what string
		is   func(drawn) bool
	}{
		{"set-nx-lua", search.Partition, "watched by Sentinels", func(s drawn) bool { return s.on.Sentinels == 3 }},
		{"set-nx-lua", search.Partition, "a cluster", func(s drawn) bool { return s.on.Cluster }},
		{"set-nx-lua", search.Failover, "with a replica", func(s drawn) bool { return s.on.Replicas == 1 }},
		{"set-nx-lua", search.PowerLoss, "writing a file", func(s drawn) bool { return s.on.Persistence == "everysec" }},
		{"set-nx-lua", search.ClientPause, "a hanging worker", func(s drawn) bool { return s.Clients[0].Hangs }},
		{"set-nx-lua", search.ServerCrash, "a server gone for good", func(s drawn) bool {
			return len(s.Faults) > 0 && s.Faults[0].Action.Kind == sim.Crash && s.Faults[0].Action.Restart == 0
		}},
		{"zk-sequential", search.PowerLoss, "a lazy disk", func(s drawn) bool { return s.on.Persistence == "lazy" }},
		{"zk-sequential", search.Cut, "data in the ensemble", func(s drawn) bool { return s.Resource.Guarded }},
		{"mysql-get-lock", search.Cut, "keep-alive", func(s drawn) bool { return s.on.KeepAlive > 0 }},
		{"mysql-get-lock", search.Cut, "an idle time-out", func(s drawn) bool { return s.on.IdleTimeout > 0 }},
		{"pg-advisory", search.Cut, "a pooler", func(s drawn) bool { return s.on.Pool > 0 }},
		{"consul", search.Cut, "no lock-delay", func(s drawn) bool { return *s.Lock.LockDelay == 0 }},
	} {
		lock, ok := locks.Catalogue().Find(c.lock)
		require.True(t, ok)
		model, n := search.Wide(&lock, []search.Kind{c.kind}), 0
		const draws = 400
		for k := range uint64(draws) {
			if s := search.Generate(search.Seeded(k), model); c.is(drawn{s, &s.Servers}) {
				n++
			}
		}
		require.Positive(t, n, "%s: never %s", c.lock, c.what)
		require.Less(t, n, draws, "%s: always %s", c.lock, c.what)
	}
}

// A library that prolongs its leases may hold forever, and that others then wait is no finding.
func TestNobodyHangsWhoseLibraryProlongsItsLease(t *testing.T) {
	for renews, most := range map[bool]int{false: 40, true: 0} {
		lock := locks.Algorithm{Name: "library", Program: library{}, Lease: true, Renews: renews}
		model, hangs := search.Wide(&lock, []search.Kind{search.ClientPause}), 0
		for k := range uint64(400) {
			if slices.ContainsFunc(search.Generate(search.Seeded(k), model).Clients, func(c scenarios.Client) bool { return c.Hangs }) {
				hangs++
			}
		}
		require.Equal(t, renews, hangs == 0)
		require.LessOrEqual(t, hangs, most)
	}
}

// TestWorkLongerThanTheLeaseLeavesRoomForOtherCauses counts scenarios in which somebody works for longer than the lease.
func TestWorkLongerThanTheLeaseLeavesRoomForOtherCauses(t *testing.T) {
	share := func(name string, kinds ...search.Kind) int {
		lock, ok := locks.Catalogue().Find(name)
		require.True(t, ok)
		model, overruns := search.Wide(&lock, kinds), 0
		for n := range uint64(100) {
			s := search.Generate(search.Seeded(n), model)
			if slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return c.Work >= s.Lock.TTL }) {
				overruns++
			}
		}
		return overruns
	}
	seldom := share("set-nx-lua", search.Delay)
	require.Greater(t, seldom, 10)
	require.Less(t, seldom, 40)
	for _, often := range []int{
		share("set-nx-lua"), share("zk-sequential", search.Delay), share("watchdog", search.Delay), share("redlock", search.Delay),
	} {
		require.Greater(t, often, 40, "there is nothing else, or it breaks nothing")
	}
}

// library is a program that brings a lock.
type library struct{}

func (library) Digest() string { return "library" }

// TestALibraryIsDeployedAsItsClientKnows draws Sentinels and clusters for those that have clients of them, in place of independent
// servers too, and for others replicas behind an address.
func TestALibraryIsDeployedAsItsClientKnows(t *testing.T) {
	for _, lock := range []locks.Algorithm{
		{Name: "plain", Authority: locks.OneNode}, {Name: "failover", Authority: locks.OneNode, Sentinel: true},
		{Name: "any", Authority: locks.OneNode, Sentinel: true, Cluster: true}, {Name: "majority", Authority: locks.Majority},
		{Name: "majority-any", Authority: locks.Majority, Sentinel: true, Cluster: true},
	} {
		lock.Program = library{}
		var replicas, independent, sentinels, clusters int
		m := search.Wide(&lock, search.Kinds())
		for seed := range uint64(400) {
			switch s := search.Generate(search.Seeded(seed), m).Servers; {
			case s.Cluster:
				clusters++
			case s.Sentinels > 0:
				require.Equal(t, 1, s.Masters)
				sentinels++
			case s.Replicas > 0:
				replicas++
			case s.Masters > 1:
				independent++
			}
		}
		require.Equal(t, lock.Sentinel, sentinels > 10, "%s: %d", lock.Name, sentinels)
		require.Equal(t, lock.Cluster, clusters > 10, "%s: %d", lock.Name, clusters)
		require.Equal(t, lock.Authority == locks.OneNode, replicas > 50, "%s: %d", lock.Name, replicas)
		require.Equal(t, lock.Authority == locks.Majority, independent > 50, "%s: %d", lock.Name, independent)
	}
	require.Empty(t, search.Wide(&locks.Algorithm{Program: library{}}, search.Kinds(search.Failover, search.Lag)).Replicas)
}

func TestALibraryThatExtendsIsToldToNowAndThen(t *testing.T) {
	told := func(lock locks.Algorithm) (n int) {
		m := search.Wide(&lock, search.Kinds())
		for seed := range uint64(100) {
			if search.Generate(search.Seeded(seed), m).Lock.Renew > 0 {
				n++
			}
		}
		return n
	}
	require.InDelta(t, 33, told(locks.Algorithm{Name: "library", Program: library{}, Extends: true}), 15)
	require.Zero(t, told(locks.Algorithm{Name: "library", Program: library{}}))
}

// TestOthersTakeWhatAHolderHasLost: drawn on purpose, others mostly take the lock while its holder stands still, and either have
// released it when the holder goes on, or hold it then. Little else goes wrong.
func TestOthersTakeWhatAHolderHasLost(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	const runs = 200
	between := func(m search.FaultModel) (released, held int) {
		for seed := range uint64(runs) {
			s := search.Generate(search.Seeded(seed), m)
			search.Play(&r, s, harness.Options{}, func(_ scenarios.Case, run *harness.Result, err error) bool {
				require.NoError(t, err)
				switch f := run.History.Faults; {
				case len(f) == 1 && cameBetween(run.History):
					released++
				case 0 < len(f) && len(f) < 3 && holdsAfter(run.History, &f[len(f)-1]):
					held++
				}
				return true
			})
		}
		return released, held
	}
	for _, lock := range []string{"set-nx-lua", "watchdog", "redlock", "etcd", "memcached-cas"} {
		m := search.FaultModel{Lock: lock, Faults: search.Kinds(), Between: 1}
		released, held := between(m)
		require.Greater(t, released, runs/3, lock)
		require.Greater(t, held, runs/10, lock)
		m.Between = 0
		released, held = between(m)
		require.Less(t, released+held, runs/10, lock)
		m.Between, m.Within = 1, 80
		released, held = between(m)
		require.Less(t, released+held, runs/10, "%s: no holder may lose its lease", lock)
	}
}

// holdsAfter reports whether somebody acquired while a pause held another up, and holds when it is over.
func holdsAfter(h *history.History, f *history.Fault) bool {
	return slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
		return a.Outcome == history.OK && f.Begin < a.Returned && a.Returned < f.End && f.End < a.Unlocked
	})
}

// cameBetween reports whether somebody acquired and released while the only fault, a pause, held a holder up.
func cameBetween(h *history.History) bool {
	f := &h.Faults[0]
	return slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
		return a.Outcome == history.OK && a.Returned > f.Begin && a.Released < f.End && a.Release == history.OK
	}) && slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
		return a.Outcome == history.OK && a.Returned <= f.Begin && a.Unlocked >= f.End
	})
}

// TestAStallBesideACutCountsTwice: a packet that the cut has lost is sent again as late as one stall after the stall is over.
func TestAStallBesideACutCountsTwice(t *testing.T) {
	stalls := 0
	for seed := range uint64(500) {
		m := search.FaultModel{Lock: "set-nx-lua", Faults: []search.Kind{search.Cut, search.Stall}, Within: 80, Pairs: 2}
		s := search.Generate(search.Seeded(seed), m)
		held := time.Duration(0)
		for i := range s.Faults {
			held += 2 * s.Faults[i].For
			if s.Faults[i].Action.Kind == sim.Stall {
				stalls++
			}
		}
		require.LessOrEqual(t, held, s.Lock.TTL*80/100, "%s", s.YAML())
	}
	require.Greater(t, stalls, 100)
}
