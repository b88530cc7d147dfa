package tell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// lastRenewal tells what became of the last renewal before a lease expired, unless the client could not have sent another one.
func (t *narrator) lastRenewal(a *history.Acquisition, g *history.Grant) {
	s := t.v.Run.Case.Scenario
	if holds := t.v.Servers().Holds(); holds == "lease" || holds == "session" {
		t.lastKept(a, g)
		return
	}
	renews := slices.ContainsFunc(t.v.Renewals, func(e trace.Event) bool {
		same := e.Does == trace.Execute && s.LockOfProcess(e.Peer, "").Algorithm == s.LockOfProcess(a.Client, "").Algorithm
		return same && t.holdsAt(e.Peer, e.At) // others give a key its end in a request of its own
	})
	never := t.v.History.Keeps && !a.Unkept && g.To.Sub(g.From) <= t.v.TTL(a.Client, a.Lock)+t.soon() // though its lock should renew
	if !renews && !never || t.v.Servers().Holds() != "" || t.pausedAt(a.Client, g.To) || !t.v.BelievesAt(a.ID, g.To) {
		return
	}
	sent := t.requests(a, a.Returned, g.To-1, trace.ToRenew)
	if len(sent) == 0 {
		t.noRenewal(a, g)
		return
	}
	last := sent[len(sent)-1]
	if g.To.Sub(last.Sent) < t.v.TTL(a.Client, a.Lock)/2 {
		return
	}
	if outcome := t.outcome(last, g.To); outcome != "" {
		at, met := t.v.Answered(last), t.metItself(last)
		switch {
		case at > g.To:
			at, outcome = last.Sent, "is sent"+here+" and "+outcome
		case met != "":
			outcome += here + met
		}
		t.tell(at, moments.OrderService, t.who(a)+"'s last renewal ("+last.What+")", outcome, moments.Place{})
		t.wrong(last.What, "is the last renewal")
	}
}

// metItself says that it was an earlier request of the same client, of whose execution that had not been told, which has changed what a
// conditional one found changed; "" if that is not why it was refused.
func (t *narrator) metItself(m *model.Sent) string {
	refusals := []string{"412 ", "node exists"}
	refuses := func(m *model.Sent) bool {
		return m.Answer >= 0 && slices.ContainsFunc(refusals, func(prefix string) bool { return strings.HasPrefix(t.v.Messages[m.Answer].Detail, prefix) })
	}
	if !refuses(m) {
		return ""
	}
	for i := range slices.Backward(t.v.Messages) {
		e := &t.v.Messages[i]
		same := !e.Reply && e.From == m.From && e.To == m.To && e.What == m.What && e.Purpose == m.Purpose && e.Sent < m.Sent
		if same && e.Executed < m.Executed && !refuses(e) {
			if t.v.Answered(e) < m.Sent || slices.ContainsFunc(t.v.History.Copies, func(c history.Copy) bool {
				return c.Node == m.To && c.Client != m.From && e.Executed < c.From && c.From <= m.Executed // and changed that, too
			}) {
				return ""
			}
			return ", since an earlier one of its own was executed, whose answer it had not got"
		}
	}
	return ""
}

// noRenewal tells of a lease of which servers saw no renewal: what has not reached them may have been one, and so may a request of
// another name.
func (t *narrator) noRenewal(a *history.Acquisition, g *history.Grant) {
	lost := func(m model.Sent) bool {
		return !m.Reply && m.From == a.Client && a.Returned <= m.Sent && m.Sent < g.To && m.Executed >= g.To
	}
	if slices.ContainsFunc(t.v.Messages, lost) {
		t.tellOfEnd(g, "none of "+t.who(a)+"'s renewals", "has reached a server")
		return
	}
	other := func(m model.Sent) bool {
		return !m.Reply && m.From == a.Client && m.To != moments.StorageLane && a.Returned <= m.Sent && m.Sent < g.To && (m.For == a.ID || m.For == 0)
	}
	if !slices.ContainsFunc(t.v.Messages, other) && len(t.tooLate(a, g)) == 0 {
		t.tell(a.Returned, moments.OrderBelief, t.who(a), "sends no renewal", moments.Place{})
	}
}

// tooLate are the renewals of a lease that are sent when it is over, if none was sent before.
func (t *narrator) tooLate(a *history.Acquisition, g *history.Grant) []*model.Sent {
	if t.v.Servers().Holds() != "" || len(t.requests(a, a.Returned, g.To-1, trace.ToRenew)) > 0 || !t.v.BelievesAt(a.ID, g.To) {
		return nil
	}
	return t.requests(a, g.To, a.Unlocked, trace.ToRenew)
}

// unheeded tells of the first renewal after the end of a lease that a server refuses, or takes for one of the client whose entry is there
// by then, if the lock could notify its holder of the loss and does not.
func (t *narrator) unheeded(a *history.Acquisition, g *history.Grant) {
	for _, m := range t.requests(a, g.From, t.until, trace.ToRenew) {
		at := t.v.Answered(m)
		if m.Executed < g.To || at > t.until {
			continue
		}
		taken := t.takenFor(a, m)
		if taken == "" && !t.refusesRenewal(t.v.Messages[m.Answer].Detail) {
			continue
		}
		if a.CanLearn && t.v.BelievesAt(a.ID, at) && a.Noticed == trace.Never && !a.Told {
			t.tell(at, moments.OrderBelief, t.who(a)+"'s renewal ("+m.What+")", t.outcome(m, at)+here+cmp.Or(taken, ", but its lock gives no notice of that"), moments.Place{})
			if taken != "" {
				t.wrong(m.What, "prolongs another's")
			}
		}
		return
	}
}

// takenFor says of a renewal that Redis has accepted which other client's entry it had when it executed it; "" if it had none, or if the
// renewal is told of as one that was granted. Elsewhere an answer that is no refusal may be about the client's own session, or about no row.
func (t *narrator) takenFor(a *history.Acquisition, m *model.Sent) string {
	if !slices.Contains([]string{"(integer) 1", "OK"}, t.v.Messages[m.Answer].Detail) || slices.ContainsFunc(t.v.History.Grants, func(g history.Grant) bool {
		return g.Acquisition == a.ID && g.From == m.Executed
	}) {
		return ""
	}
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		made := t.v.History.Acquisition(c.Acquisition)
		if c.Node == m.To && c.From <= m.Executed && m.Executed < c.To && made != nil && made.ID != a.ID && !model.SameOwner(made, a) {
			return ", though the " + t.v.Servers().Entry() + " is " + t.v.Holder(c.Acquisition, c.Client) + "'s by then"
		}
	}
	return ""
}

// refusesRenewal reports whether an answer says that what was to be renewed is no more.
func (t *narrator) refusesRenewal(answer string) bool {
	gone := t.v.Servers().Holds() == "session" && (strings.Contains(answer, "not found") || strings.Contains(answer, "expired"))
	return gone || model.IsRefusal(answer)
}

// holdsAt reports whether a client believes at a moment that it holds the lock.
func (t *narrator) holdsAt(client string, at trace.Instant) bool {
	return slices.ContainsFunc(t.v.Beliefs, func(b history.Belief) bool {
		return b.Acquisition.Client == client && b.From <= at && at <= b.To
	})
}

// lastKept tells that a lease expires for which its client sends no keep-alive, and that a lease or a session does for which it sends none any
// more, unless a fault may have kept it from that: other than one that breaks a connection.
func (t *narrator) lastKept(a *history.Acquisition, g *history.Grant) {
	var last *model.Sent
	for i := range t.v.Messages {
		if m := &t.v.Messages[i]; !m.Reply && m.From == a.Client && m.Purpose == trace.ToRenew && m.Sent <= g.To {
			last = m
		}
	}
	known := len(t.requests(a, a.Invoked, a.Returned, trace.ToAcquire)) > 0 // the trace has what was sent
	faulty := func(f model.Fault) bool {
		return f.Begin <= g.To && g.From <= f.End && (last == nil || f.Kind != sim.Break)
	}
	if !known || a.Crashed <= g.To || !t.v.BelievesAt(a.ID, g.To) || slices.ContainsFunc(t.v.Faults, faulty) {
		return
	}
	switch holds := t.v.Servers().Holds(); {
	case last == nil && holds == "lease" && !a.HasDeadline:
		t.tellOfEnd(g, t.who(a), "has sent no keep-alive for its lease")
		t.wrong("keep-alive", "is never sent")
	case last == nil || g.To.Sub(last.Sent) < t.v.TTL(a.Client, a.Lock)-t.soon():
	case last.Sent < a.Returned:
		what := "has sent no keep-alive for its " + holds + " since Lock returned"
		t.add(clause{at: g.To, step: moments.StepOfEnd(t.v, g), order: moments.OrderLoss, who: t.who(a), what: what, silent: true})
		t.wrong("keep-alive", "is not sent again")
	default:
		what := "is sent"
		if t.v.Answered(last) == trace.Never {
			what += here + " and gets no answer"
		}
		t.tell(last.Sent, moments.OrderService, t.who(a)+"'s last keep-alive ("+last.What+")", what, moments.Place{})
		t.wrong("keep-alive", "is not sent again")
	}
}

// keptAlive says that the keep-alives for a lease went on when its client was through with it; "" if they did not, or if they may be for
// another lease of the client.
func (t *narrator) keptAlive(c *history.Copy, who string) string {
	a := t.v.History.Acquisition(c.Acquisition)
	if a == nil || t.v.Servers().Holds() != "lease" || a.Crashed <= t.until || t.gone(c.Client) {
		return ""
	}
	over, when, call := a.Unlocked, "Unlock", "Unlock"
	switch {
	case a.Outcome != history.OK:
		over, when, call = a.Returned, "Lock gave up", "Lock"
	case a.Noticed < over:
		over, when, call = a.Noticed, "it was notified of its loss", "notice"
	}
	ended := max(over, c.From).Add(t.v.TTL(c.Client, a.Lock)) // the lease, without a later keep-alive
	if over == trace.Never || t.until <= ended {
		return ""
	}
	for i := range slices.Backward(t.v.Renewals) {
		if e := &t.v.Renewals[i]; e.Does == trace.Execute && e.Peer == c.Client && over < e.At && e.At <= t.until && !model.Refused(e.Detail) {
			t.wrong(call, "leaves an entry") // as where nothing has kept it yet
			return ": " + who + "'s keep-alives (" + e.What + ") went on after " + when + ", and keep it"
		}
	}
	return ""
}

// kept says which renewals keep an entry that should have ended: another client's, or its own after Unlock; "" if none do.
func (t *narrator) kept(c *history.Copy, who string) string {
	if alive := cmp.Or(t.keptAlive(c, who), t.runsOn(c, who)); alive != "" || c.Expires == trace.Never {
		return alive
	}
	clients, what := t.prolongers(c, t.until)
	others := slices.DeleteFunc(slices.Clone(clients), func(name string) bool { return name == c.Client })
	a := t.v.History.Acquisition(c.Acquisition)
	session := t.v.Servers().Holds() == "session" // which goes on as long as its process
	switch {
	case len(others) > 0 && a != nil && (t.died(a) || !t.v.BelievesAt(a.ID, t.until) && t.outlived(c, a)):
		t.wrong(what, "prolongs another's")
		return ": the renewals (" + what + ") of " + wording.Listing(others) + " keep it, which " + who + " had made"
	case len(others) == 0 && a != nil && !session && t.renewsAfter(c, max(a.Unlocked, t.until.Add(-t.v.TTL(c.Client, a.Lock)))):
		t.wrong(what, "goes on after Unlock")
		return ": its renewals (" + what + ") went on after Unlock, and keep it"
	case len(others) == 0 && len(clients) > 0 && t.v.BelievesAt(c.Acquisition, t.until):
		return ": its renewals (" + what + ") keep it"
	case len(others) == 0 && len(clients) > 0 && a != nil && t.died(a) && c.Expires > t.until:
		t.wrong(what, "sets too late an end")
		return ": its last renewal (" + what + ") gave it an end at " + t.time(c.Expires)
	}
	return ""
}

// outlived reports whether an entry is older than its own client's last renewal would let it be.
func (t *narrator) outlived(c *history.Copy, a *history.Acquisition) bool {
	from := t.until.Add(-t.v.TTL(c.Client, a.Lock))
	return c.Expires != trace.Never && c.From < from && !t.renewsAfter(c, from)
}

// runsOn says that the lease or the session of a client that has crashed has not ended yet, and whether a new leader of its servers has
// given it its whole life again; "" if it should have ended, or if there is none.
func (t *narrator) runsOn(c *history.Copy, who string) string {
	a, what := t.v.History.Acquisition(c.Acquisition), t.v.Servers().Holds()
	if a == nil || a.Crashed > t.until || what != "lease" && what != "session" {
		return ""
	}
	lives, life := t.v.Lives(c)
	lives = slices.DeleteFunc(lives, func(at trace.Instant) bool { return at > t.until })
	if len(lives) == 0 || t.until >= lives[len(lives)-1]+life {
		return ""
	}
	text, last := ": "+who+"'s "+what+" has not ended yet", lives[len(lives)-1]
	for i := range t.v.Roles {
		before := lives[max(0, len(lives)-2)].Add(t.v.TTL(c.Client, a.Lock)) // when it would have ended
		if e := &t.v.Roles[i]; e.Does == trace.Promote && e.Node == c.Node && e.At == last && e.At > a.Crashed && before <= t.until {
			text += ", since a new leader has given it its whole life again at " + t.ref(e.At, moments.Place{Lane: moments.NodeLane(e.Node), Key: e.Does.String()})
		}
	}
	return text
}

// renewsAfter reports whether an entry has been renewed by its own client after a moment.
func (t *narrator) renewsAfter(c *history.Copy, at trace.Instant) bool {
	return slices.ContainsFunc(t.v.Renewals, func(e trace.Event) bool {
		return e.Does == trace.Execute && e.Node == c.Node && e.Peer == c.Client && at < e.At && e.At <= t.until && !model.Refused(e.Detail)
	})
}

// prolongers lists the clients whose renewals have prolonged an entry up to a moment, and names the last of these requests.
func (t *narrator) prolongers(c *history.Copy, by trace.Instant) (clients []string, what string) {
	for i := range t.v.Renewals {
		e := &t.v.Renewals[i]
		if e.Does != trace.Execute || e.Node != c.Node || e.At <= c.From || e.At > min(by, c.To) || model.Refused(e.Detail) {
			continue
		}
		row := c.Expires != trace.Never && t.v.Servers().Holds() == "connection"
		if e.Peer != c.Client && t.v.Servers().Holds() != "" && !row { // each client's lease or session is its own
			continue
		}
		if what = e.What; !slices.Contains(clients, e.Peer) {
			clients = append(clients, e.Peer)
		}
	}
	return clients, what
}

// borrows tells of grants that rest on another client's entry, which a late renewal or a request for the lock has prolonged first.
func (t *narrator) borrows(a *history.Acquisition) {
	var told []*history.Copy
	for i := range t.v.History.Grants {
		g := &t.v.History.Grants[i]
		if g.Acquisition != a.ID || g.From > t.until {
			continue
		}
		if c, what := moments.Lender(t.v, a, g); c != nil && !slices.Contains(told, c) {
			told = append(told, c)
			request := t.who(a) + "'s late renewal (" + what + ")"
			if g.From <= a.Returned {
				request = t.who(a) + "'s " + what
			}
			t.tellOf(g.From, request, "prolongs "+
				t.v.EntryOf(t.v.Holder(c.Acquisition, c.Client))+here+" as if it were its own", c.Node, moments.PlaceOfGrant(t.v, g))
			t.wrong(what, "prolongs another's")
		}
	}
}

// exchanged says that clients overwrite each other's entries again and again; "" if they do not.
func (t *narrator) exchanged() string {
	var who []string
	n := 0
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		if c.Gone != history.Overwritten || c.To > t.until {
			continue
		}
		n++
		if name := t.v.Holder(c.Acquisition, c.Client); !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	if n < 3 || len(who) < 2 {
		return ""
	}
	t.wrong("renewal", "overwrites another's")
	return wording.Listing(who) + " overwrite each other's " + t.v.Servers().Entry() + " time after time, and "
}

// died reports whether the process of an acquisition died before it could remove what it had made: for good, while it held the lock, or
// before Unlock returned.
func (t *narrator) died(a *history.Acquisition) bool {
	return a.Crashed != trace.Never || t.gone(a.Client) || slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.Crash && f.Node == a.Client && a.Unlocked <= f.Begin && f.Begin < a.Released
	})
}

// gone reports whether a client has crashed for good before the violation.
func (t *narrator) gone(client string) bool {
	return slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.Crash && f.Node == client && f.Begin <= t.until && f.End == trace.Never
	})
}
