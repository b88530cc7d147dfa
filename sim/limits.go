package sim

// Limits bound a run; 0 is no bound. Reaching one ends the run and is reported by its name. The first two are exact;
// the others, which bound the memory of a run, are checked once every [checkEvery] events.
type Limits struct {
	Steps       int // events popped from the queue
	Messages    int // segments sent
	Pending     int // events in the queue
	Connections int // open ones, and those not yet forgotten
	InFlight    int // segments on their way, or not yet read
	Trace       int // steps and intents of the trace, kept or not
	Stored      int // the servers' sizes, see [Sized]
}

// Sized is a server that stores its clients' writes. Its size is a number that grows with its memory.
type Sized interface {
	Size() int
}

// checkEvery is how many events there are from one check of a run to the next.
const checkEvery = 1024

// checkNow returns the name of a bound that has been reached, if it is time to look; "" otherwise.
func (e *Engine) checkNow() string {
	if e.steps%checkEvery != 0 || e.steps == 0 {
		return ""
	}
	l := &e.config.Limits
	switch over := func(limit, n int) bool { return limit > 0 && n > limit }; {
	case over(l.Pending, len(e.queue)):
		return "pending events"
	case over(l.Connections, len(e.conns)):
		return "connections"
	case l.InFlight > 0 && over(l.InFlight, e.inFlight()):
		return "messages in flight"
	case over(l.Trace, e.Trace.Len()):
		return "trace events"
	case l.Stored > 0 && over(l.Stored, e.stored()):
		return "stored entries"
	}
	if e.config.Check == nil {
		return ""
	}
	return e.config.Check()
}

// inFlight counts the segments that have been sent and not been read.
func (e *Engine) inFlight() (n int) {
	for _, c := range e.conns {
		n += c.up.flight.len() + c.down.flight.len() + c.inbox.len() + c.buffer.len() + len(c.early)
	}
	return n
}

// stored sums up what the servers store.
func (e *Engine) stored() (n int) {
	for _, node := range e.nodes {
		if s, ok := node.server.(Sized); ok {
			n += s.Size()
		}
	}
	return n
}
