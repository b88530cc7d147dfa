package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leftBehind tells of an entry that keeps others out though its acquisition is over.
func (t *narrator) leftBehind() {
	t.ended()
	a := t.taken(0)
	for i := range t.v.History.Copies {
		if c := &t.v.History.Copies[i]; a != nil && c.Acquisition == a.ID && c.From <= t.until && t.until < c.To {
			why := t.keptAlive(c, t.who(a))
			if why == "" && t.outlived(c, a) {
				why = t.kept(c, t.who(a))
			}
			why = cmp.Or(why, t.omitted(c, t.who(a)))
			if !slices.ContainsFunc(t.clauses, func(o clause) bool { return strings.Contains(o.what, why) }) { // of who waits for it
				t.conclude(t.until, why, moments.Place{})
			}
			return
		}
	}
}

// inTheWay returns the entry that keeps those out who wait, or has done so until just now, and the servers that have it; nil if there is
// none. An entry on a server that does not answer them, or that they do not ask, keeps nobody out, nor do those on few of many.
func (t *narrator) inTheWay() (first *history.Copy, nodes []string) {
	within := t.v.Run.Case.Scenario.Progress / 2
	since := t.until.Add(-within)
	instants := []trace.Instant{t.until, t.until.Add(-t.soon())}
	if w := t.waiting(); w != nil && t.forever(w) {
		within, since, instants = t.until.Sub(w.From), t.until, instants[:1]
	}
	servers := t.refusing(within)
	for _, at := range instants {
		free := slices.Clone(servers) // that have no entry
		for i := range t.v.History.Copies {
			c := &t.v.History.Copies[i]
			if c.From > since || c.To <= at || !slices.Contains(servers, c.Node) || t.v.IsDown(c.Node, t.until) {
				continue
			}
			free = slices.DeleteFunc(free, func(name string) bool { return name == c.Node })
			if (first == nil || first.Acquisition == c.Acquisition) && !slices.Contains(nodes, c.Node) {
				first, nodes = c, append(nodes, c.Node)
			}
		}
		switch {
		case first == nil:
		case t.v.Votes() && len(free) >= t.quorum():
			return nil, nil
		default:
			return first, nodes
		}
	}
	return nil, nil
}

// refusing lists the servers whose entries may keep out the one who waits, by what they have answered it of late: where several vote,
// all that answer, if they would be enough; else the one that answered last. It lists all if that is not known.
func (t *narrator) refusing(within time.Duration) []string {
	w, all := t.waiting(), t.v.Names
	if keeper := model.KeeperOf(t.v.Servers()); keeper != "" {
		all = append(slices.Clone(all), keeper)
	}
	if w == nil || t.v.Servers().Count() < 2 || len(all) > len(t.v.Names) {
		return all
	}
	_, list := t.asked(w)
	if len(list) > 0 && t.v.Votes() {
		if answering := t.answering(list, t.until.Add(-within)); len(answering) >= t.quorum() {
			return answering
		}
		return nil
	}
	for _, m := range slices.Backward(list) {
		switch at := t.v.Answered(m); {
		case at <= t.until:
			return []string{m.To}
		case m.Sent < t.until.Add(-within):
			return nil
		}
	}
	return all
}

// quorum is how many of the servers that vote grant the lock: so many that no more are left than exclude everybody else.
func (t *narrator) quorum() int { return t.v.Servers().Shape().Voters - max(t.v.History.Blocks, 1) + 1 }

// answering lists the servers that have answered one of some requests that were sent from a moment on.
func (t *narrator) answering(list []*model.Sent, from trace.Instant) (names []string) {
	for _, m := range list {
		if m.Sent >= from && t.v.Answered(m) <= t.until && !slices.Contains(names, m.To) {
			names = append(names, m.To)
		}
	}
	return names
}

// silentServers says that the one who waits is not answered by so many of the servers that vote that the others are too few; "" if not, or
// if it asks nothing.
func (t *narrator) silentServers(w *history.Wait) string {
	_, list := t.asked(w)
	from := t.until.Add(-t.v.Run.Case.Scenario.Progress / 2)
	if !t.v.Votes() || len(list) == 0 || list[len(list)-1].Sent < from {
		return ""
	}
	voters, answering := t.needed(w), t.answering(list, from)
	silent := slices.DeleteFunc(slices.Clone(voters), func(name string) bool { return slices.Contains(answering, name) })
	if len(voters)-len(silent) >= t.quorum() {
		return ""
	}
	return t.v.Waiter(w) + " gets no answer from " + wording.Listing(silent) + ", and "
}

// unacknowledged says that a master tells the one who waits each time how few replicas have its key, which are too few; "" if not.
func (t *narrator) unacknowledged() string {
	w, answer, times := t.waiting(), "", 0
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		asks := w != nil && !m.Reply && m.From == w.Client && m.What == "WAIT" && t.v.Answered(m) <= t.until
		if !asks || t.v.Answered(m) < t.until.Add(-t.v.Run.Case.Scenario.Progress/2) {
			continue
		}
		said := t.outcome(m, t.until)
		if times > 0 && said != answer {
			return ""
		}
		answer, times = said, times+1
	}
	few := false
	for n := range max(t.v.Run.Case.Scenario.Lock.Acks, 1) {
		few = few || answer == fmt.Sprintf("is answered (integer) %d", n)
	}
	if times < 2 || !few {
		return ""
	}
	return "each time " + t.v.Waiter(w) + "'s WAIT " + answer + ", and "
}

// displaced returns the entry in whose place another was put; nil if there was none.
func (t *narrator) displaced(c *history.Copy) *history.Copy {
	i := slices.IndexFunc(t.v.History.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.To == c.From && o.Gone == history.Overwritten
	})
	if i < 0 {
		return nil
	}
	return &t.v.History.Copies[i]
}

// tellOrigin tells which request made an entry that a client does not hold, and what became of the request.
func (t *narrator) tellOrigin(c *history.Copy, who string) {
	m, nth := request(t.v, c)
	a := t.v.History.Acquisition(c.Acquisition)
	if a != nil && moments.Resurrected(t.v, c) {
		t.acquires(a)
		t.leaves(a, c.From)
		t.tell(c.From, moments.OrderService, c.Node, "has "+t.v.EntryOf(who)+" again", moments.PlaceOfReturn(t.v, c))
		return
	}
	if m == nil || a == nil {
		what := "is made"
		switch source := t.copiedFrom(c); {
		case source != "" && a != nil && a.Outcome == history.OK && t.granted(a) != nil:
			t.acquires(a)
			t.leaves(a, t.until)
			return
		case source != "":
			what = "is copied from " + source + " to " + c.Node
		case a != nil && t.v.Servers().Holds() != "" && t.queues(a, c.From-1):
			what = "becomes the first in the queue"
		}
		t.tell(c.From, moments.OrderService, t.v.EntryOf(who), what, moments.PlaceOfCopy(t.v, c))
		return
	}
	outcome := ""
	switch answered := t.v.Answered(m); {
	case a.Unlocked != trace.Never && a.Unlocked <= c.From:
		outcome = ", after Unlock was called"
	case a.Returned <= c.From && a.Outcome == history.OK:
		outcome = ", and puts the " + t.v.Servers().Entry() + " back"
		if o := t.displaced(c); o != nil {
			outcome = ", and overwrites " + t.v.EntryOf(t.v.Holder(o.Acquisition, o.Client))
		}
	case a.Returned != trace.Never && a.Returned <= c.From:
		outcome = ", after Lock has returned without the lock"
	case answered == trace.Never && m.Answer >= 0 && t.v.OnItsWay(&t.v.Messages[m.Answer].Message):
		outcome = ", and its answer is on its way when the run ends"
	case answered == trace.Never && t.breaksAt(c.From): // which is told
	case answered == trace.Never:
		outcome = ", and its answer never arrives"
	case a.Returned != trace.Never && a.Returned < answered:
		outcome = ", and times out before its answer arrives"
	}
	t.add(clause{
		at: c.From, order: moments.OrderService, who: who + "'s " + nth + m.What + " to " + c.Node, what: "is executed" + here + outcome,
		place: moments.PlaceOfCopy(t.v, c), made: a,
	})
}

// breaksAt reports whether a connection breaks at a moment and loses replies.
func (t *narrator) breaksAt(at trace.Instant) bool {
	return slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.Break && f.Begin == at && f.Of != nil && f.Of.Action.Lose == sim.LoseReply && !t.needless(f.Name)
	})
}

// queues reports whether an acquisition had asked for a place in a queue up to a moment: of ZooKeeper for a znode with a number.
func (t *narrator) queues(a *history.Acquisition, by trace.Instant) bool {
	return slices.ContainsFunc(t.requests(a, a.Invoked, min(a.Returned, by), trace.ToAcquire), func(m *model.Sent) bool {
		return m.What != "create" || m.Detail == "" || strings.Contains(m.Detail, "sequential")
	})
}

// copiedFrom returns the server from which a replica has an entry; "" if it is not known to be a copy of another one's.
func (t *narrator) copiedFrom(c *history.Copy) string {
	i := slices.IndexFunc(t.v.History.Copies, func(o history.Copy) bool {
		return o.Acquisition == c.Acquisition && o.Node != c.Node && o.From < c.From && c.From <= o.To
	})
	if i < 0 || t.v.Votes() {
		return ""
	}
	return t.v.History.Copies[i].Node
}

// untilExpiry says when an entry that stays ends; "" if it does not, if it is renewed, or if something else ends the entry
// before.
func (t *narrator) untilExpiry(c *history.Copy) string {
	clients, _ := t.prolongers(c, t.v.History.End)
	ends := "it expires"
	if holds := t.v.Servers().Holds(); holds == "session" || holds == "connection" && c.Expires == trace.Never {
		ends = "its " + holds + " ends"
	}
	switch {
	case len(clients) > 0:
		return ""
	case c.Gone == history.Expired:
		return " until " + ends + " at " + t.time(c.To)
	case c.Expires == trace.Never || c.To < c.Expires:
		return ""
	case c.Expires <= t.until:
		return " although its lease ended at " + t.time(c.Expires)
	case c.Gone == history.Overwritten && t.v.Servers().Entry() == "object": // when a client that waits takes it for over
		return " until it is replaced at " + t.time(c.To)
	}
	return " until it expires at " + t.time(c.Expires)
}

// omitted says what should have deleted an entry that stays, or deletes it late.
func (t *narrator) omitted(c *history.Copy, who string) string {
	m, _ := request(t.v, c)
	late := func(ended trace.Instant) bool { // in a queue it was made before its turn came
		return m != nil && m.Executed > ended || moments.Resurrected(t.v, c)
	}
	switch a := t.v.History.Acquisition(c.Acquisition); {
	case a == nil:
		return ""
	case t.died(a):
		return t.unnoticed(c, who)
	case a.Returned <= t.until && a.Outcome != history.OK && !late(a.Returned):
		t.wrong("Lock", "leaves an entry")
		return ": " + who + "'s Lock should have deleted it when it gave up"
	case a.Unlocked <= t.until && !late(a.Unlocked):
		if astray := t.astray(a, c); astray != "" {
			return ": " + who + "'s Unlock " + astray
		}
		if underway := t.underway(a, c); underway != nil {
			return fmt.Sprintf(": the release (%s) of %s's Unlock, sent at %s, is executed only at %s", underway.What, who, t.time(underway.Sent), t.time(c.To))
		}
		t.wrong("Unlock", "leaves an entry")
		omits := who + "'s Unlock should have deleted it"
		if t.sendsNothing(a) {
			omits = who + "'s Unlock sends nothing"
		}
		if a.Released <= t.until && a.Release == history.Unknown {
			omits = who + "'s Unlock gets no answer, and nothing deletes it later"
			if slices.ContainsFunc(t.requests(a, a.Unlocked, a.Released, trace.ToRelease), func(m *model.Sent) bool {
				return strings.HasPrefix(t.outcome(m, t.until), "is answered")
			}) {
				omits = who + "'s Unlock does not delete it, and nothing does so later"
			}
		}
		return ": " + cmp.Or(t.heldTwice(a, c, who), t.refusedRelease(a, c, who), omits)
	}
	return ""
}

// sendsNothing reports whether a client has sent nothing since it called Unlock, which has returned.
func (t *narrator) sendsNothing(a *history.Acquisition) bool {
	return a.Release == history.OK && a.Released <= t.until && t.asksNobody(a, a.Unlocked, t.until)
}

// asksNobody reports whether a client has sent nothing that may be for an acquisition from one moment to another, both included.
func (t *narrator) asksNobody(a *history.Acquisition, from, to trace.Instant) bool {
	return len(t.v.Messages) > 0 && !slices.ContainsFunc(t.v.Messages, func(m model.Sent) bool {
		return !m.Reply && m.From == a.Client && m.To != moments.StorageLane && from <= m.Sent && m.Sent <= to && (m.For == 0 || m.For == a.ID)
	})
}

// underway returns the release of an Unlock that deletes an entry after the violation; nil if none does.
func (t *narrator) underway(a *history.Acquisition, c *history.Copy) *model.Sent {
	list := t.requests(a, a.Unlocked, min(a.Released, t.until), trace.ToRelease)
	i := slices.IndexFunc(list, func(m *model.Sent) bool { return c.Gone == history.Deleted && m.Executed == c.To && t.until <= c.To })
	if i < 0 {
		return nil
	}
	return list[i]
}

// refusedRelease says what the last release of an Unlock was answered by the server that keeps the entry; "" if it sent none there, or
// if the answer is too long.
func (t *narrator) refusedRelease(a *history.Acquisition, c *history.Copy, who string) string {
	for _, m := range slices.Backward(t.requests(a, a.Unlocked, min(a.Released, t.until), trace.ToRelease)) {
		if outcome := t.outcome(m, t.until); m.To == c.Node && outcome != "" {
			return fmt.Sprintf("the release (%s) of %s's Unlock %s", m.What, who, outcome)
		}
	}
	return ""
}

// astray says where a release went that could not delete an entry there; "" if it went to it. A client may not have been told of a
// new master, and of the connections of a pooler it knows nothing.
func (t *narrator) astray(a *history.Acquisition, c *history.Copy) string {
	switch pooled := t.v.Servers().Pool > 0; {
	case pooled && a.Release == history.Failed:
		return "came by another connection of the pooler, which does not hold it"
	case pooled && a.Release == history.OK && t.displaced(c) != nil:
		return "ended its own hold, and not the one that the connection had before"
	}
	promoted := slices.ContainsFunc(t.v.Roles, func(e trace.Event) bool {
		return e.Does == trace.Promote && e.Node == c.Node && c.From < e.At
	})
	sent := t.requests(a, a.Unlocked, min(a.Released, t.until), trace.ToRelease)
	if !promoted || len(sent) == 0 || slices.ContainsFunc(sent, func(m *model.Sent) bool { return m.To == c.Node }) {
		return ""
	}
	return "went to " + sent[len(sent)-1].To
}

// request returns the request that made an entry, and which of its kind it was of those that its client has sent to the
// server; nil if the trace has none.
func request(v *model.View, c *history.Copy) (m *model.Sent, nth string) {
	n := 0
	for i := range v.Messages {
		o := &v.Messages[i]
		made := o.From == c.Client && o.To == c.Node && o.Executed == c.From && o.Purpose != trace.ToRelease // which lets the next in a queue be the first
		if o.Reply || !made {
			continue
		}
		for k := range i {
			if e := &v.Messages[k]; !e.Reply && e.From == o.From && e.To == o.To && e.What == o.What {
				n++
			}
		}
		return o, ordinal(n + 1)
	}
	return nil, ""
}

// ordinal names the how manieth request it is; "" if it is the first.
func ordinal(n int) string {
	switch {
	case n == 1:
		return ""
	case n <= 5:
		return [...]string{"second ", "third ", "fourth ", "fifth "}[n-2]
	}
	ending := "th"
	if last := n % 10; last >= 1 && last <= 3 && n/10%10 != 1 {
		ending = [...]string{"st", "nd", "rd"}[last-1]
	}
	return fmt.Sprintf("%d%s ", n, ending)
}
