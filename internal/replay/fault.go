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
	number  uint64 // in the trace; 0 before it is sent
	answers uint64 // the number of the request, of a reply
}

// before lets the faults act that wait for a step that is about to be taken. It is called with the lock.
func (s *stage) before(step trace.Step, m *message) { s.trigger(sim.Before, step, m) }

// took lets the faults act that wait for a step that has been taken. It is called with the lock.
func (s *stage) took(step trace.Step, m *message) { s.trigger(sim.After, step, m) }

func (s *stage) trigger(when sim.When, step trace.Step, m *message) {
	if step.What != "ping" {
		s.stirred = s.Now()
	}
	if when == sim.After {
		s.note(step, m)
	}
	act := func(m *message) sim.Act {
		return func(f *sim.Fault, node string) (bool, func()) { return s.carryOut(f, node, m) }
	}
	s.injector.Step(when, &step, act(m), func() sim.Act {
		then := *m // the message has been passed on by then, but its connection may still be broken
		return act(&then)
	})
}

// note adds a step to the trace. A request counts as executed when it is answered.
func (s *stage) note(step trace.Step, m *message) {
	if m.number == 0 && (step.Does == trace.Send || step.Does == trace.Reply) {
		s.messages++
		m.number = s.messages
	}
	e := trace.Event{At: s.Now(), Seq: uint64(len(s.events) + 1), Step: step, Msg: m.number}
	if step.Does == trace.Execute {
		e.Msg = m.answers
	}
	s.events = append(s.events, e)
}

// Act carries out a fault that no message triggers. It is called with the lock.
func (s *stage) Act(f *sim.Fault, node string) (did bool, heal func()) {
	return s.carryOut(f, node, &message{})
}

// Announce makes the beginning or the end of a fault a step. It is called with the lock.
func (s *stage) Announce(when sim.When, step trace.Step, _ *sim.Fault) {
	s.trigger(when, step, &message{})
}

// carryOut does what a fault says; an error is a failure of the stage.
func (s *stage) carryOut(f *sim.Fault, node string, m *message) (did bool, heal func()) {
	did, undo, err := s.act(&f.Action, node, m)
	if err != nil {
		s.fail(fmt.Errorf("fault %s: %w", f.Name, err))
		return false, nil
	}
	if undo == nil {
		return did, nil
	}
	return did, func() {
		if err := undo(); err != nil {
			s.fail(fmt.Errorf("the end of fault %s: %w", f.Name, err))
		}
	}
}
