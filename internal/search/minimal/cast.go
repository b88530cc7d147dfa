package minimal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// cast says which part each client plays in a violation.
type cast struct {
	scenario    *scenarios.Scenario
	history     *history.History
	at          trace.Instant // of the violation
	faults      map[string]history.Fault
	first       *history.Acquisition // the one with which the story begins; nil if there is none
	second      string               // the client of another that takes part
	misreleased bool                 // somebody's release has ended the grant of one that takes part
	takenOver   bool                 // one that takes part has overwritten what was promised to another
	leftBehind  bool                 // a Lock that failed has left its entry
	belated     bool                 // Lock had returned to one that takes part what was over
	overdue     history.Cause        // how a grant had ended whose holder went on; Open if none did
	givesUp     bool                 // the lock had stopped renewing that grant
	early       bool                 // a server has ended the key of one that takes part before its time
	halfDone    bool                 // one that takes part has left its section half done
	waitsFor    string               // what somebody waits for, if that is the story
	lent        bool                 // a client was given another's lock by the connection that has it
	split       bool                 // those who wait share the servers' votes, time after time
	timing      []string             // whose clocks have to be wrong by just so much: a moment matters, and any other could do
	ended       string               // in what way a program has ended itself, if that is the story
}

func newCast(s *scenarios.Scenario, seen sighting, needs ...Need) *cast {
	h, v := seen.result.History, seen.violation
	c := &cast{
		scenario: s, history: h, at: v.At, faults: map[string]history.Fault{}, misreleased: isMisreleased(h, v), takenOver: isTakenOver(h, v), belated: isBelated(h, v),
		leftBehind: v.Kind == leftByFailure, overdue: overdueBy(h, v), early: isEarly(h, v), halfDone: isHalfDone(h, v),
		split: isSplit(s, h, v), givesUp: hasGivenUp(s, h, v), lent: isLent(s, h, v),
	}
	if v.Property == checker.Survival {
		c.ended = v.Kind
	}
	for i := range s.Clocks {
		node := s.Clocks[i].Node
		if slices.ContainsFunc(needs, func(n Need) bool { return n.isMomentOf(node) }) {
			c.timing = append(c.timing, node)
		}
	}
	if timed(v.Property) {
		c.waitsFor = waitFor(h, v.At, s.Progress)
	}
	for _, f := range h.Faults {
		c.faults[f.Name] = f
	}
	if c.waitsFor == outOfReach && c.mostAreWell() {
		c.waitsFor = fewOutOfReach
	}
	for _, a := range seen.participants() {
		switch {
		case c.waits(): // it only asks
		case c.first == nil:
			c.first = a
		case c.second == "" && a.Client != c.first.Client:
			c.second = a.Client
		}
	}
	return c
}

// waits reports whether the story is that somebody waits.
func (c *cast) waits() bool { return c.waitsFor != "" }

// The parts that nodes play.
const (
	holder   = "the holder"
	next     = "the next client"
	client   = "a client"
	server   = "a server"
	sentinel = "a sentinel"
)

// whoHolds is the role of the client that holds the lock, in the place of a node's name.
const whoHolds = "holder"

// role is the part of a node at a moment.
func (c *cast) role(node string, at trace.Instant) string {
	switch {
	case node == whoHolds:
		return holder
	case node == scenarios.Storage || node == "":
		return node
	case slices.Contains(clientNames(c.scenario), node):
		return c.client(node, at)
	case strings.HasPrefix(node, "sentinel"):
		return sentinel
	}
	return server
}

func (c *cast) client(name string, at trace.Instant) string {
	switch {
	case c.first != nil && name == c.first.Client:
		return holder
	case name == c.second && c.earlier(at) != nil:
		return holder
	case name == c.second:
		return next
	case c.first == nil && c.holds(name, at):
		return holder
	}
	return client
}

// holds reports whether a client believes to hold at a moment.
func (c *cast) holds(client string, at trace.Instant) bool {
	for _, b := range c.history.Beliefs() {
		if b.Acquisition.Client == client && b.From <= at && at < b.To {
			return true
		}
	}
	return false
}

// earlier returns the acquisition by which the other client that takes part held the lock at a moment, before the one with which the story
// begins; nil if it did not.
func (c *cast) earlier(at trace.Instant) *history.Acquisition {
	for _, b := range c.history.Beliefs() {
		if c.first != nil && at < c.first.Returned && b.Acquisition.Client == c.second && b.From <= at && at <= b.To {
			return b.Acquisition
		}
	}
	return nil
}

// phase says what is going on while a fault lasts that hits clients: how far the acquisition is with which the story begins, or one before
// it.
func (c *cast) phase(begin, end trace.Instant) string {
	a := cmp.Or(c.earlier(begin), c.first)
	switch {
	case a == nil:
		return "sometime"
	case begin < a.Returned && (end <= a.Returned || end == trace.Never):
		return "before it has the lock"
	case begin < a.Unlocked:
		return "while it has the lock"
	case begin < a.Released:
		return "while it releases"
	}
	return "after its release"
}

// action describes a fault by what it does to whom.
func (c *cast) action(f *sim.Fault, at trace.Instant) string {
	a, parts := &f.Action, c.parts(f, at)
	whom := strings.Join(parts, " and ")
	between := " between " + whom
	if len(parts) == 1 {
		between = " between " + strings.TrimPrefix(whom, "a ") + "s"
	}
	switch a.Kind {
	case sim.SetClock:
		return c.clockAction(a, at)
	case sim.Crash:
		if a.Host && (whom != server || !c.scenario.Servers.Shape().Volatile) {
			return "power loss of " + whom
		}
		return "crash of " + whom
	case sim.Cut, sim.Stall, sim.Delay:
		return "messages held up" + between
	case sim.Pause:
		return "pause of " + whom
	case sim.Promote:
		return "promotion of " + whom
	case sim.Evict:
		return "eviction by " + whom
	case sim.EndSession:
		return "session of " + whom + " ended"
	case sim.Break:
		if a.This {
			return lossOf(a) + " at " + c.message(&f.Trigger.Step)
		}
		return lossOf(a) + between
	case sim.Error:
		return "error in answer to " + c.message(&f.Trigger.Step)
	case sim.SameRandom:
		return "clients that draw the same random numbers"
	default: // Snapshot
		return a.Kind.String() + " of " + whom
	}
}

func lossOf(a *sim.Action) string {
	switch a.Lose {
	case sim.LoseReply:
		return "connection that breaks and loses replies"
	case sim.LoseRequest:
		return "connection that breaks and loses requests"
	case sim.LoseNothing:
	}
	return "connection that breaks"
}

func (c *cast) clockAction(a *sim.Action, at trace.Instant) string {
	of := "clock of " + c.role(a.Node, at)
	switch {
	case a.Step > 0:
		return of + " that jumps ahead"
	case a.Step < 0:
		return of + " that jumps back"
	case a.Rate > 0:
		return "fast " + of
	}
	return "slow " + of
}

func (c *cast) clock(k *scenarios.Clock) string {
	return c.clockAction(&sim.Action{Node: k.Node, Step: k.Offset, Rate: k.Rate}, 0)
}

// comesTooLate reports whether a fault began when all was over, so that one before it is the cause: one that ends the run, for example.
func (c *cast) comesTooLate(f *sim.Fault, i int) bool {
	inTime := func(h history.Fault) bool { return h.Fired && h.Begin <= c.at }
	return c.faults[f.NameAt(i)].Begin > c.at && slices.ContainsFunc(c.history.Faults, inTime)
}

// otherEnd guesses whom a node exchanges a message with.
func (c *cast) otherEnd(node, what string) string {
	switch {
	case node == scenarios.Storage && c.first != nil:
		return c.first.Client
	case !slices.Contains(clientNames(c.scenario), node):
		return whoHolds
	case what == "read" || what == "write" || what == "check":
		return scenarios.Storage
	}
	return c.scenario.Servers.Names()[0]
}

// parts are the parts of the nodes that a fault hits, or between which it acts.
func (c *cast) parts(f *sim.Fault, at trace.Instant) []string {
	var roles []string
	for _, name := range c.hitBy(f) {
		roles = append(roles, c.role(name, at))
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

// hitBy lists the nodes that a fault hits, or between which it acts.
func (c *cast) hitBy(f *sim.Fault) []string {
	a, p := &f.Action, &f.Trigger.Step
	names := []string{a.Node}
	switch {
	case a.Kind == sim.SameRandom:
		names = nil
	case hitsMessage(f):
		names = []string{p.Node, cmp.Or(p.Peer, c.otherEnd(p.Node, p.What))}
	case len(a.Link.From) > 0:
		names = slices.Concat(a.Link.From, a.Link.To)
	}
	var list []string
	for _, name := range names {
		if isGlob(name) {
			list = append(list, namedBy(c.scenario, name)...)
		} else {
			list = append(list, name)
		}
	}
	return list
}

// mostAreWell reports whether there are several independent servers, and faults hit fewer than half of them.
func (c *cast) mostAreWell() bool {
	s := &c.scenario.Servers
	voters := s.Shape().Voters
	if voters < 3 {
		return false
	}
	ill := map[string]bool{}
	for i := range c.scenario.Faults {
		for _, name := range c.hitBy(&c.scenario.Faults[i]) {
			if slices.Contains(s.Names(), name) {
				ill[name] = true
			}
		}
	}
	return 2*len(ill) < voters
}

// isOfServers reports whether all parts are those of servers.
func isOfServers(parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return part != server && part != sentinel })
}

// message describes a message by what it is about, and whether it is a request or a reply.
func (c *cast) message(p *sim.Pattern) string {
	node := p.Node
	if manyNodes(node) > 0 {
		if names := namedBy(c.scenario, node); len(names) > 0 {
			node = names[0]
		}
	}
	atClient := slices.Contains(clientNames(c.scenario), node)
	way := "request"
	if atClient && p.Does == trace.Receive || p.Does == trace.Reply {
		way = "reply"
	}
	switch p.What {
	case "":
		return "a " + way
	case trace.ToLook:
		return "the lookup " + way
	}
	return "the " + p.What + " " + way
}

// overrun says that somebody works for longer than the lease, where no fault explains the violation; not of a Lock that failed, and of
// what it left.
func (c *cast) overrun() string {
	if c.leftBehind {
		return ""
	}
	for i := range c.scenario.Clients {
		w := &c.scenario.Clients[i]
		long := w.Hangs || w.Work >= c.scenario.Lock.TTL
		endless := c.history.Keeps || c.holdsBy() == "connection" // what is kept alive lasts as long as the work
		if long && (!endless || outlasts(c.history, w)) {
			return ", work longer than the lease"
		}
	}
	return ""
}
