package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// serverFailed reports whether a server broke its promise by what no lock allows for: it lost or evicted what it had granted, did not know what another
// had, or its clock is ahead. For a fast clock a lock may allow, by the deadline that it states.
func (r *reducer) serverFailed(c *Counterexample) bool {
	v := r.seen.violation
	switch {
	case c.Property == checker.ReleaseSafety: // a release is to tell what is its own
		return false
	case r.endedByClock() != "":
		return true
	case v.Broken != checker.Server:
		return c.Property == checker.Resource && r.losesResource()
	case v.Gone == history.Kept && r.now.Servers.Facts().Stands: // what a majority has acknowledged it knows: a lock may ask for that
		return false
	case v.Gone != history.Expired:
		return true
	}
	exact := c.Property == checker.ExclusionAtService && !r.states(deadline)
	return r.clockOf(v.Server, func(step time.Duration, rate int64) bool { return step > 0 || rate > 0 && exact })
}

// endedByClock names a server that ended early, by a clock that is ahead, what a participant had been granted: its session, or a grant
// that it then gave to another in the same place. It is "" if none did.
func (r *reducer) endedByClock() string {
	h, v := r.seen.result.History, r.seen.violation
	if timed(v.Property) {
		return ""
	}
	exact := !r.states(deadline)
	wrong := func(step time.Duration, rate int64) bool { return step > 0 || rate > 0 && exact }
	for i := range h.Copies {
		k := &h.Copies[i]
		if !slices.Contains(v.Acquisitions, k.Acquisition) || k.To > v.At {
			continue
		}
		over := func(g history.Grant) bool {
			return g.Acquisition == k.Acquisition && g.To == k.To && g.Ended == history.BySessionLoss
		}
		session := k.Gone == history.Expired && slices.ContainsFunc(h.Grants, over)
		taken := k.Gone == history.Overwritten && isShort(h, k) && v.Property == checker.ExclusionAtService
		if (session || taken) && r.clockOf(k.Node, wrong) {
			return k.Node
		}
	}
	return ""
}

// clockOf reports whether a node's clock is wrong in some way, from the start or by a fault.
func (r *reducer) clockOf(node string, wrong func(step time.Duration, rate int64) bool) bool {
	return slices.ContainsFunc(r.now.Clocks, func(k scenarios.Clock) bool { return k.Node == node && wrong(k.Offset, k.Rate) }) ||
		slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool {
			a := &f.Action
			return a.Kind == sim.SetClock && a.Node == node && wrong(a.Step, a.Rate)
		})
}

// losesResource reports whether the servers that keep the resource's data, too, have lost what a participant had there.
func (r *reducer) losesResource() bool {
	v := r.seen.violation
	return r.now.Resource.Guarded && slices.ContainsFunc(r.seen.result.History.Copies, func(k history.Copy) bool {
		return slices.Contains(v.Acquisitions, k.Acquisition) && k.Gone == history.Wiped && k.To <= v.At
	})
}

// onlyServersClocks reports whether nothing but clocks of servers went wrong.
func (r *reducer) onlyServersClocks() bool {
	names := r.now.Servers.Names()
	return len(r.now.Faults)+len(r.now.Clocks) > 0 &&
		!slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool {
			return f.Action.Kind != sim.SetClock || !slices.Contains(names, f.Action.Node)
		}) && !slices.ContainsFunc(r.now.Clocks, func(k scenarios.Clock) bool { return !slices.Contains(names, k.Node) })
}

// failure is what a server has done that broke its promise.
func (r *reducer) failure() string {
	v := r.seen.violation
	switch {
	case v.Broken != checker.Server && r.endedByClock() != "":
		return "by its clock, which is ahead, it ended early what it had granted"
	case v.Server == "" && r.losesResource():
		return "it lost what it had granted"
	case v.Server == "":
		return "it lost, evicted or ended early what it had granted"
	case v.Gone == history.Evicted:
		return "it evicted what it had granted"
	case v.Gone == history.Wiped:
		return "it lost what it had granted"
	case v.Gone == history.Expired:
		return "it ended early what it had granted"
	}
	return "it did not know what another had granted or renewed"
}

// keepsTooLong reports whether a server whose clock is slow or was set back has kept a key after its grant was over.
func (r *reducer) keepsTooLong() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	slow := func(step time.Duration, rate int64) bool { return step < 0 || rate < 0 }
	return slices.ContainsFunc(h.Copies, func(k history.Copy) bool {
		over := func(g history.Grant) bool {
			return g.Acquisition == k.Acquisition && g.Ended != history.ByUnlock && g.To < min(k.To, at)
		}
		return k.From < at && r.clockOf(k.Node, slow) && slices.ContainsFunc(h.Grants, over)
	})
}

// ahead is a clock that ends leases early.
func ahead(step time.Duration, rate int64) bool { return step > 0 || rate > 0 }

// grantsByFastClock reports whether the lock is granted by one server, and a server's clock has to be fast for the violation.
func (r *reducer) grantsByFastClock(c *Counterexample) bool {
	return c.played().Authority == locks.OneNode && slices.ContainsFunc(r.now.Servers.Names(), func(node string) bool { return r.clockOf(node, ahead) })
}

// countsFast reports whether locks of this kind let a client that waits count the lease, and the clock of the one that was granted the lock
// last has to be fast for the violation.
func (r *reducer) countsFast(name string) bool {
	reference, ok := locks.Catalogue().Find(name)
	ids := r.seen.violation.Acquisitions
	if !ok || !reference.Observed || len(ids) == 0 {
		return false
	}
	next := r.seen.result.History.Acquisition(ids[len(ids)-1]).Client
	return r.clockOf(next, func(_ time.Duration, rate int64) bool { return rate > 0 })
}

// losesUnderWrites reports whether the server took away, before its time, what a participant held that stopped half-way through its writes:
// its key, or more of its keys than are left.
func (r *reducer) losesUnderWrites() bool {
	h := r.seen.result.History
	return slices.ContainsFunc(r.seen.violation.Acquisitions, func(id history.ID) bool {
		b, ok := h.Acquisition(id).Belief()
		taken, left := 0, 0
		for i := range h.Copies {
			k := &h.Copies[i]
			early := k.Gone == history.Evicted || k.Gone == history.Wiped || k.Gone == history.Expired && isShort(h, k)
			switch {
			case k.Acquisition != id:
			case k.To <= b.To && early:
				taken++
			case k.From <= b.To && b.To < k.To:
				left++
			}
		}
		return ok && r.isHalfWritten(id) && taken > left
	})
}
