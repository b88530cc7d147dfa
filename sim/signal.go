package sim

import "slices"

// Signal is something that happens once, for which tasks can wait.
type Signal struct {
	fired bool
	first waiter // nearly always there is only one
	rest  []waiter
}

// waiter is one wait of a task.
type waiter struct {
	task *Task
	wake uint64
}

// Fire makes it happen. Firing again does nothing.
func (s *Signal) Fire() {
	if s.fired {
		return
	}
	s.fired = true
	s.first.awake()
	for _, w := range s.rest {
		w.awake()
	}
	s.first, s.rest = waiter{}, nil
}

func (w waiter) awake() {
	if w.task != nil && w.task.parked && w.task.wakes == w.wake {
		w.task.makeReady()
	}
}

// Fired reports whether it has happened.
func (s *Signal) Fired() bool { return s.fired }

// add notes a task that waits for it, after those that already do.
func (s *Signal) add(w waiter) {
	if s.first.task == nil && len(s.rest) == 0 {
		s.first = w
		return
	}
	s.rest = append(s.rest, w)
}

// forget drops a task that no longer waits for it.
func (s *Signal) forget(t *Task) {
	if s.first.task == t {
		s.first = waiter{}
	}
	if len(s.rest) > 0 {
		s.rest = slices.DeleteFunc(s.rest, func(w waiter) bool { return w.task == t })
	}
}
