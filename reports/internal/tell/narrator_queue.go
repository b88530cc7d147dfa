package tell

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// isWatch reports whether a request at ZooKeeper sets a watch.
func isWatch(m *model.Sent) bool { return strings.HasSuffix(m.Detail, " watch") }

// fires reports whether an event is that of the watch that a request has set.
func fires(watch, event *model.Sent) bool {
	path := strings.TrimSuffix(watch.Detail, " watch")
	return event.What == "event" && event.To == watch.From && event.Sent >= watch.Executed &&
		strings.HasSuffix(path, strings.TrimPrefix(event.Detail, event.Purpose))
}

// maker returns the acquisition that made the znode which a look is at; nil if the path does not tell.
func (t *narrator) maker(look *model.Sent) (of *history.Acquisition) {
	path := strings.TrimPrefix(strings.TrimSuffix(look.Detail, " watch"), look.What+" ")
	for i := range t.v.History.Acquisitions {
		a := &t.v.History.Acquisitions[i]
		made := slices.ContainsFunc(t.requests(a, a.Invoked, min(a.Returned, look.Sent), trace.ToAcquire), func(c *model.Sent) bool {
			prefix, _, _ := strings.Cut(strings.TrimPrefix(c.Detail, "create "), " ")
			return c.What == "create" && strings.HasPrefix(path, prefix)
		})
		switch {
		case !made:
		case of != nil:
			return nil // names that are alike
		default:
			of = a
		}
	}
	return of
}

// woken returns the last look of an acquisition, and the event that had Lock return without another one: what it watched is gone. Both
// are nil if Lock returned for another reason.
func (t *narrator) woken(a *history.Acquisition) (watch, event *model.Sent) {
	m, _ := t.lastAsk(a)
	if m == nil || !isWatch(m) {
		return nil, nil
	}
	for i := range t.v.Messages {
		if n := &t.v.Messages[i]; fires(m, n) && n.Received <= a.Returned && n.Purpose == "deleted" {
			return m, n
		}
	}
	return nil, nil
}

// wakes tells why what a waiting client watched is gone, and that the client is notified of it.
func (t *narrator) wakes(a *history.Acquisition, watch, event *model.Sent) {
	what := t.watched(watch, a)
	if what == "" {
		what = "what it watches"
	}
	if of := t.maker(watch); of != nil {
		t.leavesQueue(of, strings.TrimPrefix(event.Detail, event.Purpose+" "), event.Sent)
	}
	t.hears(a, event.Received, t.who(a), "is notified that "+what+" is gone")
	t.wrong("event", "is taken for a grant")
}

// leavesQueue tells how an acquisition lost its place in the queue before a moment: its client deleted its znode, or its session expired.
func (t *narrator) leavesQueue(a *history.Acquisition, path string, by trace.Instant) {
	for _, m := range t.requests(a, a.Invoked, by, trace.ToRelease) {
		if m.Executed > by || !strings.HasSuffix(m.Detail, path) {
			continue
		}
		what := "deletes its " + t.v.Servers().Entry()
		if a.Outcome != history.OK {
			what = "gives up and " + what
		}
		t.tell(m.Executed, moments.OrderService, t.who(a), what, moments.Place{})
		return
	}
	t.losesPlace(a, by)
}

// losesPlace tells that the session, or lease, has expired with which the place of an acquisition in the queue ends. That servers
// were made to end it is told as a fault.
func (t *narrator) losesPlace(a *history.Acquisition, by trace.Instant) {
	e := t.expiry(a, by)
	if e == nil || slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.EndSession && f.Node == a.Client && f.Begin == e.At
	}) {
		return
	}
	t.add(clause{
		at: e.At, step: e.Seq, order: moments.OrderLoss, who: t.who(a) + "'s " + t.v.Servers().Holds(),
		what: "expires" + here + ", which deletes its " + t.v.Servers().Entry(),
	})
}

// expiry returns the step in which a server ended the session that a client had while an acquisition waited; nil if none did. Sessions
// are the client's that it was told of in the answer to a request without a purpose.
func (t *narrator) expiry(a *history.Acquisition, by trace.Instant) (last *trace.Event) {
	if t.v.Servers().Holds() == "" {
		return nil
	}
	var own []string
	for i := range t.v.Run.Events {
		switch e := &t.v.Run.Events[i]; {
		case e.At > by:
			return last
		case e.Does == trace.Reply && e.Peer == a.Client && e.Alt == "":
			own = append(own, strings.Fields(e.Detail)...)
		case e.Does == trace.Expire && e.At >= a.Invoked && slices.Contains(own, e.What):
			last = e
		}
	}
	return last
}

// deadAhead names the clients that asked before the one who waits and died while they waited, where the lock is free and the requests of
// the one who waits are refused all the same: the servers keep a queue, and the places of the dead in it. It is "" if that is not so.
func (t *narrator) deadAhead() string {
	w := t.waiting()
	if w == nil || t.v.Votes() || !t.refusedFree(w) {
		return ""
	}
	var dead []string
	for i := range t.v.History.Waits {
		o := &t.v.History.Waits[i]
		who := t.v.Waiter(o)
		if who == t.v.Waiter(w) {
			who = "an earlier life of " + who
		}
		if o.Ended == history.Died && o.From < w.From && o.To <= t.until && !slices.Contains(dead, who) {
			dead = append(dead, who)
		}
	}
	if len(dead) == 0 {
		return ""
	}
	t.wrong("Lock", "leaves a dead client in the queue")
	keep := "died while it waited and keeps its place in the queue"
	if len(dead) > 1 {
		keep = "died while they waited and keep their places in the queue"
	}
	return "the lock is free, but " + wording.Listing(dead) + " asked before " + t.v.Waiter(w) + ", " + keep + ", and "
}

// refusedFree reports whether a server has answered requests of the one who waits for as long as half the bound, and granted none of
// them, though there was no entry of the lock. An error is another reason.
func (t *narrator) refusedFree(w *history.Wait) bool {
	a, list := t.asked(w)
	from, n := t.until.Add(-t.v.Run.Case.Scenario.Progress/2), 0
	for _, m := range list {
		if m.Purpose != trace.ToAcquire || m.Executed < from || m.Executed > t.until || t.v.Answered(m) > t.until {
			continue
		}
		failed := strings.HasPrefix(t.v.Messages[m.Answer].Detail, "(error) ")
		if failed || t.goneBefore(m.Executed) == nil || t.v.GrantedAt(a.ID, m.Executed) {
			return false
		}
		n++
	}
	return n > 1
}
