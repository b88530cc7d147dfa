package locks

import "time"

// patience is what is left of the time that an Acquire may wait.
type patience struct {
	p     Process
	began Monotonic
	wait  time.Duration
}

func patienceOf(p Process, wait time.Duration) patience {
	return patience{p: p, began: p.Monotonic(), wait: wait}
}

// left returns how long it still may wait: Forever, or less than nothing if it should have given up.
func (w patience) left() time.Duration {
	if w.wait == Forever {
		return Forever
	}
	return w.wait - w.p.Monotonic().Sub(w.began)
}

// over reports whether it is time to give up.
func (w patience) over() bool { return w.left() <= 0 }

// timeout is the time-out of a call: what is left, but no more than the limit, of which 0 is none. A lock that is only
// tried does not wait for others, but for its servers.
func (w patience) timeout(limit time.Duration) time.Duration {
	if w.wait == Forever || w.wait == Try {
		return limit
	}
	left := max(w.left(), 1)
	if limit == 0 {
		return left
	}
	return min(limit, left)
}
