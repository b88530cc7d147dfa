package tell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// longestAnswer is how long an answer may be, in bytes, to be quoted; longestError is up to where an error is.
const (
	longestAnswer = 40
	longestError  = 60
)

// assumed reports whether an acquisition's client came to believe that it holds without having been granted the lock.
func (t *narrator) assumed(a *history.Acquisition) bool {
	return a.Outcome == history.OK && moments.Ungranted(t.v, a) != "" && t.granted(a) == nil
}

// assumes tells of a client that believes that it holds the lock without a grant, and what it relied on: its last request for
// the lock, or, where a grant takes several votes, the votes that it has.
func (t *narrator) assumes(a *history.Acquisition) {
	how := t.voters(a)
	if m := moments.Unchanged(t.v, a); m != nil {
		t.hears(a, t.v.Answered(m), t.who(a)+"'s "+m.What, t.outcome(m, a.Returned)+here+", though it writes what is there already")
		t.wrong(m.What, "changes nothing")
		t.tell(a.Returned, moments.OrderBelief, t.who(a), "believes that it holds the lock", moments.PlaceOfBelief(t.v, a))
		return
	}
	if how == "" {
		how = "without having been granted it"
		t.losesPlace(a, a.Returned)
		if watch, event := t.woken(a); event != nil {
			t.wakes(a, watch, event)
		} else if m, nth := t.lastAsk(a); m != nil {
			outcome := t.outcome(m, a.Returned)
			if t.accepted(a) {
				outcome += here + ", though " + cmp.Or(t.onNoReplica(m, a), "that grants it nothing")
			}
			if outcome != "" { // told when it is heard of
				t.hears(a, min(t.v.Answered(m), a.Returned), t.who(a)+"'s "+nth+m.What, outcome)
				t.wrong(m.What, outcome)
			}
		} else if t.asksNobody(a, a.Invoked, a.Returned) {
			how = "though its Lock has asked no server"
			t.unreleased(a)
		}
	}
	t.tell(a.Returned, moments.OrderBelief, t.who(a), "believes that it holds the lock"+here+" "+how, moments.PlaceOfBelief(t.v, a))
	t.wrong("Lock", "returns without a grant")
}

// unreleased tells of the release that a client sent last before an acquisition, if it has no answer to that by then: a client that counts how
// often it has entered may take the lock for its own still.
func (t *narrator) unreleased(a *history.Acquisition) {
	for i := range slices.Backward(t.v.History.Acquisitions) {
		before := &t.v.History.Acquisitions[i]
		if before.Client != a.Client || before.Task != a.Task || before.Unlocked > a.Invoked {
			continue
		}
		list := t.requests(before, before.Unlocked, a.Invoked, trace.ToRelease)
		if n := len(list); n > 0 && t.v.Answered(list[n-1]) > a.Invoked {
			t.hears(a, a.Invoked, t.who(before)+"'s release ("+list[n-1].What+")", "has no answer yet")
		}
		return
	}
}

// relies tells on which answer a client acquires a lock of which nobody knows whom it is granted to: that to its last request, whatever that
// was for.
func (t *narrator) relies(a *history.Acquisition) {
	if t.v.History.HasAuthority || t.v.History.Logged {
		return
	}
	m, nth := t.lastAsk(a)
	for _, o := range t.requests(a, a.Invoked, a.Returned-1, "") {
		if m != nil && o.Sent > m.Sent && t.outcome(o, a.Returned) != "" {
			m, nth = o, ""
		}
	}
	if m == nil {
		return
	}
	t.clears(a, m)
	if outcome := t.outcome(m, a.Returned); outcome != "" {
		t.hears(a, min(t.v.Answered(m), a.Returned), t.who(a)+"'s "+nth+m.What, outcome)
	}
}

// clears tells of the request right before one for the lock if it is answered otherwise than before: it has found something to do.
func (t *narrator) clears(a *history.Acquisition, ask *model.Sent) {
	var last *model.Sent
	before := ""
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		if m.Reply || m.From != a.Client || m.To != ask.To || m.What == ask.What || m.Sent < a.Invoked || t.v.Answered(m) > ask.Sent || !t.isOf(m, a) {
			continue
		}
		before = ""
		if last != nil && m.What == last.What && m.Detail == last.Detail {
			before = t.outcome(last, ask.Sent)
		}
		last = m
	}
	if outcome := t.outcome(cmp.Or(last, ask), ask.Sent); before != "" && outcome != before {
		t.hears(a, t.v.Answered(last), t.who(a)+"'s "+last.What, outcome)
	}
}

// onNoReplica says that no replica has what a server has accepted, which its client was told before Lock returned; "" if not.
func (t *narrator) onNoReplica(ask *model.Sent, a *history.Acquisition) string {
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		waits := !m.Reply && m.From == a.Client && m.To == ask.To && m.What == "WAIT" && ask.Sent <= m.Sent && t.isOf(m, a)
		if waits && t.v.Answered(m) <= a.Returned && t.v.Messages[m.Answer].Detail == "(integer) 0" {
			return "no replica has it (its WAIT is answered 0)"
		}
	}
	return ""
}

// givesBack tells of requests of which nobody knows what servers make of them, while another client holds: of Unlock, if they come again, and
// of a Lock that was refused and sends what Unlock sends.
func (t *narrator) givesBack(held *history.Acquisition, by trace.Instant) {
	if t.v.History.HasAuthority || t.v.History.Logged {
		return
	}
	var releases []string
	for i := range t.v.History.Acquisitions {
		if a := &t.v.History.Acquisitions[i]; a.Outcome == history.OK {
			for _, m := range t.requests(a, a.Unlocked, a.Released, "") {
				releases = append(releases, m.What)
			}
		}
	}
	for i := range t.v.History.Acquisitions {
		a := &t.v.History.Acquisitions[i]
		if a.Outcome == history.OK && a.ID != held.ID {
			t.releasesAgain(a, held, by)
		}
		if a.Outcome != history.Failed {
			continue
		}
		list := t.requests(a, a.Invoked, a.Returned, trace.ToAcquire, trace.ToLook, "")
		for k, m := range list {
			refused := k > 0 && t.v.Answered(list[k-1]) <= m.Sent && model.IsRefusal(t.v.Messages[list[k-1].Answer].Detail) // there is nothing to undo
			if refused && m.Purpose == "" && slices.Contains(releases, m.What) && held.Returned < m.Executed && m.Executed < by {
				t.tell(m.Executed, moments.OrderService, t.who(a), "is refused the lock, but sends "+m.What+here+" as Unlock does", moments.Place{})
				t.wrong(m.What, "comes from a Lock that is refused")
			}
		}
	}
}

// releasesAgain tells of a request of Unlock that is executed a second time, when another client holds.
func (t *narrator) releasesAgain(a, held *history.Acquisition, by trace.Instant) {
	list := t.requests(a, a.Unlocked, by, trace.ToRelease, "")
	for i, m := range list {
		again := slices.ContainsFunc(list[:i], func(o *model.Sent) bool {
			return o.What == m.What && o.Detail == m.Detail && o.Executed < m.Executed
		})
		if again && held.Returned < m.Executed && m.Executed < by {
			t.tell(m.Executed, moments.OrderService, t.who(a)+"'s "+m.What, "is executed again", moments.Place{})
			t.wrong(m.What, "comes again")
		}
	}
}

// hears tells what a client was told before Lock returned, or in the moment in which it did.
func (t *narrator) hears(a *history.Acquisition, at trace.Instant, who, what string) {
	c := clause{at: at, order: moments.OrderBelief - 1, who: who, what: what}
	if at == a.Returned {
		c.step = moments.StepAt(t.v, at, moments.OrderBelief, moments.PlaceOfBelief(t.v, a))
	}
	t.add(c)
}

// accepted reports whether a server has answered OK to the last request of an acquisition that was not granted, which is no mistake of
// Lock: Redis says so of a key whose end (PXAT) has passed by its clock, too, and keeps none.
func (t *narrator) accepted(a *history.Acquisition) bool {
	m, _ := t.lastAsk(a)
	return m != nil && m.Purpose == trace.ToAcquire && t.v.Answered(m) <= a.Returned && t.v.Messages[m.Answer].Detail == "OK"
}

// wrong notes the first thing that a client did wrong: a request and what the request did.
func (t *narrator) wrong(request, did string) { t.decides = cmp.Or(t.decides, request+" "+did) }

// outcome says what the sender of a request knew of it at a moment; "" if its answer cannot be quoted.
func (t *narrator) outcome(m *model.Sent, by trace.Instant) string {
	switch at := t.v.Answered(m); {
	case at == trace.Never:
		return "gets no answer"
	case at > by:
		return "is not answered in time"
	}
	said := t.v.Messages[m.Answer].Detail
	if text, failed := strings.CutPrefix(said, "(error) "); failed {
		return "is answered " + strconv.Quote(t.beginning(text))
	}
	if whose := t.valueIn(said, m); whose != "" {
		return "is answered with " + whose + "'s value"
	}
	switch long := len(said) > longestAnswer; {
	case long && strings.HasPrefix(said, "error "):
		return "is answered with an error"
	case said == "" || long:
		return ""
	}
	return "is answered " + said
}

// valueIn names the other holder whose value a long answer contains; "" if there is none.
func (t *narrator) valueIn(said string, m *model.Sent) string {
	for i := range t.v.History.Acquisitions {
		if a := &t.v.History.Acquisitions[i]; len(said) > longestAnswer && a.Value != "" && a.ID != m.For && strings.Contains(said, a.Value) {
			return t.who(a)
		}
	}
	return ""
}

// beginning is an error, or, of a long one, its first phrase: what follows repeats the request.
func (t *narrator) beginning(text string) string {
	if i := strings.IndexAny(text, ",:"); len(text) > longestError && i > 0 {
		return text[:i] + t.g.Ellipsis
	}
	return text
}

// requests lists what the client of an acquisition sent for it from one moment to another, both included, for some purposes. It
// leaves out what cannot be told from the requests of the client's other tasks.
func (t *narrator) requests(a *history.Acquisition, from, to trace.Instant, purposes ...string) (list []*model.Sent) {
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		asks := !m.Reply && m.From == a.Client && slices.Contains(purposes, m.Purpose)
		if asks && from <= m.Sent && m.Sent <= to && t.isOf(m, a) {
			list = append(list, m)
		}
	}
	return list
}

// lastAsk returns the last request for the lock that an acquisition sent before Lock returned, and which of its kind it was;
// nil if there is none.
func (t *narrator) lastAsk(a *history.Acquisition) (last *model.Sent, nth string) {
	tries := 0
	for _, m := range slices.Backward(t.requests(a, a.Invoked, a.Returned-1, trace.ToAcquire, trace.ToLook)) { // of a later answer it knew nothing
		last = cmp.Or(last, m)
		if m.What == last.What {
			tries++
		}
	}
	if last == nil {
		return nil, ""
	}
	asked := 0 // with other values, before
	for i := range t.v.History.Asks {
		if k := &t.v.History.Asks[i]; k.Acquisition == a.ID && k.Node == last.To && k.At < last.Sent && last.Purpose == trace.ToAcquire && last.For == 0 {
			asked++
		}
	}
	return last, ordinal(max(tries, asked+1))
}

// isOf reports whether a request belongs to an acquisition: the trace says so. A task that renews for all of its client's locks is of none
// of them, and its requests are told apart by their values. Of what programs send the trace does not say it: then the request has the
// acquisition's value, a server has noted it, or no other task of its client lives.
func (t *narrator) isOf(m *model.Sent, a *history.Acquisition) bool {
	if m.For != 0 && (m.Purpose != trace.ToRenew || !t.isOnlyOf(m, a)) {
		return m.For == a.ID
	}
	if a.Value != "" && strings.Contains(m.Detail, a.Value) {
		return true
	}
	others := slices.ContainsFunc(t.v.History.Acquisitions, func(o history.Acquisition) bool {
		return o.Client == a.Client && o.Task != a.Task && m.Sent <= o.Crashed
	})
	if !others {
		return true
	}
	asks := func(of history.ID) bool {
		return slices.ContainsFunc(t.v.History.Asks, func(k history.Ask) bool {
			return (k.Acquisition == of) == (of == a.ID) && k.Client == a.Client && k.Node == m.To && k.At == m.Executed
		})
	}
	return asks(a.ID) && !asks(0)
}

// isOnlyOf reports whether a request has the value of an acquisition, and no other one of the client has the same.
func (t *narrator) isOnlyOf(m *model.Sent, a *history.Acquisition) bool {
	return a.Value != "" && strings.Contains(m.Detail, a.Value) && !slices.ContainsFunc(t.v.History.Acquisitions, func(o history.Acquisition) bool {
		return o.Client == a.Client && o.ID != a.ID && o.Value == a.Value
	})
}

// voters says which servers have granted an acquisition the lock when Lock returns, where a grant takes several.
func (t *narrator) voters(a *history.Acquisition) string {
	if !t.v.Votes() {
		return ""
	}
	var names []string
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
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
	return "though only " + wording.Listing(names) + have + " granted it"
}

// overwriter names a request that overwrote an entry: a SET by the option that it lacks.
func overwriter(e *trace.Event) string {
	if e.What == "SET" && e.Detail != "" && !strings.Contains(e.Detail, " NX") && !strings.Contains(e.Detail, " XX") {
		return "SET without NX"
	}
	return e.What
}

// unheard reports whether an entry belongs to a client that was granted the lock and still waits for Lock to return, though it
// has all answers. If so it tells of the grant.
func (t *narrator) unheard(c *history.Copy) bool {
	a, w := t.v.History.Acquisition(c.Acquisition), t.waiting()
	if a == nil || w == nil || a.Client != w.Client || a.Task != w.Task || a.Returned <= t.until || !t.v.GrantedAt(a.ID, t.until) {
		return false
	}
	for i := range t.v.Messages { // without an answer the client cannot know of its grant
		m := &t.v.Messages[i]
		asked := m.From == a.Client && !m.Reply && m.Purpose == trace.ToAcquire && a.Invoked <= m.Sent && m.Sent <= c.From
		if asked && t.v.Answered(m) == trace.Never {
			return false
		}
	}
	t.participants = append(t.participants, a.ID)
	t.grants(a, t.v.LastGrant(a.ID, t.until), "", "")
	return true
}
