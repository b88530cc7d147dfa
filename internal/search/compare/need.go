package compare

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// conditions are what locks may need for two holders never to be there at once: a lock that is broken by one of the kinds of
// faults needs it. What breaks a lock by itself is no condition; nor is it if all that comes of the faults is a holder that
// continues past its lease, which no server can keep from it.
var conditions = []struct {
	kinds []search.Kind
	text  string
}{
	{[]search.Kind{search.ServerCrash}, "servers that come back with what they granted"},
	{[]search.Kind{search.PowerLoss}, "disks that are written before a grant is answered"},
	{[]search.Kind{search.Evict}, "servers that never give keys up for room"},
	{[]search.Kind{search.Failover, search.Partition, search.Lag}, "servers that lose no grant when another one takes over"},
	{[]search.Kind{search.ServerAhead, search.ServerBack}, "servers' clocks that do not jump"},
	{[]search.Kind{search.ClientClock}, "clients' clocks that do not jump"},
	{[]search.Kind{search.Drift}, "clocks that run at nearly the same rate"},
	{[]search.Kind{search.SameRandom}, "clients that draw different random numbers"},
}

// need says of each lock what it needs, by what breaks it.
func (c *comparer) need() {
	for i := range c.plan.Locks {
		l := &c.out.Comparison.Locks[i]
		l.Needs = []string{servers(&c.plan.Locks[i], &c.facts[i])}
		if base := c.at(l.Name, noFaults, checker.MutualExclusion); base == nil || base.Outcome == Violated {
			continue
		}
		for _, condition := range conditions {
			if slices.ContainsFunc(condition.kinds, func(k search.Kind) bool {
				cell := c.at(l.Name, k.String(), checker.MutualExclusion)
				return cell != nil && cell.Outcome == Violated && !c.late[cell]
			}) {
				l.Needs = append(l.Needs, condition.text)
			}
		}
	}
}

// servers says on what a lock lives.
func servers(lock *locks.Algorithm, f *facts) string {
	switch {
	case lock.Authority == locks.Majority && f.fewest > 2:
		return "independent Redis servers, more than a majority of which are up"
	case lock.Authority == locks.Majority:
		return "independent Redis servers, a majority of which is up"
	case lock.Authority == locks.Replicated:
		return "a Redis master, and replicas that acknowledge"
	}
	return scenarios.Kind(lock.Backend()).Facts().Place
}

// at returns a cell without fencing, or in the first mode if there is none without; nil if it was not asked for.
func (c *comparer) at(lock, column string, p checker.Property) *Cell {
	return c.in(lock, column, p, c.plan.Fencing[0])
}

// in returns a cell; nil if it was not asked for.
func (c *comparer) in(lock, column string, p checker.Property, mode history.Fencing) *Cell {
	i, ok := c.index[place{lock, column, mode.String(), p.String()}]
	if !ok {
		return nil
	}
	return &c.out.Comparison.Cells[i]
}
