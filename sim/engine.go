// Package sim is a deterministic discrete-event engine: virtual time, nodes with clocks of their own, connections,
// server and client processes, and faults. It knows nothing of locks, Redis or ZooKeeper.
//
// Start with [New]; add servers with [Engine.AddServer] and clients with [Engine.AddClient], inject faults with
// [Engine.Inject], then call [Engine.Run]. A run is single-threaded and a pure function of its inputs: client
// processes are coroutines, of which one runs at a time.
//
// Everything that happens is an event of the [Engine]: a [Timer] rings, a segment arrives at one end of a [Conn], a
// [Fault] begins or heals. After each event the woken tasks run until they block again.
//
// Stability: the Go API may change in any version.
package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Config configures an engine.
type Config struct {
	Seed    uint64
	Until   trace.Instant // the latest end of the run
	Limits  Limits
	Latency Latency // of every link that SetLatency does not name; LAN if nil
	Keep    bool    // keep the trace's events, not only their digest
	// Redraw has the run draw other random numbers from a moment on; nil: it does not.
	Redraw *Redraw
	// Check is called now and then, after the same events in every run. It returns the name of a bound that the run has
	// reached; "" if it has reached none. It may be nil.
	Check func() string
	_     struct{}
}

// Redraw is another future of a run: what is random is that of another seed as soon as something happens after a moment. What was drawn by
// then stays, such as the arrival of a message that is on its way.
type Redraw struct {
	After trace.Instant
	Seed  uint64
}

// Engine is one run of one simulated world.
type Engine struct {
	// Trace records every step of the run.
	Trace trace.Recorder
	// Crashed is called for every client process that a fault kills. It may be nil.
	Crashed func(n *Node)
	// Role returns the node that has a role of a fault's pattern or action; "" if none has. It may be nil.
	Role func(role string) string
	// Command makes a node carry out an action that only its backend, or its client, supports: Promote, Evict,
	// Snapshot, EndSession. It reports whether there was anything to do. It may be nil.
	Command func(n *Node, a *Action) bool
	// ErrorReply answers a request with an error, for faults of kind Error alone. The form of an error is part of the server's
	// protocol.
	ErrorReply func(request Payload, text string) Payload

	config  Config
	seed    uint64        // of the streams that are made now
	until   trace.Instant // the moment up to which nothing changes: that of Redraw, or the run's end
	drawn   []*Rand       // the streams that Redraw affects; empty without one
	now     trace.Instant
	seq     uint64
	queue   queue
	ready   []*Task // tasks to be resumed, in order
	woken   []*Node // nodes whose pause has just ended
	running *Task   // the task whose code runs now; nil in the engine's own code
	nodes   []*Node
	byName  map[string]*Node

	links    []linkLatency
	barriers []*barrier
	conns    []*Conn // in the order in which they were opened
	sweep    int     // how many conns there may be before those that are over are forgotten

	injector Injector

	begun    bool // by Advance
	steps    int
	messages int
	arrivals int // messages on their way to servers whose arrival is an event
	alive    int // client processes that have work to do, or will restart
	calls    int // of tasks since the last event
	bound    string
	failure  *Panic
	spare    *Spare
}

// New returns an engine without nodes. The spare may be nil.
func New(c Config, spare *Spare) *Engine {
	if spare == nil {
		spare = &Spare{}
	}
	if len(c.Latency) == 0 {
		c.Latency = LAN()
	}
	spare.begin()
	e := &Engine{
		config: c, seed: c.Seed, until: c.Until, spare: spare, queue: spare.queue[:0], ready: spare.ready,
		nodes: spare.list, byName: spare.byName, conns: spare.opened,
	}
	if c.Redraw != nil {
		e.until = min(c.Until, c.Redraw.After)
	}
	e.Trace.Keep = c.Keep
	e.injector = Injector{host: (*faultHost)(e), spare: &spare.faults}
	return e
}

// Now returns true time. Only observers may call it: simulated processes have no access to it.
func (e *Engine) Now() trace.Instant { return e.now }

// Steps returns how many events have happened.
func (e *Engine) Steps() int { return e.steps }

// Messages returns how many segments have been sent.
func (e *Engine) Messages() int { return e.messages }

// Rand returns a fresh stream for a purpose and names under the run's seed.
func (e *Engine) Rand(purpose string, names ...string) *Rand {
	r := e.spare.rands.take()
	r.begin(e.seed, purpose, names...)
	if e.config.Redraw != nil {
		e.drawn = append(e.drawn, r)
	}
	return r
}

// StagedRand is a stream that no [Redraw] affects: what a scenario wants to be the same is not left to chance.
func (e *Engine) StagedRand(purpose string, names ...string) *Rand {
	r := e.spare.rands.take()
	r.begin(e.config.Seed, purpose, names...)
	return r
}

// redraw gives all streams other numbers before the event of a moment, unless that is not in the run any more.
func (e *Engine) redraw(next trace.Instant) bool {
	o := e.config.Redraw
	if o == nil || next > e.config.Until {
		return false
	}
	e.seed, e.until = o.Seed, e.config.Until
	for _, r := range e.drawn {
		r.source.Seed(o.Seed, r.name)
	}
	return true
}

func (e *Engine) schedule(at trace.Instant, do actor, arg uint64) {
	if at < e.now {
		panic(fmt.Sprintf("sim: event scheduled for %v, which is before now, %v", at, e.now))
	}
	e.seq++
	e.queue.push(event{at: at, seq: e.seq, do: do, arg: arg})
}

// Ending describes how a run ended.
type Ending struct {
	At trace.Instant
	// Bound names the limit that ended the run early: one of [Limits], the result of [Config].Check, or "calls" if the
	// code of a client never waits; "" if none did.
	Bound string
	// Quiescent says that no further event was possible; false if Until came first.
	Quiescent bool
	// Panic is the panic of a client's code; nil if there was none.
	Panic *Panic
	// Working names the clients whose processes had neither ended nor called Rest.
	Working []string
	// Zombies names the clients whose code went on after their crash instead of unwinding.
	Zombies []string
}

// Run plays the world until no event is left, all clients have ended and none of their messages is on its way, the
// configured end comes, or a limit is reached. It may be called once.
func (e *Engine) Run() Ending {
	ending := e.play()
	ending.At, ending.Bound, ending.Panic = e.now, e.bound, e.failure
	for _, n := range e.nodes {
		if n.process != nil && !n.process.ended && !n.process.rests {
			ending.Working = append(ending.Working, n.Name)
		}
	}
	ending.Zombies = e.unwind()
	clear(e.queue)
	e.spare.queue, e.spare.ready, e.spare.list, e.spare.opened = e.queue, e.ready, e.nodes, e.conns
	return ending
}

func (e *Engine) play() Ending {
	e.begin()
	for e.failure == nil && e.bound == "" {
		for len(e.queue) > 0 && e.queue[0].do.stale(e.queue[0].arg) {
			e.queue.pop()
		}
		switch limits := &e.config.Limits; {
		case e.still():
			return Ending{Quiescent: true}
		case e.queue[0].at > e.until && !e.redraw(e.queue[0].at):
			e.now = e.config.Until
			return Ending{}
		case limits.Steps > 0 && e.steps >= limits.Steps:
			e.bound = "steps"
			return Ending{}
		case limits.Messages > 0 && e.messages > limits.Messages:
			e.bound = "messages"
			return Ending{}
		}
		if e.bound = e.checkNow(); e.bound != "" {
			return Ending{}
		}
		next := e.queue.pop()
		e.now = next.at
		e.steps++
		next.do.act(next.arg)
		e.drain()
	}
	return Ending{}
}

// Advance plays the world up to a moment and makes that the present, for callers that run the engine in step with
// another clock and act in between. It returns the moment before which nothing will happen, [trace.Never] if nothing
// ever will. An engine that was advanced cannot be run; its limits and Redraw do not apply. The error is a *[Panic].
func (e *Engine) Advance(to trace.Instant) (next trace.Instant, err error) {
	if !e.begun {
		e.begun = true
		e.begin()
	}
	e.drain()
	for e.failure == nil && len(e.queue) > 0 && e.queue[0].at <= to {
		first := e.queue.pop()
		if first.do.stale(first.arg) { // it is asked once, and right before it acts
			continue
		}
		e.now = first.at
		e.steps++
		first.do.act(first.arg)
		e.drain()
	}
	if e.failure != nil {
		return trace.Never, e.failure
	}
	e.now = max(e.now, to)
	if len(e.queue) == 0 {
		return trace.Never, nil
	}
	return e.queue[0].at, nil
}

// begin lets the faults act that are there from the beginning, and then the processes start.
func (e *Engine) begin() {
	e.Trace.Begin()
	e.injector.Begin()
	e.drain()
}

// still reports whether nothing that matters can happen any more. Once all clients have ended that is so unless
// something that they sent will still reach a server, perhaps when a fault has healed.
func (e *Engine) still() bool {
	if len(e.queue) == 0 {
		return true
	}
	return e.alive == 0 && e.arrivals == 0 && (e.injector.healing == 0 || !slices.ContainsFunc(e.conns, (*Conn).waits))
}

// drain lets go on what was paused, and resumes the tasks that have become ready.
func (e *Engine) drain() {
	e.calls = 0
	for _, n := range e.woken {
		n.catchUp()
	}
	e.woken = e.woken[:0]
	i := 0
	for ; i < len(e.ready) && e.failure == nil && e.bound == ""; i++ {
		e.ready[i].resume()
	}
	e.ready = slices.Delete(e.ready, 0, i)
}

// unwind ends the code of all tasks, without effect, and names the clients whose code would not end.
func (e *Engine) unwind() (zombies []string) {
	for _, n := range e.nodes {
		if n.process != nil {
			n.down, n.pauses = true, 0
			n.life++
			n.process.die()
		}
	}
	for i := 0; i < len(e.ready); i++ {
		e.ready[i].resume()
	}
	for _, n := range e.nodes {
		if n.process != nil && n.process.zombies {
			zombies = append(zombies, n.Name)
		}
	}
	return zombies
}

// Node returns the node of that name; nil if there is none.
func (e *Engine) Node(name string) *Node { return e.byName[name] }

// action is an event that calls a function.
type action func()

func (a action) stale(uint64) bool { return false }
func (a action) act(uint64)        { a() }

// After calls f after d of true time: for faults and observers, which no pause or crash can stop.
func (e *Engine) After(d time.Duration, f func()) { e.schedule(e.now.Add(d), action(f), 0) }

// detail returns what shows a payload to a reader, if the trace is kept for one.
func (e *Engine) detail(p Payload) func() string {
	if !e.Trace.Keep {
		return nil
	}
	return p.String
}

// exchange returns what shows a request and its answer.
func (e *Engine) exchange(request, answer Payload) func() string {
	if !e.Trace.Keep || answer == nil {
		return e.detail(request)
	}
	return func() string { return request.String() + " -> " + answer.String() }
}
