package replay

import (
	"fmt"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// message is the message of the step that triggers a fault, and what the fault does to it.
type message struct {
	passage *real.Passage // nil if the message is one to the resource, or the step is of none
	route   *route        // nil if the step is of no message
	reply   bool
	delay   func() // nil: none
	answer  string // an error that answers the request
	lost    bool
}

// armed is a fault on its way to happen.
type armed struct {
	sim.Fault
	matches    int  // of the trigger's step
	triggered  bool // and not again
	begin, end trace.Instant
	node       string // the node that it affected
}

// arm hangs the faults of the scenario.
func (s *stage) arm(faults []sim.Fault) {
	for _, f := range faults {
		s.faults = append(s.faults, &armed{Fault: f, begin: trace.Never, end: trace.Never})
	}
}

// atTheStart carries out what is to be so before anybody takes a step, and has the rest wait for its moment.
func (s *stage) atTheStart() {
	for _, a := range s.faults {
		switch {
		case a.Trigger.When != sim.At:
		case a.Trigger.At == 0:
			s.fire(a, nil)
		default:
			s.after(a.Trigger.At, func() { s.fire(a, nil) })
		}
	}
}

// before lets the faults act that wait for a step that is about to be taken. It is called with the lock.
func (s *stage) before(step trace.Step, m *message) { s.trigger(sim.Before, step, m) }

// took lets the faults act that wait for a step that has been taken. It is called with the lock.
func (s *stage) took(step trace.Step, m *message) { s.trigger(sim.After, step, m) }

func (s *stage) trigger(when sim.When, step trace.Step, m *message) {
	if step.What != "ping" {
		s.stirred = s.now()
	}
	for _, a := range s.faults {
		if a.triggered || a.Trigger.When != when || !a.Trigger.Step.Matches(&step, s.role) {
			continue
		}
		a.matches++
		if a.matches < a.Trigger.Nth {
			continue
		}
		a.triggered = true
		if a.Trigger.Plus == 0 {
			s.fire(a, m)
			continue
		}
		s.after(a.Trigger.Plus, func() { s.fire(a, nil) })
	}
}

// fire carries a fault out. It is called with the lock.
func (s *stage) fire(a *armed, m *message) {
	name := a.Action.Node
	if sim.IsRole(name) {
		name = s.role(name)
	}
	step := trace.Step{Node: name, Does: trace.Begin, What: a.Name}
	s.before(step, &message{})
	did, heal, err := s.act(a, name, m)
	if err != nil {
		s.fail(fmt.Errorf("fault %s: %w", a.Name, err))
		return
	}
	if !did {
		return
	}
	a.begin, a.node = s.now(), name
	s.took(step, &message{})
	lasts := a.For
	if a.Action.Kind == sim.Crash {
		lasts = a.Action.Restart
	}
	switch {
	case heal == nil:
		a.end = a.begin.Add(a.Action.By)
	case lasts > 0:
		a.end = a.begin.Add(lasts)
		s.after(lasts, func() { s.mend(a, heal) })
	}
}

// mend ends what a fault does. It is called with the lock.
func (s *stage) mend(a *armed, heal func() error) {
	step := trace.Step{Node: a.node, Does: trace.End, What: a.Name}
	s.before(step, &message{})
	if err := heal(); err != nil {
		s.fail(fmt.Errorf("the end of fault %s: %w", a.Name, err))
		return
	}
	a.end = s.now()
	s.took(step, &message{})
}
