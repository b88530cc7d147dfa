package harness

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// cutOff says what was under way when a run ended that could have gone on; "" if nothing was that could have come to
// anything. A critical section that the scenario lets last forever is not cut short, nor is that of a process that stands
// still for good, or has waited for an answer of the resource for so long that none will come.
func (w *world) cutOff(h *history.History) string {
	ended := "the run ended at " + h.End.String() + " while "
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if b, ok := a.Belief(); ok && b.From <= h.End && h.End < b.To && !w.endless(h, a) && !w.stuck(h, a) {
			return ended + a.Client + " was in its critical section"
		}
	}
	still, lasting := w.steady(h)
	for i := range h.Waits {
		x := &h.Waits[i]
		stands := still >= w.long(x.Client) || still >= w.quiet() && (lasting || w.silent(h, x.Client))
		if x.To > h.End && !stands {
			return ended + x.Client + " was waiting for the lock"
		}
	}
	return ""
}

// endless reports whether an acquisition's critical section would not have ended however long the run had lasted.
func (w *world) endless(h *history.History, a *history.Acquisition) bool {
	for i := range w.plan.clients {
		if c := &w.plan.clients[i]; c.name == a.Client && c.work.Hangs {
			return true
		}
	}
	pending := false
	for _, f := range w.engine.Faults() {
		switch {
		case !f.Fired:
		case f.End != trace.Never:
			pending = pending || f.End > h.End
		case f.Fault.Action.Kind == sim.Pause && f.Node == a.Client:
			return true
		}
	}
	for i := range h.Accesses {
		x := &h.Accesses[i]
		if x.Acquisition == a.ID && x.Returned == trace.Never && !pending && h.End.Sub(x.Invoked) >= w.quiet() {
			return true
		}
	}
	return false
}

// unchanged is for how many leases nothing may have changed in a run for it to be said that nothing will.
const unchanged = 2

// quiet is for how long nothing may have changed.
func (w *world) quiet() time.Duration {
	lock := &w.plan.Case.Scenario.Lock
	if lock.LockDelay != nil {
		return unchanged * (lock.TTL + *lock.LockDelay)
	}
	return unchanged * lock.TTL
}

// silent reports whether a client has asked no server for the lock for so long that it will not do so again. It waits for
// an answer or a message that is lost, so that only another client can acquire.
func (w *world) silent(h *history.History, client string) bool {
	last := trace.Instant(0)
	for i := range h.Asks {
		if a := &h.Asks[i]; a.Client == client {
			last = max(last, a.At)
		}
	}
	return h.End.Sub(last) >= w.quiet()+w.pause(client)
}

// pause is how long a client may wait before it asks again.
func (w *world) pause(client string) time.Duration {
	c := w.clientPlan(client)
	return max(c.work.Again, c.options.Retry.Delay+c.options.Retry.Jitter)
}

// standstill is for how many leases nothing may have changed in a run for it to be said that more time changes nothing,
// whatever its clients do.
const standstill = 10

// long is that time, and what a client may sleep in it.
func (w *world) long(client string) time.Duration {
	return standstill*w.plan.Case.Scenario.Lock.TTL + w.pause(client)
}

// stuck reports whether a critical section should have ended long ago, and nothing has changed since: its client waits for
// what does not come.
func (w *world) stuck(h *history.History, a *history.Acquisition) bool {
	long := w.long(a.Client)
	still, _ := w.steady(h)
	return still >= long && h.End.Sub(a.Returned) >= w.clientPlan(a.Client).work.Work+long
}

func (w *world) clientPlan(name string) *clientPlan {
	i := slices.IndexFunc(w.plan.clients, func(c clientPlan) bool { return c.name == name })
	return &w.plan.clients[i]
}

// steady returns for how long nobody has begun or ceased to hold, and no fault has begun or healed; and whether there is
// something that does not end because of which others wait: a permanent fault, or a hold that lasts.
func (w *world) steady(h *history.History) (still time.Duration, lasting bool) {
	last := trace.Instant(0)
	for _, f := range w.engine.Faults() { // a promotion is not undone
		lasting = lasting || f.Fired && f.Fault.Action.Kind == sim.Promote
	}
	note := func(at trace.Instant) {
		if at <= h.End {
			last = max(last, at)
		}
	}
	for i := range h.Faults {
		f := &h.Faults[i]
		switch {
		case !f.Fired:
			continue
		case f.End == trace.Never:
			lasting = true
		case f.End > h.End:
			return 0, false
		}
		note(f.Begin)
		note(f.End)
	}
	for i := range h.Grants {
		lasting = lasting || h.Grants[i].To > h.End
		note(h.Grants[i].From)
		note(h.Grants[i].To)
	}
	for i := range h.Acquisitions {
		if b, ok := h.Acquisitions[i].Belief(); ok {
			lasting = lasting || b.To > h.End
			note(b.From)
			note(b.To)
		}
	}
	return h.End.Sub(last), lasting
}
