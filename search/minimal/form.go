package minimal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// form is what violations of one cause have in common.
type form struct {
	about  string   // the lock, its servers, how it was used, and what was violated
	causes []string // in order, each once
}

func (f *form) String() string { return f.about + "; " + strings.Join(f.causes, ", ") }

// extends reports whether a form has all causes of another one, and more.
func (f *form) extends(other *form) bool {
	if f.about != other.about || len(f.causes) <= len(other.causes) {
		return false
	}
	return !slices.ContainsFunc(other.causes, func(c string) bool { return !slices.Contains(f.causes, c) })
}

// formOf describes the run of a scenario by what has happened to whom and when in the story of the violation, rather than
// by the steps that faults hang on: of those there are many for one cause.
func formOf(v *search.Violation, s *scenarios.Scenario, seen sighting) form {
	algorithm := s.Lock.Algorithm
	if v.Lock != nil {
		algorithm = v.Lock.Name
	}
	return form{
		about: strings.Join([]string{
			algorithm + " on " + deployment(s), v.Case.Style.String(), v.Case.Fencing.String(), v.Property.String() + ": " + v.Kind,
		}, "; "),
		causes: newCast(s, seen).causes(),
	}
}

// deployment says what kind of servers there are, not how many, and what their disks keep if that matters.
func deployment(s *scenarios.Scenario) string {
	v := &s.Servers
	text := v.Kind
	switch {
	case v.Cluster:
		text += " cluster"
	case v.Sentinels > 0:
		text += " with Sentinels"
	case v.Replicas > 0:
		text += " with replicas"
	case v.Pool > 0:
		text += " behind a pooler"
	}
	if !slices.ContainsFunc(s.Faults, asksDisks) {
		return text
	}
	if v.Persistence != "" {
		text += ", " + v.Persistence
	}
	if v.Disk != usualDisk {
		text += ", disk " + v.Disk
	}
	return text
}

// keepsNothing reports whether what servers had is gone however they go down.
func keepsNothing(s *scenarios.Servers) bool {
	return s.Kind == "memcached" || s.Kind == "redis" && (s.Persistence == "" || s.Persistence == "none")
}

// asksDisks reports whether it matters to a fault what servers have on their disks.
func asksDisks(f sim.Fault) bool {
	return f.Action.Kind == sim.Crash && !isClientCrash(&f) || f.Action.Kind == sim.Snapshot
}

// causes are what was wrong, and what came of it where many faults come to the same.
func (c *cast) causes() []string {
	var list []string
	for i := range c.scenario.Faults {
		if !c.misreleased || !holdsUp(&c.scenario.Faults[i]) {
			list = append(list, c.fault(i))
		}
	}
	for i := range c.scenario.Clocks {
		list = append(list, c.clock(&c.scenario.Clocks[i]))
	}
	switch {
	case c.misreleased:
		list = append(list, "a release that ends another's grant")
	case len(list) == 0:
		list = append(list, "no fault"+c.overrun())
	}
	slices.Sort(list)
	return slices.Compact(list)
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

// cast says which part each client plays in a violation.
type cast struct {
	scenario *scenarios.Scenario
	history  *history.History
	faults   map[string]history.Fault
	first    *history.Acquisition // the one with which the story begins; nil if there is none
	second   string               // the client of another that takes part
	// Somebody's release has ended the grant of one that takes part. Whatever had it come so late is told by what
	// violates release safety; that is violated, too.
	misreleased bool
}

func newCast(s *scenarios.Scenario, seen sighting) *cast {
	c := &cast{scenario: s, history: seen.result.History, faults: map[string]history.Fault{}}
	for _, f := range c.history.Faults {
		c.faults[f.Name] = f
	}
	for _, a := range seen.participants() {
		switch {
		case c.first == nil:
			c.first = a
		case c.second == "" && a.Client != c.first.Client:
			c.second = a.Client
		}
	}
	v := seen.violation
	c.misreleased = v.Property != checker.ReleaseSafety &&
		slices.ContainsFunc(c.history.Removals, func(r history.Removal) bool {
			return r.Ended != 0 && r.At <= v.At && slices.Contains(v.Acquisitions, r.Ended)
		})
	return c
}

// role is the part of a node at a moment.
func (c *cast) role(node string, at trace.Instant) string {
	switch {
	case node == "holder" || node == scenarios.Storage || node == "":
		return node
	case slices.Contains(clientNames(c.scenario), node):
		return c.client(node, at)
	case strings.HasPrefix(node, "sentinel"):
		return "sentinel"
	}
	return "server"
}

func (c *cast) client(name string, at trace.Instant) string {
	switch {
	case c.first != nil && name == c.first.Client:
		return "holder"
	case name == c.second:
		return "next"
	case c.first == nil && c.holds(name, at):
		return "holder"
	}
	return "client"
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

// phase says what is going on while a fault lasts: how far the acquisition is with which the story begins. What befalls a
// server when it has granted the lock is after that, though the client may not know yet, or has given it back already but
// the server has not heard of it.
func (c *cast) phase(role string, begin, end trace.Instant) string {
	const holds = "while it has the lock"
	a := c.first
	switch {
	case a == nil:
		return "sometime"
	case role == "server" && c.granted(a.ID, begin):
		return holds
	case begin < a.Returned && (end <= a.Returned || end == trace.Never):
		return "before it has the lock"
	case begin < a.Unlocked:
		return holds
	}
	return "after its release"
}

// granted reports whether a grant to an acquisition begins or runs at a moment.
func (c *cast) granted(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(c.history.Grants, func(g history.Grant) bool {
		return g.Acquisition == id && g.From <= at && at < g.To
	})
}

// fault describes a fault by what it does to whom, and when.
func (c *cast) fault(i int) string {
	f := &c.scenario.Faults[i]
	h := c.faults[cmp.Or(f.Name, defaultName(i))]
	return c.action(f, h.Begin) + " " + c.phase(c.role(f.Action.Node, h.Begin), h.Begin, h.End)
}

func (c *cast) action(f *sim.Fault, at trace.Instant) string {
	a := &f.Action
	switch a.Kind {
	case sim.SetClock:
		return c.clockAction(a, at)
	case sim.Crash:
		role := c.role(a.Node, at)
		if a.Host && (role != "server" || !keepsNothing(&c.scenario.Servers)) {
			return "power loss of " + role
		}
		return "crash of " + role
	case sim.Cut, sim.Stall:
		return heldUp + c.ends(slices.Concat(a.Link.From, a.Link.To), at)
	case sim.Break:
		if a.This {
			return lossOf(a) + " at " + c.message(&f.Trigger.Step)
		}
		return lossOf(a) + " between " + c.ends(slices.Concat(a.Link.From, a.Link.To), at)
	case sim.Delay:
		p := &f.Trigger.Step
		return heldUp + c.ends([]string{p.Node, cmp.Or(p.Peer, c.otherEnd(p.Node, p.What))}, at)
	case sim.Error:
		return a.Kind.String() + " of " + c.message(&f.Trigger.Step)
	case sim.SameRandom:
		return a.Kind.String()
	default:
		return a.Kind.String() + " " + c.role(a.Node, at)
	}
}

func lossOf(a *sim.Action) string {
	switch a.Lose {
	case sim.LoseReply:
		return "break that loses replies"
	case sim.LoseRequest:
		return "break that loses requests"
	case sim.LoseNothing:
	}
	return "break"
}

func (c *cast) clockAction(a *sim.Action, at trace.Instant) string {
	of := " clock of " + c.role(a.Node, at)
	switch {
	case a.Step > 0:
		return "jump ahead:" + of
	case a.Step < 0:
		return "jump back:" + of
	case a.Rate > 0:
		return "fast" + of
	}
	return "slow" + of
}

func (c *cast) clock(k *scenarios.Clock) string {
	return c.clockAction(&sim.Action{Node: k.Node, Step: k.Offset, Rate: k.Rate}, 0)
}

// heldUp is what a message that is delayed, one that is stalled and one that must be sent again have in common.
const heldUp = "messages held up between "

// otherEnd guesses whom a node exchanges a message with.
func (c *cast) otherEnd(node, what string) string {
	switch {
	case node == scenarios.Storage && c.first != nil:
		return c.first.Client
	case !slices.Contains(clientNames(c.scenario), node):
		return "holder"
	case what == "read" || what == "write" || what == "check":
		return scenarios.Storage
	}
	return c.scenario.Servers.Names()[0]
}

// ends are the parts of those at the ends of a link.
func (c *cast) ends(names []string, at trace.Instant) string {
	var roles []string
	for _, name := range names {
		roles = append(roles, c.roleOfPattern(name, at))
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), " and ")
}

func (c *cast) roleOfPattern(pattern string, at trace.Instant) string {
	if !isGlob(pattern) {
		return c.role(pattern, at)
	}
	var roles []string
	for _, name := range namedBy(c.scenario, pattern) {
		roles = append(roles, c.role(name, at))
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), " and ")
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
	return cmp.Or(p.What, "some") + " " + way
}

// overrun says that somebody works for longer than the lease, where no fault explains the violation.
func (c *cast) overrun() string {
	for i := range c.scenario.Clients {
		if w := &c.scenario.Clients[i]; w.Hangs || w.Work >= c.scenario.Lock.TTL {
			return ", work longer than the lease"
		}
	}
	return ""
}
