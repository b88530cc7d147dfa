package minimal

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// acted says what the application of a participant did when its hold was over: it heeded no deadline, or no notice, or what it had sent in time was late
// on the way. It is "" if it did none of these: a client that stands still in between has sent nothing.
func (r *reducer) acted() string {
	h, v := r.seen.result.History, r.seen.violation
	faults := newCast(r.now, r.seen).faults
	stood := func(x *history.Access) bool {
		for i := range r.now.Faults {
			f := &r.now.Faults[i]
			was := faults[f.NameAt(i)]
			if f.Action.Kind == sim.Pause && f.Action.Node == x.Client && was.Fired && was.Begin <= x.Applied && x.Invoked <= was.End {
				return true
			}
		}
		return false
	}
	for _, id := range v.Acquisitions {
		a := h.Acquisition(id)
		last := trace.Instant(-1) // what it did last by the moment of the violation
		if b, ok := a.Belief(); ok && v.Property == checker.MutualExclusion && b.From <= v.At && v.At < b.To {
			last = v.At
		}
		late := false
		for i := range h.Accesses {
			x := &h.Accesses[i]
			if x.Acquisition != id || x.Applied > v.At || !x.Accepted {
				continue
			}
			last = max(last, x.Invoked)
			over := func(g history.Grant) bool {
				return g.Acquisition == id && x.Invoked < g.To && g.To <= x.Applied
			}
			late = late || slices.ContainsFunc(h.Grants, over) && !stood(x)
		}
		switch {
		case a.HasDeadline && a.Deadline <= last:
			return "it continued past the stated deadline of its lease"
		case a.CanLearn && a.Noticed <= last:
			return "it continued after a notice of loss"
		case late:
			return "an access that it had sent in time was late on the way"
		}
	}
	return ""
}

// mistaken says which mistake the application makes without which, with every fault as before, the property is kept; "" if
// it makes none, or the property is violated without it, too.
func (r *reducer) mistaken() string {
	s, mistakes := parameter.Clone(r.now), ""
	for i := range s.Clients {
		c := &s.Clients[i]
		if unset(&c.Late) {
			mistakes = "it renews its lease too late; clients that renew it in time keep the property"
		}
		if unset(&c.Forgets) {
			mistakes = "it accesses the resource without its fencing token; clients that show it keep the property"
		}
		if unset(&c.Passes) {
			mistakes = "it passes its fencing token on to a job that writes after Unlock; clients that write before it keep the property"
		}
	}
	if r.seen.violation.Kind == checker.DeadlockKind && s.TakeInOneOrder() {
		mistakes = "its clients take locks in different orders; clients that take them in one order keep the property"
	}
	if mistakes == "" || !r.keeps(s) {
		return ""
	}
	return mistakes
}

// keeps reports whether the property is kept in another scenario, in which every fault happens.
func (r *reducer) keeps(s *scenarios.Scenario) bool {
	result := r.run(s)
	if result == nil {
		return false
	}
	seen := sighting{result: result}
	return seen.idle(s.Faults) == 0 && result.Report.Verdicts[r.sought.Property].Kept()
}

// stoppedInTime reports whether each client that takes part and left its section half done stopped only when the servers no
// longer had its entry, or would not have it for another half of a lease: a lock that cannot renew says so before the lease is over.
// One that began to write when its hold was over was told too late.
func (r *reducer) stoppedInTime() bool {
	h := r.seen.result.History
	return !slices.ContainsFunc(r.seen.violation.Acquisitions, func(id history.ID) bool {
		b, ok := h.Acquisition(id).Belief()
		stands := func(c history.Copy) bool {
			return c.Acquisition == id && b.To.Add(r.now.Lock.TTL/2) < min(c.To, c.Expires) && b.To <= h.End
		}
		early := ok && (b.Ended == history.ByNotice || b.Ended == history.ByDeadline || b.Ended == history.ByUnlock)
		return early && r.isHalfWritten(id) && (slices.ContainsFunc(h.Copies, stands) || r.wroteLate(id))
	})
}

// writesLate reports whether one that takes part began to write after its grant had ended, while the servers granted the lock rightly.
func (r *reducer) writesLate() bool {
	right := r.seen.result.Report.Verdicts[checker.ExclusionAtService].Kept()
	return right && slices.ContainsFunc(r.seen.violation.Acquisitions, r.wroteLate)
}

// wroteLate reports whether an acquisition began to write after the last of its grants had ended.
func (r *reducer) wroteLate(id history.ID) bool {
	end := grantedUntil(r.seen.result.History, id)
	return end >= 0 && slices.ContainsFunc(r.seen.result.History.Accesses, func(x history.Access) bool {
		return x.Acquisition == id && x.Op == history.Write && x.Invoked > end
	})
}

// grantedUntil is when the last grant of an acquisition ended; less than 0 if it had none.
func grantedUntil(h *history.History, id history.ID) trace.Instant {
	end := trace.Instant(-1)
	for _, g := range h.Grants {
		if g.Acquisition == id {
			end = max(end, g.To)
		}
	}
	return end
}

// isHalfWritten reports whether an acquisition has written some registers, and not all.
func (r *reducer) isHalfWritten(id history.ID) bool {
	h, writes := r.seen.result.History, 0
	for _, a := range h.Accesses {
		if a.Acquisition == id && a.Op == history.Write && a.Accepted {
			writes++
		}
	}
	return writes > 0 && writes < h.Registers
}

// disturbsStorage reports whether a fault holds up what travels between a client and the storage.
func disturbsStorage(s *scenarios.Scenario) bool {
	has := func(list []string) bool { return slices.Contains(list, scenarios.Storage) }
	return slices.ContainsFunc(s.Faults, func(f sim.Fault) bool {
		at := f.Trigger.Step
		return has(f.Action.Link.From) || has(f.Action.Link.To) || f.Action.Node == scenarios.Storage ||
			hitsMessage(&f) && (at.Peer == scenarios.Storage || at.Node == scenarios.Storage)
	})
}
