package sim

import (
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// message is the message of the step that triggers a fault, and what the fault does to it.
type message struct {
	conn     *Conn // nil if the step is of no message
	payload  Payload
	id       uint64        // 0 while it is not yet sent
	reply    bool          // it travels to the client
	arriving bool          // it is being received
	delay    time.Duration // added before the step is taken
	answer   Payload       // answers the request in place of its execution
	lost     bool          // its connection broke and took it along
}

// Inject adds a fault to the run. Its scenario has been checked: an unknown name here is a bug. A fault at 0s acts before any
// process takes a step.
func (e *Engine) Inject(f Fault) {
	if f.Action.Kind == Error && e.ErrorReply == nil {
		panic("sim: fault " + f.Name + " has no way to make an error reply")
	}
	e.injector.Arm(f)
}

// Faults returns the outcomes of the faults, in the order in which they were injected.
func (e *Engine) Faults() []FaultReport { return e.injector.Reports() }

// before lets the faults act that wait for a step that is about to be taken; what they do to its message stands in m.
func (e *Engine) before(s *trace.Step, m *message) {
	e.Trace.Intend(e.now, s)
	if e.injector.watched[s.Does] {
		e.trigger(Before, s, m)
	}
}

// took records a step and lets the faults act that wait for its having been taken.
func (e *Engine) took(s *trace.Step, m *message, sum uint64, detail func() string) {
	event := trace.Event{At: e.now, Step: *s, Msg: m.id, Sum: sum}
	if e.Trace.Keep {
		if p, ok := m.payload.(interface{ concerns() int }); ok {
			event.For = p.concerns()
		}
	}
	e.Trace.Add(&event, detail)
	if e.injector.watched[s.Does] {
		e.trigger(After, s, m)
	}
}

func (e *Engine) trigger(when When, s *trace.Step, m *message) {
	e.injector.Step(when, s, func(f *Fault, node string) (bool, func()) { return e.act(f, node, m) }, func() Act {
		then := *m
		return func(f *Fault, node string) (bool, func()) { return e.act(f, node, &then) }
	})
}

// faultHost is the engine as its injector sees it.
type faultHost Engine

// Now returns true time.
func (h *faultHost) Now() trace.Instant { return h.now }

// After schedules an event.
func (h *faultHost) After(d time.Duration, f func()) { (*Engine)(h).After(d, f) }

// RoleOf asks the engine's Role.
func (h *faultHost) RoleOf(role string) string { return (*Engine)(h).role(role) }

// Act carries out the action of a fault that no message triggers.
func (h *faultHost) Act(f *Fault, node string) (did bool, heal func()) {
	return (*Engine)(h).act(f, node, nil)
}

// Announce makes the beginning or the end of a fault a step of the run.
func (h *faultHost) Announce(when When, s trace.Step, f *Fault) {
	e := (*Engine)(h)
	if when == Before {
		e.before(&s, &message{})
		return
	}
	var detail func() string
	if e.Trace.Keep {
		detail = f.Action.String
	}
	e.took(&s, &message{}, 0, detail)
}

// Roles returns the names of roles; each stands for the node that has the role at the moment.
func Roles() []string { return []string{"holder", "leader", "master"} }

// IsRole reports whether a name is that of a role.
func IsRole(name string) bool { return slices.Contains(Roles(), name) }

func (e *Engine) role(name string) string {
	if e.Role == nil {
		return ""
	}
	return e.Role(name)
}

// act does what a fault's action says, if there is something to do it to. It returns what heals it; nil if there is
// nothing to heal. The message is nil if none triggers the fault.
func (e *Engine) act(f *Fault, node string, m *message) (did bool, heal func()) {
	act := &f.Action
	switch act.Kind {
	case Pause, Crash, SetClock:
		n := e.byName[node]
		if n == nil {
			return false, nil
		}
		return e.strike(n, act)
	case Cut, Stall:
		r := e.route(act.Link)
		if r.empty() {
			return false, nil
		}
		return true, e.raise(&barrier{route: r, vanish: act.Kind == Cut})
	case Break:
		if act.This {
			return m.breakUp(act), nil
		}
		return e.breakLink(act), nil
	case Delay:
		return m.postpone(f), nil
	case Error:
		return e.refuse(m, f), nil
	case SameRandom: // the builder of the processes has applied it
		return true, nil
	default:
		n := e.byName[node]
		return n != nil && (n.Up() || n.process != nil) && e.Command != nil && e.Command(n, act), nil
	}
}

// Strike does at the present moment to a node what a pause or a crash of its process does, for somebody who controls it by hand. It
// returns what heals it; nil if there was nothing to do it to.
func (e *Engine) Strike(n *Node, kind ActionKind) (heal func()) {
	_, heal = e.strike(n, &Action{Kind: kind})
	return heal
}

func (e *Engine) strike(n *Node, act *Action) (did bool, heal func()) {
	switch act.Kind {
	case Pause:
		if n.down {
			return false, nil
		}
		return true, n.pause()
	case Crash:
		if !n.crash(act.Host, act.Keep) {
			return false, nil
		}
		if n.process == nil || act.Restart == 0 {
			return true, n.restart
		}
		e.alive++ // it will be back: the run is not over
		return true, func() { e.alive--; n.restart() }
	default:
		return true, n.disturb(act.Step, act.Rate, act.Of)
	}
}

// postpone delays the trigger's message: the step that is pending, or else the segment, wherever it waits. Nothing
// is left to delay of a message that has been executed or delivered.
func (m *message) postpone(f *Fault) bool {
	if m == nil || m.conn == nil {
		return false
	}
	if f.Trigger.When == Before {
		m.delay += f.Action.By
		return true
	}
	c := m.conn
	for _, s := range [...]*stream{&c.up, &c.down} {
		if i, g := s.flight.find(m.id); g != nil {
			s.delay(i, f.Action.By)
			return true
		}
	}
	if _, g := c.inbox.find(m.id); g != nil {
		c.hold(&c.inbox, f.Action.By, c.serveInbox)
		return true
	}
	if _, g := c.buffer.find(m.id); g != nil {
		c.hold(&c.buffer, f.Action.By, c.readBuffer)
		return true
	}
	return false
}

// refuse makes an error the answer to the trigger's request, unless that has been executed.
func (e *Engine) refuse(m *message, f *Fault) bool {
	if m == nil || m.conn == nil || m.reply {
		return false
	}
	answer := e.ErrorReply(m.payload, f.Action.Text)
	if f.Trigger.When == Before {
		m.answer = answer
		return true
	}
	_, g := m.conn.up.flight.find(m.id)
	if g == nil {
		_, g = m.conn.inbox.find(m.id)
	}
	if g == nil {
		return false
	}
	g.answer = answer
	return true
}

// breakUp breaks the connection of the trigger's message. A reset destroys a message that is being received.
func (m *message) breakUp(act *Action) bool {
	if m == nil || m.conn == nil {
		return false
	}
	direction := LoseRequest
	if m.reply {
		direction = LoseReply
	}
	m.lost = act.Lose == direction || m.arriving && destroys(act.RST, act.Lose, direction)
	m.conn.breakUp(act.RST, act.Lose)
	return true
}

// breakLink breaks the connections of a link.
func (e *Engine) breakLink(act *Action) (did bool) {
	r := e.route(act.Link)
	for _, c := range e.conns {
		if !c.clientOver && !c.serverOver && (r.has(c.client, c.server) || r.has(c.server, c.client)) {
			c.breakUp(act.RST, act.Lose)
			did = true
		}
	}
	return did
}
