package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// isMisreleased reports whether somebody's release has ended the grant of one that takes part.
func isMisreleased(h *history.History, v *checker.Violation) bool {
	return v.Property == checker.ReleaseSafety || slices.ContainsFunc(h.Removals, func(r history.Removal) bool {
		return r.Ended != 0 && r.At <= v.At && slices.Contains(v.Acquisitions, r.Ended)
	})
}

// isTakenOver reports whether one that takes part was granted the lock as its entry took the place of another's, before that one's grant was
// over.
func isTakenOver(h *history.History, v *checker.Violation) bool {
	grants := func(k *history.Copy) bool {
		return slices.Contains(v.Acquisitions, k.Acquisition) && slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
			return g.Acquisition == k.Acquisition && g.From == k.From
		})
	}
	return slices.ContainsFunc(h.Copies, func(k history.Copy) bool {
		short := slices.Contains(v.Acquisitions, k.Acquisition) && k.Gone == history.Overwritten && k.To <= v.At && isShort(h, &k)
		return short && slices.ContainsFunc(h.Copies, func(d history.Copy) bool {
			return d.Node == k.Node && d.From == k.To && d.Client != k.Client && grants(&d)
		})
	})
}

// isLent reports whether a pooler gave a client the connection that has another's lock, and the lock with it.
func isLent(s *scenarios.Scenario, h *history.History, v *checker.Violation) bool {
	return s.Servers.Pool > 0 && slices.ContainsFunc(h.Copies, func(k history.Copy) bool {
		return k.Gone == history.Overwritten && k.Expires == trace.Never && k.To <= v.At
	})
}

// isBelated reports whether Lock had returned to one that takes part what was over.
func isBelated(h *history.History, v *checker.Violation) bool {
	return (v.Property == checker.MutualExclusion || v.Property == checker.Resource) &&
		slices.ContainsFunc(v.Acquisitions, func(id history.ID) bool { return h.Belated(id) != nil })
}

// isEarly reports whether a server has ended the key of one that takes part before its time.
func isEarly(h *history.History, v *checker.Violation) bool {
	return !timed(v.Property) && slices.ContainsFunc(h.Copies, func(k history.Copy) bool {
		return slices.Contains(v.Acquisitions, k.Acquisition) && k.Gone == history.Expired && k.To <= v.At && isShort(h, &k)
	})
}

// isShort reports whether a copy went before a grant that it stood for was over: not a later one, of an entry that was made again.
func isShort(h *history.History, k *history.Copy) bool {
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		return g.Acquisition == k.Acquisition && g.From <= k.To && k.To < g.To
	})
}

// waitFor says what a client waits for at a moment, when it has waited too long by then. A client that waits forever waits for something that
// does not end; any other one for what lasts, or has lasted for most of the time in which somebody should have acquired the lock.
func waitFor(h *history.History, at trace.Instant, long time.Duration) string {
	if h.Quiescent && at == h.End {
		at = trace.Never - 1
	}
	held := func(b history.Belief) bool {
		return b.From <= at && at < b.To || min(b.To, at).Sub(max(b.From, at.Add(-long))) > long/2
	}
	granted := func(g history.Grant) bool { return g.From <= at && at < g.To }
	lasts := func(f history.Fault) bool { return f.Fired && f.Begin <= at && at < f.End }
	switch {
	case slices.ContainsFunc(h.Beliefs(), held):
		return heldUp
	case slices.ContainsFunc(h.Grants, granted):
		return orphan
	case len(h.Faults) > 0 && !slices.ContainsFunc(h.Faults, lasts):
		return unrecovered
	}
	return outOfReach
}

// isSplit reports whether those who wait share the servers' votes, time after time.
func isSplit(s *scenarios.Scenario, h *history.History, v *checker.Violation) bool {
	return timed(v.Property) && !s.Servers.Cluster && len(h.SplitVotes(v.At.Add(-s.Progress), v.At, s.Servers.Masters/2+1)) > 1
}

// What package checker calls a section of which somebody saw one half, and an entry of a Lock that has failed.
const (
	tornSection   = "torn section"
	leftByFailure = "left behind by a failed acquisition"
)

// isHalfDone reports whether one that takes part has left its section with one half of it done, or without an answer to
// its write.
func isHalfDone(h *history.History, v *checker.Violation) bool {
	unanswered := func(a history.Access) bool {
		return a.Op == history.Write && a.Returned == trace.Never && slices.Contains(v.Acquisitions, a.Acquisition) &&
			h.Acquisition(a.Acquisition).Unlocked <= v.At
	}
	return v.Property == checker.Resource && (v.Kind == tornSection || slices.ContainsFunc(h.Accesses, unanswered))
}

// overdueBy says how the grant of one that takes part has ended, if it ended rightfully and that one went on. Where two
// of them had been granted the lock at once it did not take that.
func overdueBy(h *history.History, v *checker.Violation) history.Cause {
	if v.Property != checker.MutualExclusion && v.Property != checker.Resource {
		return history.Open
	}
	by := history.Open
	var over trace.Instant
	var last history.ID
	for _, g := range h.Grants {
		if g.From > v.At || !slices.Contains(v.Acquisitions, g.Acquisition) {
			continue
		}
		if g.From < over && g.Acquisition != last {
			return history.Open
		}
		over, last = g.To, g.Acquisition
		rightfully := g.Ended == history.ByDeadline || g.Ended == history.BySessionLoss
		if rightfully && g.To <= v.At && goesOnAfter(h, v, &g) {
			by = g.Ended
		}
	}
	return by
}

// hasGivenUp reports whether the lock of one that takes part gave up a grant that it could have kept: it notified its holder of a loss, or
// messages had failed or come late, and half of a lease was left when all that faults had held up had arrived (after as long again as they
// had lasted, since TCP repeats packets).
func hasGivenUp(s *scenarios.Scenario, h *history.History, v *checker.Violation) bool {
	sets := func(f history.Fault) bool { return f.Fired && f.Sets }
	if !h.Keeps || len(s.Clocks) > 0 || slices.ContainsFunc(h.Faults, sets) {
		return false
	}
	messages := []sim.ActionKind{sim.Break, sim.Error, sim.Delay, sim.Cut, sim.Stall}
	others := slices.ContainsFunc(s.Faults, func(f sim.Fault) bool {
		late := f.Action.Kind == sim.Pause && slices.Contains(s.Servers.Names(), f.Action.Node) // as if its messages were
		return !late && !slices.Contains(messages, f.Action.Kind)
	})
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a, over := h.Acquisition(g.Acquisition), g.To.Add(-s.Lock.TTL/2)
		ended := g.Ended == history.ByDeadline || g.Ended == history.BySessionLoss
		if a == nil || a.Unkept || a.Late || !ended || over < g.From || v.At < g.To || !slices.Contains(v.Acquisitions, a.ID) {
			return false
		}
		noticed := a.CanLearn && a.Noticed < over
		hinders := func(f history.Fault) bool {
			early := f.Begin < a.Returned && !noticed // that may be why its renewals are late
			return f.Fired && f.Begin < g.To && (early || f.End == trace.Never || f.End+f.End-f.Begin > over)
		}
		return (noticed || !others) && goesOnAfter(h, v, &g) && !slices.ContainsFunc(h.Faults, hinders)
	})
}

// goesOnAfter reports whether a holder still acted, or believed that it held, when its grant was over.
func goesOnAfter(h *history.History, v *checker.Violation, g *history.Grant) bool {
	if v.Property == checker.MutualExclusion {
		b, ok := h.Acquisition(g.Acquisition).Belief()
		return ok && b.To > g.To
	}
	return slices.ContainsFunc(h.Accesses, func(a history.Access) bool {
		return a.Acquisition == g.Acquisition && a.Applied != trace.Never && a.Applied >= g.To
	})
}
