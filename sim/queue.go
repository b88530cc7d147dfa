package sim

import "github.com/locksim/locksim/trace"

// event is something that is going to happen. Events at the same moment happen in the order in which they were
// scheduled.
type event struct {
	at  trace.Instant
	seq uint64
	do  actor
	arg uint64
}

// actor is what an event happens to.
type actor interface {
	// stale reports, once, whether the event was overtaken by something else and is to be passed over. It may put
	// another one into the queue.
	stale(arg uint64) bool
	act(arg uint64)
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// queue is a heap of events with four children to a node, which halves the depth of a binary one.
//
// Invariant: no event is before its parent, which stands at (i-1)/4.
type queue []event

func (q *queue) push(e event) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	*q = h
}

func (q *queue) pop() event {
	h := *q
	first := h[0]
	last := h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return first
}
