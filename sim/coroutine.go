package sim

import "iter"

// coroutine runs one task after another, so that a run need not make new ones. It stands on iter.Pull, which changes
// stacks in a third of the time that two goroutines need to pass a message, and never runs two of them at once.
type coroutine struct {
	task  *Task
	yield func(struct{}) bool     // from the task's code to the engine
	next  func() (struct{}, bool) // from the engine to the task's code
	stop  func()
}

// take returns an idle coroutine.
func (s *Spare) take() *coroutine {
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(c.loop(s))
	return c
}

func (c *coroutine) loop(s *Spare) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		c.yield = yield
		for {
			t := c.task
			t.execute()
			c.task = nil
			s.idle = append(s.idle, c)
			t.finished()
			if !yield(struct{}{}) {
				return
			}
		}
	}
}
