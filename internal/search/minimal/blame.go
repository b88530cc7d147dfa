package minimal

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Blame says whose promise a counterexample shows to be broken. It rests on runs: the minimal scenario is played with the
// reference lock ([locks.ReferenceOf]) in the place of the lock, and with more careful clients.
type Blame struct {
	Party     Party
	Reference string // the lock that was played in the place of the lock; "" if none was
	Text      string // what was seen, a clause for a reader
	Deaf      bool   // the reference lock tells its holders of no loss
}

// Untold is the blame for a loss that the lock should have told its holder of: a reference lock that never tells shows nothing.
func Untold(reference string) Blame {
	return Blame{Reference: reference, Text: "the catalogue has no lock of this kind that tells its holder of a loss"}
}

// Party is one of those whose promises a violation can break.
type Party uint8

// The parties.
const (
	// Unclear: the reference lock never came into the same situation, or there is none.
	Unclear Party = iota
	// ThisLock: the reference lock keeps the property in the same scenario.
	ThisLock
	// AnyLock: the reference lock violates the property in the same scenario, so any lock of this kind does.
	AnyLock
	// Server: so may the reference lock, since a server has broken its promise: it lost or ended early what it had granted.
	Server
	// Application: so may the reference lock, since the application has ignored the lease's stated deadline or a notice of
	// loss, or its way to the storage is disturbed.
	Application
)

var partyNames = []string{"unclear", "this-lock", "any-lock", "server", "application"}

// String returns the name that JSON documents use.
func (p Party) String() string { return partyNames[p] }

// Rank orders findings: what only this lock does comes first, what is not the lock's at all comes last.
func (b *Blame) Rank() int {
	return slices.Index([]Party{ThisLock, Unclear, AnyLock, Server, Application}, b.Party)
}

// Sentence says it in a line for a reader.
func (b *Blame) Sentence() string {
	return map[Party]string{
		Unclear: "not compared with a reference lock", ThisLock: "this lock", AnyLock: "any lock of this kind",
		Server: "a server", Application: "the application",
	}[b.Party] + ": " + b.Text
}

// blame finds out whose promise the minimal scenario shows to be broken. The reference lock is asked where the run does not say it: it need not share a
// mistake of the application, if it hands out no tokens or renews by itself, and it may have more luck with a server that fails.
func (r *reducer) blame(c *Counterexample) Blame {
	if c.Property == checker.Survival {
		return Blame{Party: ThisLock, Text: "its own code ends the process"}
	}
	if text := r.mistaken(); text != "" {
		return Blame{Party: Application, Text: text}
	}
	if timed(c.Property) && r.isHeldThroughout() {
		return Blame{Party: Application, Text: "its holder works, and holds the lock, for as long as others may wait"}
	}
	if r.serverFailed(c) {
		return Blame{Party: Server, Text: r.failure()}
	}
	b, broken := r.compared(c), r.seen.violation.Broken
	oneServer := slices.Contains([]locks.Authority{locks.OneNode, locks.MostKeys}, c.played().Authority)
	switch {
	case r.ended() != nil:
		return Blame{Text: "the work was interrupted before that"}
	case b.Party != ThisLock && (broken == checker.Server || oneServer && r.losesUnderWrites()):
		b.Party, b.Text = Server, r.failure()
	case timed(c.Property) && (r.keepsTooLong() || r.onlyServersClocks()):
		b.Party, b.Text = Server, "by its clock, which is slow or was set back, it keeps for too long what it has granted"
	case broken != checker.Lock && r.ignoresDeadline():
		b.Party, b.Text = Application, "it continues past the stated deadline of its lease; clients that heed the deadline keep the property"
	case b.Party == ThisLock && r.hearsAfterAccess():
		b.Party = AnyLock
		b.Text = "its holder has an access under way when the servers end its hold, and heeds the notice of loss as soon as that is over"
	case b.Party == ThisLock && !r.states(deadline) && c.OutOfTime() && r.standsStill(): // of a deadline the reference lock knows more
		b.Party, b.Text = AnyLock, standsStill
	case b.Party == ThisLock && c.Property == checker.ExclusionAtService && r.grantsByFastClock(c):
		b.Party, b.Text = Server, "by its fast clock it ended early what it had granted; "+b.Reference+" does not go by that clock"
	case b.Party == ThisLock && c.Property == checker.ExclusionAtService && r.countsFast(b.Reference):
		b.Party, b.Text = AnyLock, "a client that waits tells the end of the lease by its own clock, which is fast"
	case b.Party == ThisLock:
	case b.Party == Unclear && c.Property == checker.SilentLoss && r.endedByRelease():
		b.Party, b.Text = ThisLock, "another client's release ended what was granted"
	case (c.Property == checker.Resource || timed(c.Property) && c.holdsUp()) && disturbsStorage(r.now):
		b.Party, b.Text = Application, "its way to the storage is disturbed, which no lock can see"
	case b.Party == Unclear && newCast(r.now, r.seen).halfDone && r.stoppedInTime():
		b.Party, b.Text = Application, "it stopped within its critical section, as a holder that loses the lock must, and left it half done"
	case b.Party == Unclear && c.OutOfTime() && r.standsStill():
		b.Party, b.Text = AnyLock, standsStill
	case b.Party == Unclear && broken == checker.Application:
		if text := r.acted(); text != "" {
			b.Party, b.Text = Application, text
		}
	}
	return b
}

// endedByRelease reports whether it was another client's release that ended the hold of a participant.
func (r *reducer) endedByRelease() bool {
	v := r.seen.violation
	return slices.ContainsFunc(r.seen.result.History.Removals, func(m history.Removal) bool {
		return !m.Again && m.At <= v.At && slices.Contains(v.Acquisitions, m.Ended)
	})
}

// states reports whether the lock tells its holders something.
func (r *reducer) states(what func(history.Acquisition) bool) bool {
	return slices.ContainsFunc(r.seen.result.History.Acquisitions, what)
}

// deadline reports whether a holder's lease states a deadline.
func deadline(a history.Acquisition) bool { return a.HasDeadline }

// tells reports whether a holder's lease would tell of a loss.
func tells(a history.Acquisition) bool { return a.CanLearn }

// ignoresDeadline reports whether one that takes part went on past the deadline that its lease stated, and the violation is gone, with every
// fault as before, if clients heed deadlines.
func (r *reducer) ignoresDeadline() bool {
	v := r.seen.violation
	past := r.states(func(a history.Acquisition) bool {
		return slices.Contains(v.Acquisitions, a.ID) && a.HasDeadline && a.Deadline <= v.At && a.Deadline < a.Unlocked
	})
	if p := r.sought.Property; !past || p != checker.MutualExclusion && p != checker.Resource {
		return false
	}
	s := parameter.Clone(r.now)
	s.Styles = []history.Style{history.Careful}
	for i := range s.Clients {
		s.Clients[i].Style = nil
	}
	return r.keeps(s)
}

const standsStill = "its holder is paused when its lease ends, and can neither renew it nor notice its end"

// standsStill reports whether a participant that believed to hold was paused when its grant ended, and at the violation still was, or does
// not listen to notices.
func (r *reducer) standsStill() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	faults := newCast(r.now, r.seen).faults
	paused := func(client string, from trace.Instant, deaf bool) bool {
		for i := range r.now.Faults {
			f := &r.now.Faults[i]
			was := faults[f.NameAt(i)]
			if f.Action.Kind == sim.Pause && f.Action.Node == client && was.Fired && was.Begin <= from && from <= was.End && (deaf || at <= was.End) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		over := a != nil && slices.Contains(r.seen.violation.Acquisitions, a.ID) && g.Ended == history.ByDeadline && a.Returned <= g.To && g.To <= at
		return over && paused(a.Client, g.To, a.Style == history.Careless)
	})
}

// hearsAfterAccess reports whether a participant could heed no notice of its loss: a fault had the servers end its session, and one
// access was under way from before the notice could arrive until it stopped. The notice is two messages away from the leader, which ends
// the session: the client's server is told, and then the client. Whether another lock keeps the property is a matter of how soon the next
// holder begins. A session that ends without such a fault may be one that the lock should have kept alive.
func (r *reducer) hearsAfterAccess() bool {
	h := r.seen.result.History
	if !slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.EndSession }) {
		return false
	}
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		if a == nil || g.Ended != history.BySessionLoss || !slices.Contains(r.seen.violation.Acquisitions, a.ID) {
			return false
		}
		arrives := g.To.Add(2 * longestLatency(r.now))
		return slices.ContainsFunc(h.Accesses, func(x history.Access) bool {
			return x.Acquisition == a.ID && x.Invoked <= arrives && g.To < x.Returned && x.Returned == a.Noticed
		})
	})
}
