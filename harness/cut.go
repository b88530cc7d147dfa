package harness

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// CutOff says what was under way when a run of the plan ended that could have gone on; "" if nothing was that could have come
// to anything. A critical section that the scenario lets last forever is not cut short, nor is that of a process that stands
// still for good, or has waited for an answer of the resource for so long that none will come. Working lists the clients that
// had not done all that they were to do. Unheard says that the history has no grants, since nobody hears of them: then a wait
// may always be one behind a grant that lasts.
func (p *Plan) CutOff(h *history.History, faults []sim.FaultReport, working []string, unheard bool) string {
	return (&ending{p, faults, working, unheard}).cutOff(h)
}

// ending is what the end of a run is judged by, beside its history.
type ending struct {
	plan    *Plan
	faults  []sim.FaultReport
	working []string
	unheard bool
}

func (w *ending) cutOff(h *history.History) string {
	ended := "the run ended at " + inSeconds(h.End) + " while "
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if b, ok := a.Belief(); ok && b.From <= h.End && h.End < b.To && !w.endless(h, a) && !w.stuck(h, a) {
			return ended + a.Client + " was in its critical section"
		}
	}
	still, lasting := w.steady(h)
	due, left := w.leftover(h)
	for i := range h.Waits {
		x := &h.Waits[i]
		unmoved := min(still, h.End.Sub(x.From)) // the bound on waiting counts from the later one
		stands := unmoved >= w.quiet() && !due && (lasting || left || w.silent(h, x.Client))
		if x.To > h.End && !stands {
			return ended + x.Client + " was waiting for the lock"
		}
	}
	for i := range w.plan.clients {
		if c := &w.plan.clients[i]; still < w.long(c.name) && w.sectionsLeft(h, c) {
			return ended + c.name + " had critical sections left"
		}
	}
	for _, f := range w.faults {
		if f.Fired && f.End != trace.Never && f.End > h.End && w.keepsBack(f) {
			return ended + f.Fault.Name + " kept back what clients had sent"
		}
	}
	return ""
}

// keepsBack reports whether a fault that heals may let requests of clients be executed then: a pause of a server does, a cut
// between servers does not.
func (w *ending) keepsBack(f sim.FaultReport) bool {
	a := &f.Fault.Action
	return a.Kind == sim.Pause || a.Kind == sim.Delay ||
		(a.Kind == sim.Cut || a.Kind == sim.Stall) && slices.ContainsFunc(w.plan.clients, func(c clientPlan) bool {
			return meant(a.Link.From, c.name) || meant(a.Link.To, c.name)
		})
}

// sectionsLeft reports whether a task of a client that neither waits nor holds has yet to ask for the lock, because it pauses
// between sections, or has not begun, or is to be restarted. One that is about to leave its last section does not count: it
// accesses nothing any more.
func (w *ending) sectionsLeft(h *history.History, c *clientPlan) bool {
	since := trace.Instant(0)
	for _, f := range w.faults {
		if f.Fired && f.Fault.Action.Kind == sim.Crash && f.Node == c.name && f.End != trace.Never {
			since = max(since, f.End) // it begins anew
		}
	}
	if since <= h.End && !slices.Contains(w.working, c.name) {
		return false
	}
	begun, judged := 0, 0
	for i := range h.Waits {
		if x := &h.Waits[i]; x.Client == c.name && x.From >= since {
			begun++
			if x.To > h.End {
				judged++
			}
		}
	}
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if b, ok := a.Belief(); a.Client == c.name && ok && b.From <= h.End && h.End < b.To {
			judged++
		}
	}
	tasks := max(c.work.Tasks, 1)
	return judged < tasks && begun < tasks*c.work.Sections*max(c.work.Enters, 1)
}

// leftover reports of the keys that acquisitions have left behind whether one may yet go, since it has not stood for so long
// that it must be a leak; and whether one will not, which has no end of its own.
func (w *ending) leftover(h *history.History) (due, stays bool) {
	for i := range h.Copies {
		c := &h.Copies[i]
		a := h.Acquisition(c.Acquisition)
		if a == nil || c.To <= h.End {
			continue
		}
		over := a.Returned
		switch {
		case a.Outcome == history.OK && a.Released == trace.Never && a.Unlocked != trace.Never:
			over = a.Unlocked.Add(w.long(a.Client)) // an Unlock that has not returned by then will not
		case a.Outcome == history.OK:
			over = a.Released
		}
		switch {
		case over > h.End:
		case h.End.Sub(max(c.From, over)) <= 3*w.plan.Case.Scenario.Lock.TTL:
			due = true
		case c.Expires == trace.Never:
			stays = true
		}
	}
	return due, stays
}

// inSeconds prints a whole number of seconds as people set it as an end: 60s, not 1m0s.
func inSeconds(at trace.Instant) string {
	if second := trace.Instant(time.Second); at%second == 0 {
		return strconv.FormatInt(int64(at/second), 10) + "s"
	}
	return at.String()
}

// endless reports whether an acquisition's critical section would not have ended however long the run had lasted.
func (w *ending) endless(h *history.History, a *history.Acquisition) bool {
	for i := range w.plan.clients {
		if c := &w.plan.clients[i]; c.name == a.Client && c.work.Hangs {
			return true
		}
	}
	pending := false
	for _, f := range w.faults {
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

// quiet is for how long nothing may have changed: leases are over by then, and who waits has waited for longer than the
// scenario allows.
func (w *ending) quiet() time.Duration {
	s := w.plan.Case.Scenario
	lease := s.Lock.TTL
	if s.Lock.LockDelay != nil {
		lease += *s.Lock.LockDelay
	}
	return max(unchanged*lease, s.Progress+1)
}

// silent reports whether a client has asked no server for the lock for so long that it will not do so again. It waits for
// an answer or a message that is lost, so that only another client can acquire.
func (w *ending) silent(h *history.History, client string) bool {
	last := trace.Instant(0)
	for i := range h.Asks {
		if a := &h.Asks[i]; a.Client == client {
			last = max(last, a.At)
		}
	}
	return h.End.Sub(last) >= w.quiet()+w.pause(client)
}

// pause is how long a client may wait before it asks again.
func (w *ending) pause(client string) time.Duration {
	c := w.clientPlan(client)
	return max(c.work.Again, c.options.Retry.Delay+c.options.Retry.Jitter)
}

// standstill is for how many leases nothing may have changed in a run for it to be said that more time changes nothing,
// whatever its clients do.
const standstill = 10

// long is that time, and what a client may sleep in it.
func (w *ending) long(client string) time.Duration {
	return standstill*w.plan.Case.Scenario.Lock.TTL + w.pause(client)
}

// stuck reports whether a critical section should have ended long ago, and nothing has changed since: its client waits for
// what does not come.
func (w *ending) stuck(h *history.History, a *history.Acquisition) bool {
	long := w.long(a.Client)
	still, _ := w.steady(h)
	return still >= long && h.End.Sub(a.Returned) >= w.clientPlan(a.Client).work.Work+long
}

func (w *ending) clientPlan(name string) *clientPlan {
	i := slices.IndexFunc(w.plan.clients, func(c clientPlan) bool { return c.name == name })
	return &w.plan.clients[i]
}

// steady returns for how long nobody has begun or ceased to hold, and no fault has begun or healed; and whether there is
// something that does not end because of which others wait: a permanent fault, or a hold that lasts.
func (w *ending) steady(h *history.History) (still time.Duration, lasting bool) {
	last := trace.Instant(0)
	lasting = w.unheard
	for _, f := range w.faults { // a promotion is not undone
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
