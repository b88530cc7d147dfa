package sim

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// Process is a client process: a set of tasks that share its node's clocks, its pauses and its crash. Its code is
// plain blocking Go on coroutines. The engine does not depend on what that code is: a task affects the world only
// through its methods.
type Process struct {
	node    *Node
	main    func(*Task)
	tasks   []*Task // of the present life; some may have ended
	started int     // how many tasks there have been, in all lives
	over    int     // how many of tasks have ended
	frozen  []*Task // ready, but the process is paused
	ended   bool    // main has returned, or the process has died
	rests   bool    // main has no more to do; the process stays up
	zombies bool    // some task's code would not unwind
}

// AddClient adds a client node whose process runs main. The process starts with the run and ends when main
// returns.
func (e *Engine) AddClient(name string, main func(*Task)) *Node {
	n := e.addNode(name)
	n.process = e.spare.processes.take()
	n.process.node, n.process.main = n, main
	e.alive++
	n.process.start()
	return n
}

// emptied returns a process that is new, but for the memory of its list.
func (p *Process) emptied() Process { return Process{tasks: emptied(p.tasks)} }

// start runs main from its beginning, as a new process.
func (p *Process) start() {
	if p.ended {
		p.ended = false
		p.node.engine.alive++
	}
	p.spawn(p.main).main = true
}

func (p *Process) spawn(run func(*Task)) *Task {
	e := p.node.engine
	t := e.spare.tasks.take()
	t.engine, t.process, t.run, t.index, t.life = e, p, run, p.started, p.node.life
	t.timer.node, t.timer.ring = p.node, t
	p.started++
	p.forgetEnded()
	p.tasks = append(p.tasks, t)
	t.makeReady()
	return t
}

// forgetEnded keeps the list of tasks short in a process that starts many.
func (p *Process) forgetEnded() {
	if p.over > 8 && p.over > len(p.tasks)/2 {
		p.tasks = slices.DeleteFunc(p.tasks, func(t *Task) bool { return t.ended })
		p.over = 0
	}
}

// rest has the run no longer wait for the process.
func (p *Process) rest() {
	if !p.ended && !p.rests {
		p.rests = true
		p.node.engine.alive--
	}
}

// die ends all tasks. Their code gets no further; what it has deferred runs without effect.
func (p *Process) die() {
	p.rest()
	p.ended, p.rests = true, false
	for _, t := range p.frozen {
		t.queued = false
	}
	p.frozen = nil
	for _, t := range p.tasks {
		t.makeReady() // to be unwound
	}
	p.tasks, p.over = p.tasks[:0], 0
}

// thaw lets the tasks go on that became ready during a pause. Those of a process that is paused again freeze again.
func (p *Process) thaw() {
	frozen := p.frozen
	p.frozen = nil
	for _, t := range frozen {
		t.queued = false
		t.makeReady()
	}
}

// Task is one thread of a client process. Its methods may be called by its own code only.
type Task struct {
	engine  *Engine
	process *Process
	run     func(*Task)
	index   int
	main    bool // the process ends with it
	life    int  // of the node, in which it was started
	end     Signal
	timer   Timer
	co      *coroutine // nil before it has started and after it has ended

	queued   bool // it is in the engine's list of ready tasks, or frozen
	ended    bool
	refusals int // calls refused since it died
}

// Forever is a wait without a time limit.
const Forever time.Duration = math.MaxInt64

// Node returns the node that the task runs on.
func (t *Task) Node() *Node { return t.process.node }

// Index returns the task's number among all tasks of its node, over all lives of the process; 0 is the first
// main task.
func (t *Task) Index() int { return t.index }

// String names the task as "a" or, if it is not the first main one, "a/1".
func (t *Task) String() string {
	if t.index == 0 {
		return t.Node().Name
	}
	return fmt.Sprintf("%s/%d", t.Node().Name, t.index)
}

// Go runs another task of the same process and returns a signal that fires when the task ends.
func (t *Task) Go(run func(*Task)) *Signal {
	t.mustLive()
	return &t.process.spawn(run).end
}

// Rest says that the process has no more work, though it stays up: its connections remain, and its other tasks continue.
// The run does not wait for it any longer.
func (t *Task) Rest() {
	t.mustLive()
	t.process.rest()
}

// Sleep blocks for d on the monotonic clock.
func (t *Task) Sleep(d time.Duration) { t.Wait(d) }

// Wait blocks until one of the signals has fired, or d has passed on the monotonic clock. It returns the index of the
// first fired signal, or -1. It is the one blocking primitive; all others are built on it.
func (t *Task) Wait(d time.Duration, signals ...*Signal) int {
	t.mustLive()
	if first := firstFired(signals); first >= 0 {
		return first
	}
	for _, s := range signals {
		s.add(t)
	}
	if d < Forever {
		t.timer.Arm(false, plus(t.Node().Monotonic(), int64(max(d, 0))))
	}
	t.park()
	t.timer.Stop()
	for _, s := range signals {
		s.forget(t)
	}
	return firstFired(signals)
}

func firstFired(signals []*Signal) int {
	return slices.IndexFunc(signals, (*Signal).Fired)
}

// Ring wakes the task: its timer has fired.
func (t *Task) Ring() { t.makeReady() }

// Step takes a step that is not a message. Faults that are triggered by it act, and may pause or kill the task.
// Took is called at the moment at which the step is taken.
func (t *Task) Step(s trace.Step, sum uint64, took func(), detail func() string) {
	t.mustLive()
	e := t.engine
	s.Node = t.Node().Name
	e.before(&s, &message{})
	t.checkpoint()
	if took != nil {
		took()
	}
	e.took(&s, &message{}, sum, detail)
	t.checkpoint()
}

// checkpoint is where a running task notices that a fault has just paused or killed its process.
func (t *Task) checkpoint() {
	t.mustLive()
	for t.Node().pauses > 0 {
		t.queued = true
		t.process.frozen = append(t.process.frozen, t)
		t.park()
	}
}

// park gives control back to the engine until somebody makes the task ready.
func (t *Task) park() {
	t.co.yield(struct{}{})
	t.mustLive()
}

// makeReady puts the task into the list of those to be resumed, now or when its process is no longer paused. The dead
// are not paused.
func (t *Task) makeReady() {
	if t.queued || t.ended {
		return
	}
	t.queued = true
	if t.Node().pauses > 0 {
		t.process.frozen = append(t.process.frozen, t)
		return
	}
	t.engine.ready = append(t.engine.ready, t)
}

func (t *Task) alive() bool { return !t.process.node.down && t.life == t.process.node.life }

// killed unwinds the code of a task whose process has died.
type killed struct{}

const (
	// stubborn is how many calls a dead task may make before its code is taken to be one that never ends.
	stubborn = 100
	// maxCalls is how many calls tasks may make at one moment before their code is taken to be in an endless loop.
	maxCalls = 100_000
)

// mustLive stands before everything that a task does.
func (t *Task) mustLive() {
	if t.engine.running != t {
		panic(fmt.Sprintf("sim: task %v was used by other code than its own: a function that Go runs must use what it is given, and what comes from that", t))
	}
	if !t.alive() {
		t.refuse()
	}
	t.engine.calls++
	if t.engine.calls > maxCalls {
		t.exceed("calls")
	}
}

// Exceed ends the run because the task's code has reached a bound, such as one on its computation. It does not return.
func (t *Task) Exceed(bound string) {
	t.mustLive()
	t.exceed(bound)
}

func (t *Task) exceed(bound string) {
	t.engine.bound = bound
	t.co.yield(struct{}{})
	t.refuse()
}

// refuse refuses a call of a dead process before it has an effect, by a panic that ends the task's code. The code's
// deferred functions run during it: their calls are refused likewise. Code that recovers and continues forever is
// cut off: its coroutine is abandoned, since stopping it would run that code further.
func (t *Task) refuse() {
	t.refusals++
	if t.refusals > stubborn {
		t.process.zombies = true
		t.ended = true
		t.co.yield(struct{}{})
	}
	panic(killed{})
}

// resume runs the task's code until it parks or ends.
func (t *Task) resume() {
	t.queued = false
	switch {
	case t.ended:
		return
	case t.Node().pauses > 0:
		t.makeReady()
		return
	case t.co == nil && !t.alive():
		t.ended = true
		return
	case t.co == nil:
		t.co = t.engine.spare.take()
		t.co.task = t
	}
	t.engine.running = t
	t.co.next()
	t.engine.running = nil
}

// execute is what the coroutine does for a task.
func (t *Task) execute() {
	defer func() {
		t.ended = true
		// A panic of dead code while it unwinds is ignored: no process is left to see it.
		if v := recover(); v != nil && t.alive() {
			t.engine.failure = &Panic{Node: t.Node().Name, Value: v, Stack: string(debug.Stack())}
		}
	}()
	t.run(t)
}

// finished is called when the task's code has ended. The process ends with its main task.
func (t *Task) finished() {
	t.co = nil
	if !t.alive() {
		return
	}
	t.process.over++
	t.timer.Stop()
	t.end.Fire()
	if t.main {
		t.Node().die()
	}
}
