package minimal

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// What went wrong in the story of a violation decides what its cause is, and not which kind of fault had it go wrong. A
// pause, a late message and long work are one cause if what came of each is that a holder wrote when its lease was
// over: who wants to be safe of one needs what makes safe of the others. These are the causes that several kinds of
// faults have in common; any other fault is a cause by itself.
const (
	// A release has ended the grant of another: it came late, and took it for its own.
	misrelease = "a release that ends another grant"
	// A client was granted the lock by a request that took the place of another's entry, which was promised for longer and was still there.
	takeover = "a client that overwrites what is promised to another"
	// A Lock that failed, for whatever reason, has left an entry that nothing deletes.
	leftBehind = "a Lock that fails and leaves its entry"
	// Lock has returned what was over, and nothing that it says would show it.
	belated = "a lock that is over when Lock returns"
	// A lease was over, rightfully, and who had it went on: it, or what it had sent, was held up, or it worked so long.
	goesOn = "a holder that continues past its lease"
	// The same, where a holder and its servers did not hear from each other in time.
	outOfTouch = "a holder and servers out of touch so long that a lease ends"
	// A lease was over long after all faults were, since the lock had given up renewing it.
	givesUp = "a lock that gives up renewing its lease"
	// A server has ended a key before the time that was promised. Where a wrong clock had it do so that is told instead.
	early = "a key that ends before its time"
	// Somebody has left its section before all of it was done: the next one finds half of it.
	halfDone = "a section that is left half done"
	// Somebody waits though nobody has the lock: who could grant it is not reached, or is not heard.
	outOfReach = "servers out of reach"
	// The same, where those that can be reached are a majority, which ought to be enough.
	fewOutOfReach = "a minority of servers out of reach"
	// Nobody has the lock, and all faults are over.
	unrecovered = "a client that waits on when all is well again"
	// Somebody waits for a holder that does not get on.
	heldUp = "a holder that is held up"
	// Somebody waits for what was granted to one that does not know of it, or holds no longer.
	orphan = "a grant that nobody holds"
	// Those who wait ask at the same moments, and nobody gets a majority.
	splitVotes = "split votes"
	// Another server has taken the place of the one that had granted the lock.
	failover = "failover"
	// Servers have ended a connection by which nothing came for too long, and what was held by it.
	idledOut = "a connection that its servers end as idle"
	// Statements of a client came by different connections, and those of several clients by one.
	pooled = "a pooler that lends connections"
)

// stories are those of these causes of which a run tells by itself, whatever the faults in it were.
var stories = []string{
	misrelease, takeover, leftBehind, belated, goesOn, outOfTouch, givesUp, early, halfDone, outOfReach, fewOutOfReach, unrecovered, heldUp, orphan,
	splitVotes, idledOut, pooled,
}

// isStory reports whether a form says what happened, whatever the faults were: the run tells of that by itself.
func (f *form) isStory() bool {
	return f.isEnd || !slices.ContainsFunc(f.causes, func(cause string) bool {
		return !slices.Contains(stories, cause)
	})
}

// OutOfTime reports whether nothing went wrong except that a holder continued past its lease, because it was held up or because
// it and its servers were out of touch: no server can keep that from it.
func (c *Counterexample) OutOfTime() bool {
	return len(c.form.causes) > 0 && !slices.ContainsFunc(c.form.causes, func(cause string) bool {
		return cause != goesOn && cause != outOfTouch
	})
}

// holdsUp reports whether nothing went wrong except that a holder was held up.
func (c *Counterexample) holdsUp() bool { return slices.Equal(c.form.causes, []string{heldUp}) }

// causes are what was wrong, each once. Where a program ends itself that is wrong, whatever had gone wrong before. A clock of which just
// a moment matters is a cause only if there is no other.
func (c *cast) causes() []string {
	if c.ended != "" {
		return []string{c.ended}
	}
	list := c.causesBut(c.timing)
	if len(c.timing) > 0 && slices.ContainsFunc(list, func(cause string) bool { return strings.HasPrefix(cause, withoutFault) }) {
		return c.causesBut(nil)
	}
	return list
}

const withoutFault = "no fault"

// causesBut are those causes but for some nodes' clocks.
func (c *cast) causesBut(clocks []string) (list []string) {
	for i := range c.scenario.Faults {
		if cause := c.cause(i); cause != "" && !c.comesTooLate(&c.scenario.Faults[i], i) {
			list = append(list, cause)
		}
	}
	for i := range c.scenario.Clocks {
		if k := &c.scenario.Clocks[i]; !c.onlyShifts(k.Node) && !slices.Contains(clocks, k.Node) {
			list = append(list, c.clock(k))
		}
	}
	for i := range c.scenario.Clients {
		list = append(list, habits(&c.scenario.Clients[i])...)
	}
	if c.idles() {
		list = append(list, idledOut)
	}
	if c.lent {
		list = append(list, pooled)
	}
	switch {
	case c.misreleased:
		list = append(list, misrelease)
	case c.takenOver && len(list) == 0 && len(c.scenario.Faults) > 0: // that it takes no fault says more
		list = append(list, takeover)
	case c.leftBehind && len(list) == 0 && len(c.scenario.Faults) > 0:
		list = append(list, leftBehind)
	case c.belated:
		list = append(list, belated)
	case c.overdue == history.ByDeadline && len(list) == 0,
		c.overdue != history.Open && c.isTimely() && !slices.Contains(list, outOfTouch) && !slices.Contains(list, givesUp):
		list = append(list, goesOn)
	case c.early && len(list) == 0:
		list = append(list, early)
	case c.halfDone && len(list) == 0:
		list = append(list, halfDone)
	case c.split && len(list) == 0:
		list = append(list, splitVotes)
	case c.scenario.Servers.Pool > 0 && len(list) == 0:
		list = append(list, pooled)
	case len(list) == 0:
		list = append(list, withoutFault+c.overrun())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// habits are what a client's application does wrong.
func habits(c *scenarios.Client) (list []string) {
	if c.Late > 0 {
		list = append(list, "an application that renews its lease too late")
	}
	if c.Forgets {
		list = append(list, "an application that does not show its fencing token")
	}
	if c.Passes > 0 {
		list = append(list, "an application that writes with its fencing token after Unlock")
	}
	return list
}

// cause is what a fault comes to; "" if that is told already.
func (c *cast) cause(i int) string {
	f := &c.scenario.Faults[i]
	h := c.faults[f.NameAt(i)]
	parts := c.parts(f, h.Begin)
	atServers := slices.Contains(parts, server) || slices.Contains(parts, sentinel)
	switch {
	case c.misreleased && holdsUp(f), (c.takenOver || c.leftBehind) && c.losesNothing(f), c.belated && c.keepsApart(f) && !isClientCrash(f):
		return ""
	case c.overdue != history.Open && c.keepsApart(f) && !isClientCrash(f):
		if c.givesUp {
			return givesUp
		}
		if atServers && c.holdsBy() != "connection" { // which has no time of its own
			return outOfTouch
		}
		return goesOn
	case c.early && (c.keepsApart(f) || isClientCrash(f)), f.Action.Kind == sim.SetClock && c.onlyShifts(f.Action.Node):
		return ""
	case c.halfDone && c.overdue == history.Open && c.keepsApart(f):
		return halfDone
	case c.waits() && c.keepsApart(f) && !isClientCrash(f):
		return c.waitsFor
	case c.failsOver(f, parts) && !c.grantsAgain(f, h.Begin):
		return failover
	case c.waits() || f.Action.Kind == sim.SetClock || isOfServers(parts):
		return c.action(f, h.Begin)
	}
	return c.action(f, h.Begin) + " " + c.phase(h.Begin, h.End)
}

// onlyShifts reports whether it is a client's clock that does no more than to shift when something happens: servers that promise less than
// they are asked for, as memcached does with its whole seconds, have ended a key early by their own clock.
func (c *cast) onlyShifts(node string) bool {
	return c.early && c.scenario.Servers.Facts().Early > 0 && slices.Contains(clientNames(c.scenario), node)
}

// idles reports whether a holder went on when servers had ended its connection as idle, rather than because a fault had them end it.
func (c *cast) idles() bool {
	ends := func(f sim.Fault) bool { return f.Action.Kind == sim.EndSession }
	return c.scenario.Servers.IdleTimeout > 0 && c.overdue == history.BySessionLoss && !slices.ContainsFunc(c.scenario.Faults, ends)
}

// isTimely reports whether a lease that was over can have come to its end only in time, and was known to: servers do
// not end it earlier, as they do with sessions, and no client's clock is wrong.
func (c *cast) isTimely() bool {
	s, clients := c.scenario, clientNames(c.scenario)
	wrong := func(k scenarios.Clock) bool { return slices.Contains(clients, k.Node) }
	set := func(f sim.Fault) bool {
		return f.Action.Kind == sim.SetClock && slices.Contains(clients, f.Action.Node)
	}
	return !c.hasSessions() && !slices.ContainsFunc(s.Clocks, wrong) && !slices.ContainsFunc(s.Faults, set)
}

// hasSessions reports whether a grant lasts for as long as its holder is heard of, rather than for a time of its own.
func (c *cast) hasSessions() bool {
	return c.holdsBy() != ""
}

// holds is what a hold ends with; "" if that is a lease, which a row with an end of its own is, whatever other holds of its servers end with.
func (c *cast) holdsBy() string {
	ends := func(k history.Copy) bool { return k.Expires != trace.Never }
	if holds := c.scenario.Servers.Holds(); holds != "connection" || !slices.ContainsFunc(c.history.Copies, ends) {
		return holds
	}
	return ""
}

// holdsUp reports whether a fault does no more than to hold somebody up.
func holdsUp(f *sim.Fault) bool {
	switch f.Action.Kind {
	case sim.Pause, sim.Cut, sim.Stall, sim.Delay:
		return true
	default:
		return isClientCrash(f)
	}
}

// keepsApart reports whether a fault does no more than to hold somebody up, or to have messages be sent in vain. To
// those who wait for its servers, and to sessions, it does not matter what a server that is away will have forgotten.
func (c *cast) keepsApart(f *sim.Fault) bool {
	switch f.Action.Kind {
	case sim.Break, sim.Error:
		return true
	case sim.Promote:
		return c.waits() || c.halfDone || c.hasSessions()
	case sim.Crash:
		return c.waits() || c.halfDone || c.hasSessions() && !f.Action.Host
	default:
		return holdsUp(f)
	}
}

// losesNothing reports whether a fault leaves the servers what they have.
func (c *cast) losesNothing(f *sim.Fault) bool {
	crash := f.Action.Kind == sim.Crash && !f.Action.Host && !c.scenario.Servers.Shape().Volatile
	return crash || c.keepsApart(f) && f.Action.Kind != sim.Promote || isClientCrash(f)
}

// failsOver reports whether a fault has another server take over: somebody says so, or the others find one missing.
func (c *cast) failsOver(f *sim.Fault, parts []string) bool {
	shape := c.scenario.Servers.Shape()
	if !shape.Replicates {
		return false
	}
	missed := f.Action.Kind == sim.Crash || holdsUp(f)
	return f.Action.Kind == sim.Promote || missed && isOfServers(parts) && shape.Watched
}

// grantsAgain reports whether it is the server that crashed which grants the lock to the next client: it was up again before another one
// took its place, and has forgotten.
func (c *cast) grantsAgain(f *sim.Fault, begin trace.Instant) bool {
	if f.Action.Kind != sim.Crash {
		return false
	}
	var first *history.Copy
	for i := range c.history.Copies {
		if k := &c.history.Copies[i]; k.Client == c.second && k.From >= begin && (first == nil || k.From < first.From) {
			first = k
		}
	}
	return first != nil && first.Node == f.Action.Node
}
