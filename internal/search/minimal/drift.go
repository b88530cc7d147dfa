package minimal

import (
	"time"

	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// How far clocks may run apart is a matter of the lock, and how much more it takes in one scenario is a matter of when
// somebody happens to ask, and of how long messages take. So a rate is not made round but as small as it can be: a client
// that asks too early may ask at a better moment, and the network may be quick.

// slowerDrift makes the rates of clocks smaller: of all together if they can be equal, then each by itself.
func (r *reducer) slowerDrift() {
	var ids []string
	for _, k := range parameter.Of(r.now) {
		if k.Rate {
			ids = append(ids, k.ID)
		}
	}
	if len(ids) > 1 {
		for _, id := range ids {
			if k, ok := parameter.Find(r.now, id); ok && r.tryQuickly(turnAll(ids, k.Size())) {
				break
			}
		}
	}
	if equal := equalRates(r.now); len(equal) > 1 {
		r.slower(equal)
	}
	for _, id := range ids {
		r.slower([]string{id})
	}
}

// tryQuickly makes a change, perhaps in a quicker network, and at a better moment.
func (r *reducer) tryQuickly(change edit) bool {
	quickly := func(s *scenarios.Scenario) bool {
		s.Network.Latency = sim.Constant(time.Microsecond)
		return change(s)
	}
	return r.try(change) || r.tryLater(change) || r.tryLater(quickly) || r.tryShortlyBefore(quickly, 10*time.Microsecond)
}

// equalRates returns the rates of a scenario if there are several, all of one size.
func equalRates(s *scenarios.Scenario) []string {
	var ids []string
	size := int64(-1)
	for _, k := range parameter.Of(s) {
		switch {
		case !k.Rate:
			continue
		case size >= 0 && k.Size() != size:
			return nil
		}
		size = k.Size()
		ids = append(ids, k.ID)
	}
	return ids
}

// finestRate is the step in which rates are made smaller, in parts per million.
const finestRate = 10

// slower bisects for the smallest size of rates.
func (r *reducer) slower(ids []string) {
	k, ok := parameter.Find(r.now, ids[0])
	if !ok {
		return
	}
	low, high := int64(0), (k.Size()+finestRate-1)/finestRate
	for low+1 < high {
		middle := (low + high) / 2
		if r.tryQuickly(turnAll(ids, middle*finestRate)) {
			high = middle
		} else {
			low = middle
		}
	}
}

// turnAll sets the sizes of several numbers to one.
func turnAll(ids []string, size int64) edit {
	return func(s *scenarios.Scenario) bool {
		for _, id := range ids {
			k, ok := parameter.Find(s, id)
			if !ok {
				return false
			}
			k.Set(size)
		}
		return true
	}
}
