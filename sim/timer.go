package sim

import "github.com/locksim/locksim/trace"

// Timer rings when a node's clock reaches a reading. It belongs to the node's process: it does not ring while the
// process is paused, and a crash clears it.
type Timer struct {
	node    *Node
	ring    Alarm
	wall    bool
	reading int64
	at      trace.Instant // when it will ring, as far as can be foreseen
	seq     uint64        // its place among what happens at that moment
	place   int           // in node.timers, from 1; 0 if it is not armed
	always  bool          // it is an observer's

	// The first of its events in the queue; seq is 0 if there is none. One that comes too early puts another there.
	next struct {
		at  trace.Instant
		seq uint64
	}
}

// Alarm is what a timer calls.
type Alarm interface{ Ring() }

// NewTimer returns an unarmed timer of the node.
func (n *Node) NewTimer(ring Alarm) *Timer {
	t := n.engine.spare.timers.take()
	t.node, t.ring = n, ring
	return t
}

// NewObserver returns a timer that rings even while the node is paused or its process is dead. It is for observers
// of a clock, not for the node's own code.
func (n *Node) NewObserver(ring Alarm) *Timer {
	t := n.NewTimer(ring)
	t.always = true
	return t
}

// Arm makes the timer ring when the node's clock shows the reading; one that was armed is re-armed.
func (t *Timer) Arm(wall bool, reading int64) {
	t.wall, t.reading = wall, reading
	if wall {
		t.node.engine.Trace.Look(t.node.Name, true)
	}
	if t.place == 0 {
		t.node.timers = append(t.node.timers, t)
		t.place = len(t.node.timers)
	}
	t.schedule(t.node.When(wall, reading))
}

// Stop disarms the timer.
func (t *Timer) Stop() {
	if t.place == 0 {
		return
	}
	timers := t.node.timers
	last := timers[len(timers)-1]
	timers[t.place-1] = last
	last.place = t.place
	timers[len(timers)-1] = nil
	t.node.timers = timers[:len(timers)-1]
	t.place = 0
}

// Armed reports whether the timer is going to ring.
func (t *Timer) Armed() bool { return t.place != 0 }

// At returns when the timer will ring in true time, as far as can be foreseen.
func (t *Timer) At() trace.Instant { return t.at }

// Reading returns the reading at which the timer was last armed to ring.
func (t *Timer) Reading() int64 { return t.reading }

// schedule queues an event for the timer, unless an earlier one is queued. Most timers are time-outs that are stopped
// and re-armed for a later moment many times before they ring; a single queued event serves them all.
func (t *Timer) schedule(at trace.Instant) {
	e := t.node.engine
	e.seq++
	t.at, t.seq = at, e.seq
	if t.next.seq == 0 || at < t.next.at {
		t.enqueue()
	}
}

func (t *Timer) enqueue() {
	if t.at == trace.Never {
		return
	}
	t.next.at, t.next.seq = t.at, t.seq
	t.node.engine.queue.push(event{at: t.at, seq: t.seq, do: t, arg: t.seq})
}

// retime follows a change of the clock. An event whose time stays the same keeps its place in the order of
// events.
func (t *Timer) retime() {
	at := t.node.When(t.wall, t.reading)
	if at != t.at {
		t.schedule(at)
	}
}

func (t *Timer) stale(seq uint64) bool {
	if seq != t.next.seq {
		return true
	}
	t.next.seq = 0
	if t.place != 0 && seq != t.seq {
		t.enqueue()
	}
	return t.place == 0 || seq != t.seq
}

func (t *Timer) act(uint64) {
	if t.node.pauses == 0 || t.always {
		t.fire()
		return
	}
	t.node.due = append(t.node.due, t)
}

// catchUp rings after a pause, unless the timer has rung already or its clock was set back meanwhile.
func (t *Timer) catchUp() {
	if t.Armed() && t.at <= t.node.engine.now {
		t.fire()
	}
}

func (t *Timer) fire() {
	t.Stop()
	t.ring.Ring()
}
