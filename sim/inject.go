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

// armed is a fault on its way to happen.
type armed struct {
	Fault
	engine     *Engine
	errorReply ErrorReply
	matches    int  // of the trigger's step
	triggered  bool // and not again
	begin, end trace.Instant
	node       string // the node that it affected
}

// FaultReport is the outcome of a fault.
type FaultReport struct {
	Fault      *Fault        // its name filled in
	Node       string        // the node that it affected; "" if no single one
	Fired      bool          // its trigger came, and its target existed: a live process, a node with the role
	Begin, End trace.Instant // Never if it has not begun, or does not heal; a run may end before the End
}

// ErrorReply makes the payload that answers a request with an error. The builder of the world supplies it, since
// the form of an error is part of the server's protocol.
type ErrorReply func(request Payload, text string) Payload

// Inject adds a fault to the run. Its scenario has been checked: an unknown name here is a bug. Only faults of
// kind Error need errorReply. A fault at 0s acts before any process takes a step.
func (e *Engine) Inject(f Fault, errorReply ErrorReply) {
	f.Name = f.NameAt(len(e.faults))
	if f.Action.Kind == Error && errorReply == nil {
		panic("sim: fault " + f.Name + " has no way to make an error reply")
	}
	a := e.spare.faults.take()
	a.Fault, a.engine, a.errorReply, a.begin, a.end = f, e, errorReply, trace.Never, trace.Never
	e.faults = append(e.faults, a)
	switch {
	case f.Trigger.When != At:
		e.watched[f.Trigger.Step.Does] = true
	case f.Trigger.At > 0:
		e.schedule(trace.Instant(f.Trigger.At), action(func() { a.fire(nil) }), 0)
	}
}

// Faults returns the outcomes of the faults, in the order in which they were injected.
func (e *Engine) Faults() []FaultReport {
	reports := make([]FaultReport, len(e.faults))
	for i, a := range e.faults {
		reports[i] = FaultReport{Fault: &a.Fault, Node: a.node, Fired: a.begin != trace.Never, Begin: a.begin, End: a.end}
	}
	return reports
}

// before lets the faults act that wait for a step that is about to be taken; what they do to its message stands in m.
func (e *Engine) before(s *trace.Step, m *message) {
	e.Trace.Intend(e.now, s)
	if e.watched[s.Does] {
		e.trigger(Before, s, m)
	}
}

// took records a step and lets the faults act that wait for its having been taken.
func (e *Engine) took(s *trace.Step, m *message, sum uint64, detail func() string) {
	e.Trace.Add(&trace.Event{At: e.now, Step: *s, Msg: m.id, Sum: sum}, detail)
	if e.watched[s.Does] {
		e.trigger(After, s, m)
	}
}

func (e *Engine) trigger(when When, s *trace.Step, m *message) {
	for _, a := range e.faults {
		if a.triggered || a.Trigger.When != when || !a.Trigger.Step.Matches(s, e.Role) {
			continue
		}
		a.matches++
		if a.matches < a.Trigger.Nth {
			continue
		}
		a.triggered = true
		if a.Trigger.Plus == 0 {
			a.fire(m)
			continue
		}
		then := *m
		e.schedule(e.now.Add(a.Trigger.Plus), action(func() { a.fire(&then) }), 0)
	}
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

// target finds the node that an action names; nil if it names a role that nobody plays now.
func (e *Engine) target(name string) *Node {
	if IsRole(name) {
		name = e.role(name)
	}
	return e.byName[name]
}

// fire carries the fault out.
func (a *armed) fire(m *message) {
	e := a.engine
	step := trace.Step{Does: trace.Begin, What: a.Name}
	if n := e.target(a.Action.Node); n != nil {
		step.Node = n.Name
	}
	e.before(&step, &message{})
	did, heal := a.act(m)
	if !did {
		return
	}
	a.begin, a.node = e.now, step.Node
	e.took(&step, &message{}, 0, a.text)
	lasts := a.For
	if a.Action.Kind == Crash {
		lasts = a.Action.Restart
	}
	switch {
	case heal == nil: // it was over at once, or when the message that it delays goes on
		a.end = e.now.Add(a.Action.By)
	case lasts > 0:
		a.end = e.now.Add(lasts) // also if the run does not live to see it
		e.mending++
		e.schedule(e.now.Add(lasts), action(func() { a.mend(heal) }), 0)
	}
}

// mend ends what the fault does.
func (a *armed) mend(heal func()) {
	e := a.engine
	step := trace.Step{Node: a.node, Does: trace.End, What: a.Name}
	e.before(&step, &message{})
	e.mending--
	heal()
	e.took(&step, &message{}, 0, a.text)
}

func (a *armed) text() string { return a.Action.String() }

// act does what the fault's action says, if there is something to do it to. It returns what heals it; nil if there is
// nothing to heal.
func (a *armed) act(m *message) (did bool, heal func()) {
	e, act := a.engine, &a.Action
	switch act.Kind {
	case Pause, Crash, SetClock:
		n := e.target(act.Node)
		if n == nil {
			return false, nil
		}
		return a.strike(n)
	case Cut, Stall:
		r := e.route(act.Link)
		if r.empty() {
			return false, nil
		}
		return true, e.raise(&barrier{route: r, vanish: act.Kind == Cut})
	case Break:
		if act.This {
			return a.breakThis(m), nil
		}
		return a.breakLink(e.route(act.Link)), nil
	case Delay:
		return a.delay(m), nil
	case Error:
		return a.answer(m), nil
	case SameRandom: // the builder of the processes has applied it
		return true, nil
	default:
		n := e.target(act.Node)
		return n != nil && (n.Up() || n.process != nil) && e.Command != nil && e.Command(n, act), nil
	}
}

func (a *armed) strike(n *Node) (did bool, heal func()) {
	act := &a.Action
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
		a.engine.alive++ // it will be back: the run is not over
		return true, func() { a.engine.alive--; n.restart() }
	default:
		return true, n.disturb(act.Step, act.Rate, act.Of)
	}
}

// delay postpones the trigger's message: the step that is pending, or else the segment, wherever it waits. Nothing
// is left to delay of a message that has been executed or delivered.
func (a *armed) delay(m *message) bool {
	if m == nil || m.conn == nil {
		return false
	}
	if a.Trigger.When == Before {
		m.delay += a.Action.By
		return true
	}
	c := m.conn
	for _, s := range [...]*stream{&c.up, &c.down} {
		if i, g := s.flight.find(m.id); g != nil {
			s.delay(i, a.Action.By)
			return true
		}
	}
	if _, g := c.inbox.find(m.id); g != nil {
		c.hold(&c.inbox, a.Action.By, c.serveInbox)
		return true
	}
	if _, g := c.buffer.find(m.id); g != nil {
		c.hold(&c.buffer, a.Action.By, c.readBuffer)
		return true
	}
	return false
}

// answer makes an error the answer to the trigger's request, unless that has been executed.
func (a *armed) answer(m *message) bool {
	if m == nil || m.conn == nil || m.reply {
		return false
	}
	answer := a.errorReply(m.payload, a.Action.Text)
	if a.Trigger.When == Before {
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

// breakThis breaks the connection of the trigger's message. A reset destroys a message that is being received.
func (a *armed) breakThis(m *message) bool {
	if m == nil || m.conn == nil {
		return false
	}
	direction := LoseRequest
	if m.reply {
		direction = LoseReply
	}
	m.lost = a.Action.Lose == direction || m.arriving && destroys(a.Action.RST, a.Action.Lose, direction)
	m.conn.breakUp(a.Action.RST, a.Action.Lose)
	return true
}

func (a *armed) breakLink(r route) (did bool) {
	for _, c := range a.engine.conns {
		if !c.clientOver && !c.serverOver && (r.has(c.client, c.server) || r.has(c.server, c.client)) {
			c.breakUp(a.Action.RST, a.Action.Lose)
			did = true
		}
	}
	return did
}
