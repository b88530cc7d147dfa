package harness

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// CutOff describes an activity that the end of a run of the plan interrupted; "" if there was none that could have made
// progress. A critical section that lasts forever by the scenario is not interrupted, nor is that of a process that is
// stopped permanently, or has waited for an answer of the resource for so long that none will arrive. Working lists the
// clients that had not finished their work. Unheard says that the history has no grants, since no observer sees them:
// then any wait may be behind a lasting grant.
func (p *Plan) CutOff(h *history.History, faults []sim.FaultReport, working []string, unheard bool) string {
	return (&ending{p, h, faults, working, unheard}).cutOff()
}

// ending is what the end of a run is judged by.
type ending struct {
	plan    *Plan
	h       *history.History
	faults  []sim.FaultReport
	working []string
	unheard bool
}

func (e *ending) cutOff() string {
	ended := "the run ended at " + inSeconds(e.h.End) + " while "
	for i := range e.h.Acquisitions {
		if a := &e.h.Acquisitions[i]; e.holds(a) && !e.takesMore(a) && !e.endless(a) && !e.stuck(a) {
			return ended + a.Client + " was in its critical section"
		}
	}
	still, lasting := e.steady()
	due, left := e.leftover()
	for i := range e.h.Waits {
		x := &e.h.Waits[i]
		unmoved := min(still, e.h.End.Sub(x.From))                                  // the bound on waiting counts from the later one
		asked := e.unheard || e.lastAsk(x.Client) >= e.h.End.Add(e.quiet()-unmoved) // in vain, when all should have been over
		stands := unmoved >= e.quiet() && !due && ((lasting || left) && asked || e.silent(x.Client))
		if x.To > e.h.End && !stands {
			return ended + x.Client + " was waiting for the lock"
		}
	}
	for i := range e.plan.clients {
		if c := &e.plan.clients[i]; still < e.long(c.Name) && e.sectionsLeft(c) {
			return ended + c.Name + " had critical sections left"
		}
	}
	for _, f := range e.faults {
		if f.Fired && f.End != trace.Never && f.End > e.h.End && e.keepsBack(f) {
			return ended + f.Fault.Name + " kept back what clients had sent"
		}
	}
	return ""
}

// takesMore reports whether the task of an acquisition still waits for other locks before it works.
func (e *ending) takesMore(a *history.Acquisition) bool {
	return e.plan.Several() && slices.ContainsFunc(e.h.Waits, func(w history.Wait) bool {
		return w.Client == a.Client && w.Task == a.Task && w.From <= a.Invoked && e.h.End < w.To
	})
}

// holdsMore reports whether the task of an acquisition holds other locks that it has acquired later.
func (e *ending) holdsMore(a *history.Acquisition) bool {
	return e.plan.Several() && slices.ContainsFunc(e.h.Acquisitions[a.ID:], func(b history.Acquisition) bool {
		return b.Client == a.Client && b.Task == a.Task && e.holds(&b)
	})
}

// holds reports whether an acquisition's critical section lasts at the end.
func (e *ending) holds(a *history.Acquisition) bool {
	b, ok := a.Belief()
	return ok && b.From <= e.h.End && e.h.End < b.To
}

// keepsBack reports whether a fault that heals may let requests of clients be executed then: a pause of a server does, a cut
// between servers does not.
func (e *ending) keepsBack(f sim.FaultReport) bool {
	a := &f.Fault.Action
	return a.Kind == sim.Pause || a.Kind == sim.Delay ||
		(a.Kind == sim.Cut || a.Kind == sim.Stall) && slices.ContainsFunc(e.plan.clients, func(c clientPlan) bool {
			return sim.MatchesAny(a.Link.From, c.Name) || sim.MatchesAny(a.Link.To, c.Name)
		})
}

// sectionsLeft reports whether a task of a client that neither waits nor holds has yet to ask for the lock, because it pauses
// between sections, or has not begun, or is to be restarted. One that is about to leave its last section does not count: it
// accesses nothing any more.
func (e *ending) sectionsLeft(c *clientPlan) bool {
	since := trace.Instant(0)
	for _, f := range e.faults {
		if f.Fired && f.Fault.Action.Kind == sim.Crash && f.Node == c.Name && f.End != trace.Never {
			since = max(since, f.End) // its sections are counted from the restart on
		}
	}
	if since <= e.h.End && !slices.Contains(e.working, c.Name) {
		return false
	}
	begun, judged := 0, 0
	for i := range e.h.Waits {
		if x := &e.h.Waits[i]; x.Client == c.Name && x.From >= since {
			begun++
			if x.To > e.h.End {
				judged++
			}
		}
	}
	for i := range e.h.Acquisitions {
		if a := &e.h.Acquisitions[i]; a.Client == c.Name && e.holds(a) && !e.takesMore(a) && !e.holdsMore(a) {
			judged++
		}
	}
	tasks := max(c.Work.Tasks, 1)
	return judged < tasks && begun < tasks*c.Work.Sections*max(c.Work.Enters, 1)
}

// leftover reports of the keys that acquisitions have left behind whether one may yet go, since it has not stood for so long
// that it must be a leak; and whether one will not, which has no end of its own.
func (e *ending) leftover() (due, stays bool) {
	for i := range e.h.Copies {
		c := &e.h.Copies[i]
		a := e.h.Acquisition(c.Acquisition)
		if a == nil || c.To <= e.h.End {
			continue
		}
		over := a.Returned
		switch {
		case a.Outcome == history.OK && a.Released == trace.Never && a.Unlocked != trace.Never:
			over = a.Unlocked.Add(e.long(a.Client)) // an Unlock that has not returned by then will not
		case a.Outcome == history.OK:
			over = a.Released
		}
		switch {
		case over > e.h.End:
		case e.h.End.Sub(max(c.From, over)) <= e.plan.Case.Scenario.Slowed(3*e.plan.Case.Scenario.Lease()):
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
func (e *ending) endless(a *history.Acquisition) bool {
	if e.clientPlan(a.Client).Work.Hangs {
		return true
	}
	pending := false
	for _, f := range e.faults {
		switch {
		case !f.Fired:
		case f.End != trace.Never:
			pending = pending || f.End > e.h.End
		case f.Fault.Action.Kind == sim.Pause && f.Node == a.Client:
			return true
		}
	}
	for i := range e.h.Accesses {
		x := &e.h.Accesses[i]
		if x.Acquisition == a.ID && x.Returned == trace.Never && !pending && e.h.End.Sub(x.Invoked) >= e.quiet() {
			return true
		}
	}
	return false
}

// unchanged is for how many leases nothing may have changed in a run for it to be said that nothing will.
const unchanged = 2

// quiet is for how long nothing may have changed: leases are over by then, servers have ended connections from which they hear nothing, the
// dead have no place in a fair lock's list any more, and every wait has lasted for longer than the scenario allows.
func (e *ending) quiet() time.Duration {
	s := e.plan.Case.Scenario
	lease := s.Lease()
	if s.Lock.LockDelay != nil {
		lease += *s.Lock.LockDelay
	}
	return s.Slowed(max(unchanged*lease, s.Progress+1, s.Servers.KeepAlive+1, s.Servers.IdleTimeout+1, s.Places()+1))
}

// silent reports whether a client has asked no server for the lock for so long that it will not do so again. It waits for
// an answer or a message that is lost, so that only another client can acquire.
func (e *ending) silent(client string) bool {
	return e.h.End.Sub(e.lastAsk(client)) >= e.quiet()+e.pause(client)
}

// lastAsk is when a client asked a server for the lock last; 0 if it never did.
func (e *ending) lastAsk(client string) (last trace.Instant) {
	for i := range e.h.Asks {
		if a := &e.h.Asks[i]; a.Client == client {
			last = max(last, a.At)
		}
	}
	return last
}

// pause is how long a client may wait before it asks again.
func (e *ending) pause(client string) time.Duration {
	c := e.clientPlan(client)
	return max(c.Work.Again, c.Options.Retry.Delay+c.Options.Retry.Jitter)
}

// standstill is for how many leases a run must not have changed before CutOff concludes that more time would not change
// it either.
const standstill = 10

// long is that time, and what a client may sleep in it.
func (e *ending) long(client string) time.Duration {
	return standstill*e.plan.Case.Scenario.Lease() + e.pause(client)
}

// stuck reports whether a critical section should have ended long ago, and nothing has changed since: its client waits for
// what does not come.
func (e *ending) stuck(a *history.Acquisition) bool {
	long := e.long(a.Client)
	still, _ := e.steady()
	return still >= long && e.h.End.Sub(a.Returned) >= e.clientPlan(a.Client).Work.Work+long
}

func (e *ending) clientPlan(name string) *clientPlan {
	i := slices.IndexFunc(e.plan.clients, func(c clientPlan) bool { return c.Name == name })
	return &e.plan.clients[i]
}

// steady returns for how long nobody has begun or ceased to hold, and no fault has begun or healed; and whether there is
// something that does not end because of which others wait: a permanent fault, or a hold that lasts.
func (e *ending) steady() (still time.Duration, lasting bool) {
	last := trace.Instant(0)
	lasting = e.unheard
	for _, f := range e.faults { // a promotion is not undone
		lasting = lasting || f.Fired && f.Fault.Action.Kind == sim.Promote
	}
	note := func(at trace.Instant) {
		if at <= e.h.End {
			last = max(last, at)
		}
	}
	for i := range e.h.Faults {
		f := &e.h.Faults[i]
		switch {
		case !f.Fired:
			continue
		case f.End == trace.Never:
			lasting = true
		case f.End > e.h.End:
			return 0, false
		}
		note(f.Begin)
		note(f.End)
	}
	for i := range e.h.Grants {
		lasting = lasting || e.h.Grants[i].To > e.h.End
		note(e.h.Grants[i].From)
		note(e.h.Grants[i].To)
	}
	for i := range e.h.Acquisitions {
		if b, ok := e.h.Acquisitions[i].Belief(); ok {
			lasting = lasting || b.To > e.h.End
			note(b.From)
			note(b.To)
		}
	}
	return e.h.End.Sub(last), lasting
}
