package tell

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// twoHolders tells of two that believed to hold the lock at once.
func (t *narrator) twoHolders() {
	first, second := t.taken(0), t.taken(1)
	if first == nil || second == nil {
		t.checkersWords()
		return
	}
	t.play(first, second)
	t.strangersReleases(first, second.Returned)
	b, _ := first.Belief()
	c, _ := second.Belief()
	for _, late := range []*history.Acquisition{second, first} {
		if g := t.v.History.Belated(late.ID); g != nil {
			t.trusts(late, g)
			return
		}
	}
	for _, pair := range [][2]*history.Acquisition{{first, second}, {second, first}} {
		if a, of := pair[0], pair[1]; t.assumed(a) && t.v.GrantedAt(of.ID, a.Returned) {
			while := ", while " + t.who(of) + " holds it"
			if a.Returned <= of.Returned { // that one knows it later, and is told of later
				while = ", while " + t.who(of) + " has been granted it"
			}
			if _, event := t.woken(a); event != nil {
				while += ": Lock should have looked again"
			} else if !t.accepted(a) && moments.Unchanged(t.v, a) == nil {
				while += ": Lock should have returned without it"
			}
			t.conclude(a.Returned, while, moments.PlaceOfBelief(t.v, a))
			return
		}
	}
	if c.From < b.From { // the second was granted the lock later, and was told so earlier
		first, second, b, c = second, first, c, b
	}
	overwritten := func(o history.Copy) bool {
		return o.Acquisition == second.ID && o.Gone == history.Overwritten && o.To <= second.Returned
	}
	if t.place(second) < t.place(first) && slices.ContainsFunc(t.v.History.Copies, overwritten) {
		first, second, b, c = second, first, c, b // as told
	}
	text := t.goesOn(", but "+t.who(first), first, b, second)
	if t.v.GrantedAt(first.ID, second.Returned) && !t.v.GrantedAt(second.ID, second.Returned) { // it is the second that is wrong
		text = t.goesOn(" and", second, c, second)
	}
	t.conclude(second.Returned, text, moments.PlaceOfBelief(t.v, second))
}

// trusts tells that a client relies on a grant that has ended, and why Lock could return that grant.
func (t *narrator) trusts(a *history.Acquisition, g *history.Grant) {
	why := unnoticeable
	if g.Outlived {
		why = "its Lock went on in another session"
	}
	place := moments.PlaceOfBelief(t.v, a)
	t.tell(a.Returned, moments.OrderBelief, t.who(a), "believes that it holds the lock", place)
	t.conclude(a.Returned, ": "+why, place)
}

// goesOn says until when somebody believes to hold the lock of which the second of two has been told, and what it does not
// notice. Why it does not is said only if the run without that reason is right.
func (t *narrator) goesOn(subject string, a *history.Acquisition, b history.Belief, second *history.Acquisition) string {
	at := second.Returned
	if t.v.History.Logged {
		return t.loggedUntil(a, b, at)
	}
	text := subject + " believes that it holds to the end of the run"
	if b.To <= t.v.History.End {
		until := t.ref(b.To, moments.PlaceOfBelief(t.v, a).Ended())
		if until == t.time(at) {
			until = fmt.Sprintf("%s after %s's Lock returned", spokenTime(b.To.Sub(at)), t.who(second))
		}
		text = subject + " believes that it holds until " + until
	}
	switch {
	case moments.Unchanged(t.v, a) != nil:
		text += ": its write leaves the value as it was"
	case t.assumed(a):
		text += ": its Lock should have returned without the lock"
	case moments.Ungranted(t.v, a) != "" && a.HasDeadline && a.Deadline > at && a.Deadline < trace.Never:
		text += ": its lease says until " + t.time(a.Deadline) + t.overstated(a)
	case t.isCause(checker.LateRenewal, a.Client):
		text += ": its application renews the lease too late, and learns of the loss " + t.lateLearnt(a)
	case moments.Ungranted(t.v, a) != "" && a.Noticed != b.To: // there is no end that it could have noticed
	case t.pausedAt(a.Client, at) && t.isCause(checker.PausedHolder, a.Client):
		text += ": it is paused " + t.untilIt(a, b, at)
	case b.Ended == history.ByDeadline:
		text += ", when its lease ends by its own clock" + t.overstated(a)
	case a.HasDeadline && a.Deadline <= at && a.Style != history.Careful && t.isCause(checker.IgnoredDeadline, a.Client):
		text += ": it does not look at the deadline of its lease, " + t.time(a.Deadline)
	case a.HasDeadline && a.Deadline > at && a.Deadline < trace.Never && !a.CanLearn:
		text += ": its lease says until " + t.time(a.Deadline) + t.overstated(a)
	case !a.HasDeadline && !a.CanLearn:
		if g := t.v.LastGrant(a.ID, at); g != nil && g.To <= at && g.Ended != history.ByUnlock { // else the grant stands, and there is nothing to notice
			text += ": " + unnoticeable
		}
	case a.CanLearn && a.Style == history.Careless:
		if t.isCause(checker.IgnoredNotice, a.Client) {
			text += ": its application does not listen to notices of loss"
		}
	case a.CanLearn && a.Noticed > at && a.Noticed < trace.Never && a.Noticed != b.To:
		text += ": it is told of its loss only at " + t.ref(a.Noticed, moments.Place{Lane: moments.BeliefLane(t.who(a)), Key: ""})
	case a.CanLearn && a.Noticed == b.To && b.To < trace.Never:
		text += ", when it is told of its loss"
	case a.CanLearn:
		text += ": nothing has told it of its loss"
	}
	return text
}

// untilIt says for how long a pause keeps a holder from noticing its loss, or that it could not notice that without the pause either if it
// works on for long.
func (t *narrator) untilIt(a *history.Acquisition, b history.Belief, at trace.Instant) string {
	i := slices.IndexFunc(t.v.Faults, func(f model.Fault) bool { return t.pauses(&f, a.Client, at) })
	goesOn := t.v.Faults[i].End
	switch {
	case b.To.Sub(goesOn) < time.Second:
		return "and cannot notice"
	case !a.HasDeadline && !a.CanLearn:
		return "until " + t.time(goesOn) + ", and " + unnoticeable
	}
	return "and cannot notice before " + t.time(goesOn)
}

// unnoticeable says that no client can notice that its lease is over.
const unnoticeable = "the lock states no deadline and gives no notice of loss"

// lateLearnt says when an application that renews its lease too late learns that it has lost it.
func (t *narrator) lateLearnt(a *history.Acquisition) string {
	if a.Noticed == trace.Never || a.Style == history.Careless {
		return "from no call that it heeds"
	}
	return "only then"
}

// overstated says how late a deadline is that is further from the request for the lock than a lease is long; "" if it is not, or
// if clocks that are off may have moved it.
func (t *narrator) overstated(a *history.Acquisition) string {
	s := t.v.Run.Case.Scenario
	clock := func(f model.Fault) bool { return f.Kind == sim.SetClock }
	i := -1 // of what it returned with: an earlier try may have made another one
	for k := range t.v.History.Copies {
		if c := &t.v.History.Copies[k]; c.Acquisition == a.ID && c.From <= a.Returned && (i < 0 || t.v.History.Copies[i].To <= c.From) {
			i = k
		}
	}
	if i < 0 || len(s.Clocks) > 0 || slices.ContainsFunc(t.v.Faults, clock) {
		return ""
	}
	m, _ := request(t.v, &t.v.History.Copies[i])
	if m == nil {
		return ""
	}
	if t.v.Servers().Holds() == "lease" && a.Deadline.Sub(m.Sent) <= t.v.TTL(a.Client, a.Lock) { // which has begun with another request
		m = t.grantBefore(m)
	}
	if a.Deadline.Sub(m.Sent) <= t.v.TTL(a.Client, a.Lock) {
		return ""
	}
	if last, _ := t.lastAsk(a); last != nil && last.What == m.What && a.Deadline.Sub(last.Sent) <= t.v.TTL(a.Client, a.Lock) {
		return "" // it was given its own again, from then on
	}
	t.wrong("Lock", "states too late a deadline")
	return fmt.Sprintf(", %s after its %s was sent", spokenExactly(a.Deadline.Sub(m.Sent)), m.What)
}

// grantBefore is the last request for a lease that a client sent before it asked for the lock; that for the lock if there is none.
func (t *narrator) grantBefore(m *model.Sent) *model.Sent {
	last := m
	for i := range t.v.Messages {
		if e := &t.v.Messages[i]; !e.Reply && e.From == m.From && e.What == "LeaseGrant" && e.Sent < m.Sent {
			last = e
		}
	}
	return last
}

// isCause reports whether the run without a condition is right, which was found out by playing it.
func (t *narrator) isCause(condition checker.Condition, client string) bool {
	return slices.Contains(t.v.Run.Causes, checker.Cause{Property: t.violation.Property, Condition: condition, Client: client})
}

func (t *narrator) pausedAt(client string, at trace.Instant) bool {
	return slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool { return t.pauses(&f, client, at) })
}

func (*narrator) pauses(f *model.Fault, client string, at trace.Instant) bool {
	return f.Kind == sim.Pause && f.Node == client && f.Begin <= at && at < f.End
}

// twoGrants tells of two that were granted the lock at once.
func (t *narrator) twoGrants() {
	first, second := t.taken(0), t.taken(1)
	if first == nil || second == nil {
		t.checkersWords()
		return
	}
	t.play(first, second)
	if t.alsoBelieved() {
		return
	}
	g, h := t.v.LastGrant(first.ID, t.until), t.v.LastGrant(second.ID, t.until)
	if g == nil || h == nil {
		return
	}
	if c, _ := moments.Lender(t.v, second, h); c == nil { // else it has been told
		for i := range t.v.History.Copies {
			if c := &t.v.History.Copies[i]; c.Acquisition == first.ID && c.To == h.From {
				t.losesCopy(c, t.who(first))
			}
		}
		if !slices.ContainsFunc(t.clauses, func(c clause) bool { return c.at == h.From }) {
			t.add(clause{at: h.From, order: moments.OrderService, who: t.who(second), what: "is granted the lock again", place: moments.PlaceOfGrant(t.v, h)})
		}
		whom := t.who(first)
		if whom == t.who(second) { // which has been restarted
			whom += "'s earlier life"
		}
		t.conclude(h.From, ", although it is promised to "+whom+t.promised(g, h.From), moments.PlaceOfGrant(t.v, h))
	}
}

// alsoBelieved reports whether the two that take part in a violation also believed to hold the lock at once, which is told.
func (t *narrator) alsoBelieved() bool {
	return slices.ContainsFunc(t.violations, func(x *checker.Violation) bool {
		return x.Property == checker.MutualExclusion && slices.Equal(x.Acquisitions, t.violation.Acquisitions)
	})
}

// promised says until when a grant was to last, of which a moment is too early; "" if something else ended it.
func (t *narrator) promised(g *history.Grant, early trace.Instant) string {
	to := g.To
	if a := t.v.History.Acquisition(g.Acquisition); a != nil && a.Outcome == history.OK && a.HasDeadline && early < a.Deadline {
		to = min(to, a.Deadline) // all that its client may rely on
	}
	switch {
	case g.Ended != history.ByDeadline || to == trace.Never:
		return ""
	case t.time(to) == t.time(early):
		return fmt.Sprintf(" until %s later", spokenTime(to.Sub(early)))
	}
	return " until " + t.time(to)
}

// revives tells of late requests of a holder that put back what was gone: a renewal that comes when its lease is over, or a
// request for the lock that nobody waits for any more. One that adds a key to a grant that stands changes nothing.
func (t *narrator) revives(a *history.Acquisition, by trace.Instant) {
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		late := c.Acquisition == a.ID && c.From <= by && c.From > a.Returned && c.From != c.To
		stands := slices.ContainsFunc(t.v.History.Grants, func(g history.Grant) bool {
			return g.Acquisition == a.ID && g.From < c.From && c.From < g.To
		})
		if !late || stands || moments.Resurrected(t.v, c) {
			continue
		}
		before := slices.ContainsFunc(t.v.History.Copies, func(o history.Copy) bool {
			return o.Acquisition == a.ID && o.Node == c.Node && o.To <= c.From && o.Gone != history.Kept
		})
		request := moments.RequestAt(t.v, c.Node, a.Client, c.From, trace.ToAcquire)
		if request != nil && request.Alt != trace.ToRelease { // else the one before it in the queue has gone
			what := "makes a " + t.v.Servers().Entry()
			if before {
				what = "puts the " + t.v.Servers().Entry() + " back"
			}
			late := "late " + request.What
			switch {
			case request.Alt == trace.ToAcquire && t.v.SentAt(request) > a.Returned:
				late, what = "renewal ("+request.What+")", "takes the lock again"
			case request.Alt == trace.ToRenew:
				late = "late renewal (" + request.What + ")"
			}
			t.wrong(request.What, "comes late")
			t.tellOf(c.From, t.who(a)+"'s "+late, what, c.Node,
				moments.Place{Lane: moments.GrantLane(t.who(a)), Key: "grant"})
		}
	}
}
