package minimal

import (
	"slices"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// fewerServers takes out servers, and what is unusual about those that are left.
func (r *reducer) fewerServers() {
	v := func(s *scenarios.Scenario) *scenarios.Servers { return &s.Servers }
	for _, change := range []edit{
		r.fewestServers,
		func(s *scenarios.Scenario) bool { spokenOfFirst(s); return r.fewestServers(s) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Cluster) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Sentinels) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Pool) },
	} {
		r.doWithout(change)
	}
	fewest := 0
	if r.asksOneInstead() {
		fewest = 1
	}
	r.fewerOfServers(func(s *scenarios.Scenario) *int { return &s.Servers.Replicas }, fewest)
	r.fewerOfServers(func(s *scenarios.Scenario) *int { return &s.Servers.Sentinels }, 1)
	r.fewerMasters()
	r.lower(func(s *scenarios.Scenario) *int { return &s.Servers.Pool }, 0)
	r.lower(func(s *scenarios.Scenario) *int { return &s.Servers.MinReplicas }, 0)
	for _, change := range []edit{
		func(s *scenarios.Scenario) bool { v(s).Disk = usualDisk; return true },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Persistence) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).MaxLag) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).FullSync) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Failover) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).DownAfter) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Leader) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).Tick) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).SyncLimit) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).KeepAlive) },
		func(s *scenarios.Scenario) bool { return unset(&v(s).IdleTimeout) },
	} {
		r.doWithout(change)
	}
}

// usualMajority is how many independent servers a reader expects at least: a majority of one or two would be none, and what
// is said of it would be said of a single server.
const usualMajority = 3

// fewestMasters is how many independent servers there are at least.
func (r *reducer) fewestMasters() int {
	if r.majority(r.now) {
		return usualMajority
	}
	return 1
}

// majority reports whether the lock asks a majority of the servers of a scenario.
func (r *reducer) majority(s *scenarios.Scenario) bool {
	lock, _ := r.sought.Options.Lock(s)
	return lock.Authority == locks.Majority
}

// asksOneInstead reports whether the lock would ask a majority if the servers did not replicate each other.
func (r *reducer) asksOneInstead() bool {
	apart := *r.now
	apart.Servers.Replicas, apart.Servers.Cluster = 0, false
	return !r.majority(r.now) && r.majority(&apart)
}

// fewestServers leaves the first of all servers, and what a majority needs; of an ensemble, as many as are usual.
func (r *reducer) fewestServers(s *scenarios.Scenario) bool {
	before, v := s.Servers.Names(), &s.Servers
	masters := min(v.Masters, r.fewestMasters())
	if r.asksOneInstead() {
		masters = usualMajority
	}
	v.Replicas, v.Sentinels, v.Pool, v.Cluster, v.Nodes, v.Leader = 0, 0, 0, false, 0, 0
	v.Masters = masters
	forgetServers(s, before)
	return len(s.Servers.Names()) < len(before)
}

// fewerOfServers tries smaller numbers of servers, the smallest first: as they are, or with those that are spoken of
// called by the first names, so that they are among those that stay.
func (r *reducer) fewerOfServers(in func(*scenarios.Scenario) *int, least int) {
	for n := least; n < *in(r.now); n++ {
		for _, change := range []func(*scenarios.Scenario){func(*scenarios.Scenario) {}, spokenOfFirst} {
			ok := r.doWithout(func(s *scenarios.Scenario) bool {
				change(s)
				before := s.Servers.Names()
				*in(s) = n
				forgetServers(s, before)
				return true
			})
			if ok {
				return
			}
		}
	}
}

// fewerMasters tries smaller numbers of independent servers, the smallest first, and for each number which of them may
// stay.
func (r *reducer) fewerMasters() {
	if v := &r.now.Servers; v.Replicas > 0 || v.Cluster {
		r.fewerOfServers(func(s *scenarios.Scenario) *int { return &s.Servers.Masters }, r.fewestMasters())
		return
	}
	names := r.now.Servers.Names()
	for n := r.fewestMasters(); n < r.now.Servers.Masters; n++ {
		for _, kept := range choices(names, n) {
			if r.try(func(s *scenarios.Scenario) bool { return keepServers(s, kept) }) {
				return
			}
		}
	}
}

// keepServers takes out all servers but some, which get the first names.
func keepServers(s *scenarios.Scenario, kept []string) bool {
	names := s.Servers.Names()
	forget(s, func(name string) bool { return slices.Contains(names, name) && !slices.Contains(kept, name) })
	rename(s, func(name string) string {
		if i := slices.Index(kept, name); i >= 0 {
			return names[i]
		}
		return name
	})
	s.Servers.Masters = len(kept)
	return true
}

// choices lists the ways to choose n of a few names.
func choices(names []string, n int) [][]string {
	const few = 7
	if n == 0 {
		return [][]string{nil}
	}
	var list [][]string
	for i := range min(len(names), few) {
		for _, rest := range choices(names[i+1:], n-1) {
			list = append(list, append([]string{names[i]}, rest...))
		}
	}
	return list
}

// forgetServers takes out what refers to servers that there are no longer.
func forgetServers(s *scenarios.Scenario, before []string) {
	names := s.Servers.Names()
	forget(s, func(name string) bool { return slices.Contains(before, name) && !slices.Contains(names, name) })
}

// spokenOfFirst gives the servers that something refers to the first names, in their order.
func spokenOfFirst(s *scenarios.Scenario) {
	names := s.Servers.Names()
	spoken := map[string]bool{}
	rename(s, func(name string) string { spoken[name] = true; return name })
	order := slices.Clone(names)
	slices.SortStableFunc(order, func(a, b string) int {
		switch {
		case spoken[a] && !spoken[b]:
			return -1
		case spoken[b] && !spoken[a]:
			return 1
		}
		return 0
	})
	rename(s, func(name string) string {
		if i := slices.Index(order, name); i >= 0 {
			return names[i]
		}
		return name
	})
}
