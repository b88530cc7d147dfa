package tell

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
)

// claim says what a violation is, and when, without how it came about. It is "" where the checker's own words are better.
func (t *narrator) claim() string {
	first, second := t.taken(0), t.taken(1)
	switch p := t.violation.Property; {
	case p == checker.ReleaseSafety:
		return t.claimOfRelease()
	case t.v.Several() && (p == checker.Progress || p == checker.Availability): // the checker says what it waits for
	case p == checker.Progress || p == checker.Availability:
		if w := t.waiting(); w != nil {
			return fmt.Sprintf("%s has waited since %s", t.v.Waiter(w), t.ref(w.From, moments.Place{Lane: moments.BeliefLane(t.v.Waiter(w)), Key: ""}))
		}
	case first == nil || second == nil:
	case p == checker.MutualExclusion:
		return t.claimOfHolders(first, second)
	case p == checker.ExclusionAtService:
		g, h := t.v.LastGrant(first.ID, t.until), t.v.LastGrant(second.ID, t.until)
		if g != nil && h != nil {
			return fmt.Sprintf("the lock is granted to %s at %s while it is promised to %s%s", t.who(second),
				t.ref(h.From, moments.PlaceOfGrant(t.v, h)), t.who(first), t.promised(g, h.From))
		}
	case p == checker.FencingOrder:
		g, h := t.v.LastGrant(first.ID, t.until), t.v.LastGrant(second.ID, t.until)
		if g != nil && h != nil {
			return fmt.Sprintf("%s to %s, then %s to %s", wording.TokenText(g.Token), t.who(first), wording.TokenText(h.Token), t.who(second))
		}
	case p == checker.Resource && t.violation.Kind == "lost update":
		return t.claimOfUpdates(first, second)
	case p == checker.Resource && t.hasRead(second, first):
		return fmt.Sprintf("%s sees one half of a critical section of %s", t.who(second), t.who(first))
	}
	return ""
}

func (t *narrator) claimOfHolders(first, second *history.Acquisition) string {
	b, _ := first.Belief()
	c, _ := second.Belief()
	end, whose := b.To, first
	if c.To < end {
		end, whose = c.To, second
	}
	until := "the end of the run"
	if end <= t.v.History.End {
		until = t.ref(end, moments.PlaceOfBelief(t.v, whose).Ended())
	}
	if t.v.History.Logged && end > t.v.History.End {
		until = "the end of the log"
	}
	end = min(end, t.v.History.End)
	if end == c.From {
		return fmt.Sprintf("%s and %s both believe that they hold the lock, for an instant at %s", t.who(first), t.who(second),
			t.ref(second.Returned, moments.PlaceOfBelief(t.v, second)))
	}
	return fmt.Sprintf("%s and %s both believe that they hold the lock, from %s to %s (%s)", t.who(first), t.who(second),
		t.ref(second.Returned, moments.PlaceOfBelief(t.v, second)), until, wording.Precise(end.Sub(c.From)))
}

func (t *narrator) claimOfRelease() string {
	before := 0 // on other servers at the same moment
	for i := range t.v.Run.Report.Violations {
		x := &t.v.Run.Report.Violations[i]
		if x == t.violation {
			break
		}
		if x.Property == checker.ReleaseSafety && x.At == t.until && slices.Equal(x.Acquisitions, t.violation.Acquisitions) {
			before++
		}
	}
	i := slices.IndexFunc(t.v.History.Removals, func(r history.Removal) bool {
		is := r.At == t.until && (r.Again || r.Ended != 0) && t.taken(0) != nil && r.By == t.taken(0).ID
		if is {
			before--
		}
		return is && before < 0
	})
	if i < 0 {
		return ""
	}
	r := &t.v.History.Removals[i]
	at, who := t.ref(r.At, moments.PlaceOfRemoval(t.v, r)), t.v.Holder(r.By, r.Client)
	if r.Again {
		return fmt.Sprintf("%s's, on %s at %s", who, r.Node, at)
	}
	return fmt.Sprintf("%s's, by %s on %s at %s", t.v.Holder(r.Ended, ""), who, r.Node, at)
}

func (t *narrator) claimOfUpdates(first, second *history.Acquisition) string {
	over := t.access(second.ID, history.Write, -1, t.until)
	if over == nil {
		return ""
	}
	mine := t.access(first.ID, history.Read, over.Register, t.until)
	theirs := t.access(second.ID, history.Read, over.Register, t.until)
	destroyed := t.destroyed(over, first.ID)
	if len(destroyed) == 0 || mine == nil || theirs == nil || mine.Version != theirs.Version {
		return ""
	}
	why := ""
	if t.alone {
		why = t.taking(destroyed[0], over)
	}
	var lost []string
	verb := " wrote at "
	for _, w := range destroyed {
		lost = append(lost, t.v.Holder(w.Acquisition, w.Client)+verb+t.ref(w.Applied, moments.PlaceOfAccess(w)))
		verb = " at "
	}
	return fmt.Sprintf("%s overwrites at %s what %s, without having read it%s", t.who(second),
		t.ref(over.Applied, moments.PlaceOfAccess(over)), wording.Listing(lost), why)
}
