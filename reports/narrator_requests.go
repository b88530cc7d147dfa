package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// longestAnswer is up to how many bytes an answer is quoted.
const longestAnswer = 40

// assumed reports whether an acquisition's client came to believe that it holds without having been granted the lock.
func (t *narrator) assumed(a *history.Acquisition) bool {
	return a.Outcome == history.OK && t.ungranted(a) != "" && t.granted(a) == nil
}

// assumes tells of a client that believes to hold what it was not granted, and of the request on whose answer it could not
// rely: the last one that asked for the lock, or where it takes several votes those that it has.
func (t *narrator) assumes(a *history.Acquisition) {
	how := t.voters(a)
	if how == "" {
		how = "without having been granted it"
		if m, nth := t.lastAsk(a); m != nil {
			if outcome := t.outcome(m, a.Returned); outcome != "" { // told where it is heard of
				t.tell(a.Returned, orderBelief-1, t.who(a)+"'s "+nth+m.What, outcome, spot{})
				t.clauses[len(t.clauses)-1].step = t.stepAt(a.Returned, orderBelief, t.placeOfBelief(a))
				t.wrong(m.What, outcome)
			}
		}
	}
	t.tell(a.Returned, orderBelief, t.who(a), "believes that it holds the lock"+here+" "+how, t.placeOfBelief(a))
	t.wrong("Lock", "returns without a grant")
}

// wrong notes what a client did wrong, if nothing has been noted: a request and what it did.
func (t *narrator) wrong(request, did string) { t.decides = cmp.Or(t.decides, request+" "+did) }

// outcome says what became of a request for its sender up to a moment; "" if its answer cannot be quoted.
func (t *narrator) outcome(m *sent, by trace.Instant) string {
	switch at := t.answered(m); {
	case at == trace.Never:
		return "gets no answer"
	case at > by:
		return "is not answered in time"
	}
	said := t.all[m.answer].Detail
	if said == "" || len(said) > longestAnswer {
		return ""
	}
	return "is answered " + said
}

// requests lists what the client of an acquisition sent for it from one moment to another, both included, for some purposes. It
// leaves out what cannot be told from the requests of the client's other tasks.
func (t *narrator) requests(a *history.Acquisition, from, to trace.Instant, purposes ...string) (list []*sent) {
	for i := range t.all {
		m := &t.all[i]
		asks := !m.Reply && m.From == a.Client && slices.Contains(purposes, m.Purpose)
		if asks && from <= m.Sent && m.Sent <= to && t.isOf(m, a) {
			list = append(list, m)
		}
	}
	return list
}

// lastAsk returns the last request for the lock that an acquisition sent before Lock returned, and which of its kind it was;
// nil if there is none.
func (t *narrator) lastAsk(a *history.Acquisition) (last *sent, nth string) {
	tries := 0
	for _, m := range slices.Backward(t.requests(a, a.Invoked, a.Returned, "acquire", "look")) {
		last = cmp.Or(last, m)
		if m.What == last.What {
			tries++
		}
	}
	if last == nil {
		return nil, ""
	}
	asked := 0 // with other values, before
	for i := range t.h.Asks {
		if k := &t.h.Asks[i]; k.Acquisition == a.ID && k.Node == last.To && k.At < last.Sent && last.Purpose == "acquire" {
			asked++
		}
	}
	return last, ordinal(max(tries, asked+1))
}

// isOf reports whether a request is an acquisition's: it bears its value, or a server has noted whose it is, or its client
// does nothing else at a time.
func (t *narrator) isOf(m *sent, a *history.Acquisition) bool {
	if a.Value != "" && strings.Contains(m.Detail, a.Value) {
		return true
	}
	others := slices.ContainsFunc(t.h.Acquisitions, func(o history.Acquisition) bool { return o.Client == a.Client && o.Task != a.Task })
	if !others {
		return true
	}
	asks := func(of history.ID) bool {
		return slices.ContainsFunc(t.h.Asks, func(k history.Ask) bool {
			return (k.Acquisition == of) == (of == a.ID) && k.Client == a.Client && k.Node == m.To && k.At == m.executed
		})
	}
	return asks(a.ID) && !asks(0)
}

// voters says which servers an acquisition has the votes of when Lock returns, where it takes several.
func (t *narrator) voters(a *history.Acquisition) string {
	if !t.votes() {
		return ""
	}
	var names []string
	for i := range t.h.Copies {
		c := &t.h.Copies[i]
		if c.Acquisition == a.ID && c.From <= a.Returned && a.Returned < c.To && !slices.Contains(names, c.Node) {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return "though no server has granted it"
	}
	have := " have"
	if len(names) == 1 {
		have = " has"
	}
	return "though only " + listing(names) + have + " granted it"
}

// prolongers lists who has given a server's entry that is another's a longer life up to a moment, by requests of a name.
func (t *narrator) prolongers(c *history.Copy, by trace.Instant) (clients []string, what string) {
	for i := range t.renewals {
		e := &t.renewals[i]
		if e.Does != trace.Execute || e.Node != c.Node || e.At <= c.From || e.At > by || refused(e.Detail) {
			continue
		}
		if what = e.What; !slices.Contains(clients, e.Peer) {
			clients = append(clients, e.Peer)
		}
	}
	return clients, what
}

// refused reports whether a server has answered a request with a no: nothing, zero, or an error.
func refused(detail string) bool {
	_, answer, ok := strings.Cut(detail, " -> ")
	return ok && (answer == "(nil)" || answer == "(integer) 0" || strings.HasPrefix(answer, "(error)"))
}

// kept says what keeps an entry that should have ended: renewals, of another's or of who no longer holds; "" if nothing does.
func (t *narrator) kept(c *history.Copy, who string) string {
	if c.Expires == trace.Never {
		return ""
	}
	clients, what := t.prolongers(c, t.until)
	others := slices.DeleteFunc(slices.Clone(clients), func(name string) bool { return name == c.Client })
	a := t.h.Acquisition(c.Acquisition)
	switch {
	case len(others) > 0 && t.gone(c.Client):
		t.wrong(what, "prolongs another's")
		return ": the renewals (" + what + ") of " + listing(others) + " keep it, which " + who + " had made"
	case len(others) == 0 && len(clients) > 0 && a != nil && a.Unlocked < t.until:
		t.wrong(what, "goes on after Unlock")
		return ": its renewals (" + what + ") went on after Unlock, and keep it"
	case len(others) == 0 && len(clients) > 0 && t.believesAt(c.Acquisition, t.until):
		return ": its renewals (" + what + ") keep it"
	}
	return ""
}

// lastRenewal tells what became of the last renewal of a hold whose lease then ran out, if its client could have sent more.
func (t *narrator) lastRenewal(a *history.Acquisition, g *history.Grant) {
	renews := slices.ContainsFunc(t.renewals, func(e trace.Event) bool { return e.Does == trace.Execute })
	if !renews || t.servers().Holds() != "" || t.pausedAt(a.Client, g.To) || !t.believesAt(a.ID, g.To) {
		return
	}
	sent := t.requests(a, a.Returned, g.To-1, "renew")
	if len(sent) == 0 {
		t.tell(g.To, orderLoss, "none of "+t.who(a)+"'s renewals", "has reached a server", t.placeOfGrant(g).ended())
		return
	}
	last := sent[len(sent)-1]
	if g.To.Sub(last.Sent) < t.run.Case.Scenario.Lock.TTL/2 {
		return
	}
	if outcome := t.outcome(last, g.To); outcome != "" {
		t.tell(last.Sent, orderService, t.who(a)+"'s last renewal ("+last.What+")", outcome, spot{})
		t.wrong(last.What, "is the last renewal")
	}
}

// gone reports whether a client has crashed for good before the violation.
func (t *narrator) gone(client string) bool {
	return slices.ContainsFunc(t.faults, func(f fault) bool {
		return f.fired && f.kind == "crash" && f.node == client && f.begin <= t.until && f.end == trace.Never
	})
}

// exchanged says that clients put their own entries in the place of each other's, time and again; "" if they do not.
func (t *narrator) exchanged() string {
	var who []string
	n := 0
	for i := range t.h.Copies {
		c := &t.h.Copies[i]
		if c.Gone != history.Overwritten || c.To > t.until {
			continue
		}
		n++
		if name := t.holder(c.Acquisition, c.Client); !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	if n < 3 || len(who) < 2 {
		return ""
	}
	t.wrong("renewal", "overwrites another's")
	return listing(who) + " overwrite each other's " + t.servers().Entry() + " time after time, and "
}

// early tells of a hold that a release of its own client ended before Unlock was called, and reports whether one did.
func (t *narrator) early(a *history.Acquisition, g *history.Grant) bool {
	if !t.believesAt(a.ID, g.To) || t.endedByAnother(a, g) {
		return false
	}
	for i := range t.h.Copies {
		c := &t.h.Copies[i]
		if c.Acquisition != a.ID || c.To != g.To || c.Gone != history.Deleted {
			continue
		}
		if e := t.requestAt(c.Node, a.Client, c.To); e != nil {
			t.tellOf(c.To, orderService, "a release ("+e.What+") of "+a.Client, "deletes "+t.entryOf(t.who(a))+here+
				" while "+t.who(a)+" is still in its critical section", c.Node, t.placeOfCopy(c).ended())
			t.wrong(e.What, "deletes its own too early")
			return true
		}
	}
	return false
}

// borrows tells of a grant that rests on another's entry: a late request of its client has prolonged it.
func (t *narrator) borrows(a *history.Acquisition, by trace.Instant) {
	for i := range t.h.Grants {
		g := &t.h.Grants[i]
		if g.Acquisition != a.ID || g.From <= a.Returned || g.From > by {
			continue
		}
		for k := range t.h.Copies {
			c := &t.h.Copies[k]
			if c.Acquisition == a.ID || c.From > g.From || g.From >= c.To || t.sameHolder(c, a) {
				continue
			}
			for _, e := range t.renewals {
				if e.Does == trace.Execute && e.At == g.From && e.Node == c.Node && e.Peer == a.Client {
					t.tellOf(g.From, orderService, t.who(a)+"'s late renewal ("+e.What+")", "prolongs "+
						t.entryOf(t.holder(c.Acquisition, c.Client))+here+" as if it were its own", c.Node, t.placeOfGrant(g))
					t.wrong(e.What, "prolongs another's")
				}
			}
		}
	}
}

// sameHolder reports whether a copy is of the task whose an acquisition is.
func (t *narrator) sameHolder(c *history.Copy, a *history.Acquisition) bool {
	o := t.h.Acquisition(c.Acquisition)
	return o != nil && sameOwner(o, a)
}

// removalAt returns the request that ended or shortened what was another's; nil if the trace has none.
func (t *narrator) removalAt(r *history.Removal) *trace.Event {
	for i := range t.run.Events {
		e := &t.run.Events[i]
		asks := e.Alt == "acquire" || e.Alt == "look"
		if e.At == r.At && e.Does == trace.Execute && e.Peer == r.Client && e.Node == r.Node && !asks {
			return e
		}
	}
	return t.requestAt(r.Node, r.Client, r.At)
}

// compares concludes what a release that deleted another's entry did not compare, where its command or its value tells.
func (t *narrator) compares(r *history.Removal, by *history.Acquisition) {
	ended, e := t.h.Acquisition(r.Ended), t.removalAt(r)
	why := ""
	switch {
	case e == nil || by == nil || t.servers().Count() > 1:
		return
	case ended != nil && by.Value != "" && by.Value == ended.Value:
		why = ": both have the value " + by.Value
	case e.What != "DEL":
		return
	case t.looked(r, by):
		why = ": what its GET had found is no longer so"
	default:
		why = ": a DEL does not compare whose key it is"
	}
	t.conclude(r.At, orderService, why, placeOfRemoval(r))
}

// looked reports whether a release asked whose key it is before it deleted it.
func (t *narrator) looked(r *history.Removal, by *history.Acquisition) bool {
	from := by.Unlocked
	if from == trace.Never {
		from = by.Invoked
	}
	return slices.ContainsFunc(t.all, func(m sent) bool {
		return !m.Reply && m.From == r.Client && m.To == r.Node && m.What == "GET" && m.Sent >= from && m.executed <= r.At
	})
}

// shortens tells of a request that gave another's entry an earlier end.
func (t *narrator) shortens(r *history.Removal, who, whose string) {
	if by := t.h.Acquisition(r.By); by != nil && by.Outcome == history.OK {
		t.acquires(by)
		t.leaves(by, r.At)
	}
	what := who + "'s request"
	if e := t.removalAt(r); e != nil {
		what = who + "'s " + e.What
		t.wrong(e.What, "shortens another's")
	}
	t.tellOf(r.At, orderService, what, "gives "+t.entryOf(whose)+" an earlier end", r.Node, placeOfRemoval(r))
}

// maker returns the request that made an entry; nil if the trace has none.
func (t *narrator) maker(c *history.Copy) *trace.Event {
	value := ""
	if a := t.h.Acquisition(c.Acquisition); a != nil {
		value = a.Value
	}
	i := slices.IndexFunc(t.run.Events, func(e trace.Event) bool {
		of := e.Does == trace.Execute && e.Node == c.Node && e.Peer == c.Client
		return of && e.At == c.From && (strings.Contains(e.Detail, value) || e.Detail == "")
	})
	if i < 0 {
		return nil
	}
	return &t.run.Events[i]
}

// overwriter names the request that made an entry where another one was: with what it lacks, if that is known.
func overwriter(e *trace.Event) string {
	if e.What == "SET" && e.Detail != "" && !strings.Contains(e.Detail, " NX") && !strings.Contains(e.Detail, " XX") {
		return "SET without NX"
	}
	return e.What
}

// unheard reports whether an entry is that of somebody who was granted the lock and waits for Lock to return, and tells of
// the grant.
func (t *narrator) unheard(c *history.Copy) bool {
	a, w := t.h.Acquisition(c.Acquisition), t.waiting()
	if a == nil || w == nil || a.Client != w.Client || a.Task != w.Task || a.Returned <= t.until || !t.grantedAt(a.ID, t.until) {
		return false
	}
	for i := range t.all { // whose request got no answer cannot know
		m := &t.all[i]
		asked := m.From == a.Client && !m.Reply && m.Purpose == "acquire" && a.Invoked <= m.Sent && m.Sent <= c.From
		if asked && t.answered(m) == trace.Never {
			return false
		}
	}
	t.participants = append(t.participants, a.ID)
	t.grants(a, t.lastGrant(a.ID, t.until), "", "")
	return true
}

// strangersReleases tells of releases that others sent and servers carried out while somebody held, where nobody knows what a
// release ended.
func (t *narrator) strangersReleases(holder *history.Acquisition, until trace.Instant) {
	if t.h.HasAuthority {
		return
	}
	releasing := map[string]bool{}
	for i := range t.run.Events {
		e := &t.run.Events[i]
		switch e.Does {
		case trace.Release:
			releasing[e.Node] = true
		case trace.Released, trace.Acquired, trace.Start:
			releasing[e.Node] = false
		case trace.Execute:
			within := holder.Returned <= e.At && e.At <= until
			if within && releasing[e.Peer] && e.Peer != holder.Client && t.isServer(e.Node) && !refused(e.Detail) {
				t.tellOf(e.At, orderService, e.Peer+"'s release ("+e.What+")", "is executed", e.Node, spot{laneNode(e.Node), ""})
			}
		default:
		}
	}
}
