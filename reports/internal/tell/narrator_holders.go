package tell

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// acquires tells how a client came to believe that it holds the lock.
func (t *narrator) acquires(a *history.Acquisition) {
	if slices.Contains(t.participants, a.ID) {
		return
	}
	g := t.granted(a)
	if g != nil && g.From > t.until { // it came of a later request
		return
	}
	if before := t.before(a); before != nil && g != nil && g.To <= g.From && !slices.Contains(t.participants, before.ID) {
		t.acquires(before) // which tells whose lease it is that was over before it was granted
		t.leaves(before, g.From)
	}
	who, again := t.who(a), t.heldBefore(a)
	t.participants = append(t.participants, a.ID)
	switch {
	case a.Outcome != history.OK && g == nil:
		return
	case moments.Ungranted(t.v, a) != "" && g == nil:
		t.assumes(a)
	case g == nil:
		t.relies(a)
		t.tell(a.Returned, moments.OrderBelief, who, "acquires the lock"+again+t.tokenTerm(a, " with"), moments.PlaceOfBelief(t.v, a))
	case a.Outcome == history.Failed && slices.ContainsFunc(t.clauses, func(c clause) bool { return c.made == a }): // that says enough
	case a.Outcome == history.Failed:
		t.grants(a, g, again, " ("+who+" does not take it)")
	case a.Outcome != history.OK:
		t.grants(a, g, again, " ("+who+" does not learn of it)")
	case g.From < t.grantedBy(a, a.Returned).From: // with which Lock returned
		t.grants(a, g, again, "")
	case t.isLate(a, g):
		t.grants(a, g, again, "")
		t.tell(a.Returned, moments.OrderBelief, who, t.learns(a), moments.PlaceOfBelief(t.v, a))
	default:
		t.grants(a, g, again, "")
		if _, believes := a.Belief(); believes {
			t.clauses[len(t.clauses)-1].first = a
		}
	}
}

// grants tells that servers grant the lock.
func (t *narrator) grants(a *history.Acquisition, g *history.Grant, again, also string) {
	by, verb := moments.ByServers(t.v, g), " grant"
	switch {
	case by == "":
		by, verb = " by the service", " grants"
	case !strings.Contains(by, " and "):
		verb = " grants"
	}
	what := verb[1:] + " the lock to " + t.who(a) + again
	when := here
	if g.To <= g.From {
		what, when = what+here+" with"+t.lease(a, g), "" // the moment is not that of its end
	}
	token := t.tokenTerm(a, " with")
	if t.v.DrawnLater(a, g) {
		token = ""
	}
	t.add(clause{
		at: g.From, step: moments.StepOfGrant(t.v, g), order: moments.OrderService, who: by[len(" by "):],
		what: what + token + when + also, place: moments.PlaceOfGrant(t.v, g), grant: g,
	})
}

// begins tells of the acquisition that came first by what its client believes and was granted, unless something else
// happens before the client is told.
func (t *narrator) begins() {
	var first *clause
	for i := range t.clauses {
		if c := &t.clauses[i]; c.grant != nil && (first == nil || c.at < first.at) {
			first = c
		}
	}
	if first == nil {
		return
	}
	g, a := first.grant, t.v.History.Acquisition(first.grant.Acquisition)
	told := moments.StepAt(t.v, a.Returned, moments.OrderBelief, moments.PlaceOfBelief(t.v, a))
	between := func(c clause) bool {
		after := first.at < c.at || first.at == c.at && first.step < c.step
		return after && first.first != nil && (c.at < a.Returned || c.at == a.Returned && c.step < told)
	}
	if first.first == nil || slices.ContainsFunc(t.clauses, between) {
		if lease := t.lease(a, g); lease != "" && !strings.Contains(first.what, lease) {
			to := " the lock to " + t.who(a)
			if a.Outcome != history.OK { // it does not take it, or learn of it: nor does it renew it knowingly
				lease = strings.Replace(lease, renewed, "", 1)
			}
			lease = strings.Replace(lease, renewed, ", which "+t.who(a)+" renews,", 1)
			first.what = strings.Replace(strings.Replace(first.what, to+" with token", to+" and token", 1), to, to+" with"+lease, 1)
		}
		return
	}
	first.at, first.order, first.who, first.place = a.Returned, moments.OrderBelief, t.who(a), moments.PlaceOfBelief(t.v, a)
	first.what = "acquires the lock" + t.terms(a, g)
	first.step = moments.StepAt(t.v, first.at, first.order, first.place)
}

// before returns the acquisition with which the same owner held the lock before.
func (t *narrator) before(a *history.Acquisition) *history.Acquisition {
	var last *history.Acquisition
	for i := range t.v.History.Acquisitions {
		o := &t.v.History.Acquisitions[i]
		if model.SameOwner(o, a) && o.Outcome == history.OK && o.Returned <= a.Invoked && o.ID != a.ID {
			last = o
		}
	}
	return last
}

// granted returns what an acquisition was granted when its Lock returned, or before what is told if that came later. What was another's is
// not granted.
func (t *narrator) granted(a *history.Acquisition) *history.Grant {
	returned := min(a.Returned, t.v.History.End)
	return cmp.Or(t.grantedBy(a, min(returned, t.until)), t.grantedBy(a, returned))
}

// grantedBy returns what an acquisition was last granted by a moment; of grants that followed one another without a gap, as when more
// servers than needed vote, the first.
func (t *narrator) grantedBy(a *history.Acquisition, at trace.Instant) (g *history.Grant) {
	for i := range slices.Backward(t.v.History.Grants) {
		o := &t.v.History.Grants[i]
		if o.Acquisition != a.ID || o.From > at || g != nil && (o.From >= g.From || g.From > o.To) {
			continue
		}
		if of, _ := moments.Lender(t.v, a, o); of == nil {
			g = o
		}
	}
	return g
}

// learns says how a client hears of what it was granted, and whether that has ended.
func (t *narrator) learns(a *history.Acquisition) string {
	last := t.v.LastGrant(a.ID, a.Returned)
	ended := last.From < last.To && last.To < a.Returned
	switch g := t.v.History.Belated(a.ID); {
	case ended && g != nil && g.Outlived:
		return "takes the grant, which has ended, for its own" + here
	case ended:
		return "learns of the grant" + here + ", which has ended,"
	}
	return "learns of the grant"
}

// isLate reports whether the answer to a request for the lock is told by itself: it takes long, or what it grants has ended.
func (t *narrator) isLate(a *history.Acquisition, g *history.Grant) bool {
	last := t.v.LastGrant(a.ID, a.Returned)
	return a.Returned.Sub(g.From) >= time.Duration(moments.SlowAnswer) || last.From < last.To && last.To < a.Returned
}

// heldBefore says that a story has told already of an earlier acquisition of the same client.
func (t *narrator) heldBefore(a *history.Acquisition) string {
	for _, id := range t.participants {
		if o := t.v.History.Acquisition(id); model.SameOwner(o, a) && o.Returned <= a.Returned {
			return " again"
		}
	}
	return ""
}

// terms are what a client is granted first: on which servers, for how long, with which token.
func (t *narrator) terms(a *history.Acquisition, g *history.Grant) string {
	text := ""
	if t.v.Servers().Count() > 1 && model.KeeperOf(t.v.Servers()) == "" {
		if by := moments.ByServers(t.v, g); by != "" {
			text = " on" + by[len(" by"):]
		}
	}
	lease, token := t.lease(a, g), t.tokenTerm(a, " with")
	switch {
	case lease == "":
		return text + token
	case !strings.HasSuffix(lease, renewed):
		return text + " with" + lease + t.tokenTerm(a, " and")
	case token == "":
		return text + here + " with" + lease // the moment is not that of a renewal
	}
	return text + here + token + " and" + lease
}

// tokenTerm is the token that a client is given, where it matters.
func (t *narrator) tokenTerm(a *history.Acquisition, with string) string {
	if a.Token == 0 || !t.v.History.HasTokens || !t.tells(checker.Resource, checker.FencingOrder) {
		return ""
	}
	return with + " token " + wording.TokenText(a.Token)
}

// lease says for how long somebody is granted the lock.
func (t *narrator) lease(a *history.Acquisition, g *history.Grant) string {
	ttl, left, ends := t.v.TTL(a.Client, a.Lock), "", false
	what := t.v.Servers().Holds()
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		if c.Acquisition != a.ID || c.Expires == trace.Never {
			continue
		}
		ends = true
		given := c.Expires.Sub(c.From) + t.v.Servers().Facts().Early
		if what == "" && c.From == g.From && given < ttl-ttl/10 && a.Unlocked > c.Expires && t.v.SetOnce(c) && !t.isOff(a.Client) { // else its release may have shortened it
			ttl = given // the lock asks for less at first
		}
		row := what == "connection" && a.HasDeadline && a.Deadline > c.Expires && !t.isOff(a.Client) // else the lock asks for less
		if (what == "lease" || row) && c.From == g.From && given < ttl-ttl/10 && t.v.SetOnce(c) {
			left = " " + spokenTime(given) + " left of" // it was granted before the lock was
		}
	}
	if what == "" || what == "connection" {
		what = "lease"
		if !ends {
			return ""
		}
	}
	if g.To <= g.From {
		return " a " + what + " that has ended"
	}
	text := left + " a " + what + " of " + spokenExactly(ttl)
	if what == "lease" && g.To != trace.Never && g.To.Sub(g.From) > ttl+ttl/10 && t.renewsIn(a, g) {
		text += renewed
	}
	return text
}

// isOff reports whether a client's clock is wrong, by which it may date the end of a lease.
func (t *narrator) isOff(client string) bool {
	s := t.v.Run.Case.Scenario
	return slices.ContainsFunc(s.Clocks, func(c scenarios.Clock) bool { return c.Node == client }) ||
		slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool { return f.Kind == sim.SetClock && f.Node == client })
}

// renewed ends what is said of a lease that its holder renews.
const renewed = ", which it renews,"

// renewsIn reports whether it was for its client's renewals that a grant lasted for longer than a lease: a new leader of services of leases
// may give one its whole life again, and a clock that is ahead may give one a late end. Of some locks no request is known as a renewal.
func (t *narrator) renewsIn(a *history.Acquisition, g *history.Grant) bool {
	unknown := t.v.Servers().Holds() == "" || len(t.v.Renewals) == 0
	return unknown && t.v.History.Keeps && !a.Unkept || slices.ContainsFunc(t.v.Renewals, func(e trace.Event) bool {
		return e.Does == trace.Execute && e.Peer == a.Client && g.From < e.At && e.At <= g.To
	})
}
