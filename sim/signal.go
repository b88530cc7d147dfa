package sim

import "slices"

// Signal is an event that happens once, and for which tasks can wait.
type Signal struct {
	fired bool
	first *Task   // that waits; nearly always there is only one
	rest  []*Task // that wait, in order
}

// Fire makes the event happen. Firing again does nothing.
func (s *Signal) Fire() {
	if s.fired {
		return
	}
	s.fired = true
	if s.first != nil {
		s.first.makeReady()
	}
	for _, t := range s.rest {
		t.makeReady()
	}
	s.first, s.rest = nil, nil
}

// Fired reports whether the event has happened.
func (s *Signal) Fired() bool { return s.fired }

// add notes a task that waits for it, after those that already do.
func (s *Signal) add(t *Task) {
	if s.first == nil && len(s.rest) == 0 {
		s.first = t
		return
	}
	s.rest = append(s.rest, t)
}

// forget drops a task that no longer waits for it.
func (s *Signal) forget(t *Task) {
	if s.first == t {
		s.first = nil
	}
	if len(s.rest) > 0 {
		s.rest = slices.DeleteFunc(s.rest, func(other *Task) bool { return other == t })
	}
}
