package harness

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// process is what one task of a simulated client sees: the port that locks and the workload know, on the engine.
type process struct {
	locks.Services
	world   *world
	client  *clientPlan
	task    *sim.Task
	shared  *shared
	storage storagePort
	owner   record.Owner
	parent  *process      // who started the task outside of any acquisition; nil otherwise
	phase   history.ID    // the acquisition that the task is concerned with; 0: the parent's
	asking  bool          // it is inside Lock
	leaving bool          // it is inside Unlock
	more    bool          // it takes other locks after the one that it asks for
	based   []uint64      // versions read in this section, by register
	access  int           // the access that the lock is carrying out, from 1; 0 if none
	waiting []*sim.Signal // scratch
}

// shared is what the tasks of a process have in common.
type shared struct {
	life           string    // a process that has been restarted draws other numbers than the one before it
	jitter, values *sim.Rand // nil until the first draw
	clients        any       // what a client library of the servers keeps for the process
	seconds        [2]second // by whether they are of requests within Lock; where the scenario bounds them
}

var _ workload.Env = (*process)(nil)

func newProcess(w *world, c *clientPlan, t *sim.Task) *process {
	return taskOf(w, c, t, &shared{life: strconv.Itoa(t.Node().Life())})
}

func taskOf(w *world, c *clientPlan, t *sim.Task, s *shared) *process {
	p := &process{world: w, client: c, task: t, shared: s}
	p.owner = record.Owner{Client: c.Name, Task: t.Index(), Style: c.Work.Style}
	if len(c.takes) > 0 {
		p.owner.Lock = c.takes[0].name
	}
	p.Services = w.service.Clients(p)
	p.based = make([]uint64, w.plan.registers())
	return p
}

// draw returns a stream of the process's own randomness, made when it is first needed.
func (p *process) draw(stream **sim.Rand, purpose string) *sim.Rand {
	if *stream == nil {
		*stream = p.stream(purpose)
	}
	return *stream
}

// stream returns a stream of the process's life. One that a fault has processes share is the scenario's, whatever else is drawn.
func (p *process) stream(purpose string) *sim.Rand {
	if p.client.shares {
		return p.world.engine.StagedRand(purpose, p.client.Random, p.shared.life)
	}
	return p.world.engine.Rand(purpose, p.client.Random, p.shared.life)
}

// Wall reads the process's wall clock.
func (p *process) Wall() locks.Wall { return locks.Wall(p.task.Node().Wall()) }

// Monotonic reads the process's monotonic clock.
func (p *process) Monotonic() locks.Monotonic { return locks.Monotonic(p.task.Node().Monotonic()) }

// Sleep blocks for d on the monotonic clock.
func (p *process) Sleep(d time.Duration) { p.task.Sleep(d) }

// Wait blocks until a signal fires or d has passed.
func (p *process) Wait(d time.Duration, signals ...locks.Signal) int {
	p.waiting = p.waiting[:0]
	for _, s := range signals {
		p.waiting = append(p.waiting, s.(*sim.Signal))
	}
	return p.task.Wait(d, p.waiting...)
}

// Ran returns for how long the process has run, pauses left out.
func (p *process) Ran() time.Duration { return time.Duration(p.task.Node().Ran()) }

// NewSignal returns a signal that has not fired.
func (p *process) NewSignal() locks.Signal { return &sim.Signal{} }

// Go runs fn as another task.
func (p *process) Go(fn func(locks.Process)) locks.Signal {
	// A task that is started within an acquisition belongs to it, for as long as it runs; a task that a lock's
	// builder starts belongs to the current acquisition of its process.
	phase, asking, leaving := p.phase, p.asking, p.leaving
	return p.task.Go(func(t *sim.Task) {
		child := taskOf(p.world, p.client, t, p.shared)
		child.parent, child.phase, child.asking, child.leaving = p, phase, asking, leaving
		fn(child)
	})
}

// concern returns the task that says to which acquisition the task's requests belong, and whether they are sent from within Lock
// or Unlock.
func (p *process) concern() *process {
	for p.phase == 0 && p.parent != nil {
		p = p.parent
	}
	return p
}

// Turn numbers what is called now among all requests.
func (p *process) Turn() uint64 {
	p.world.turn++
	return p.world.turn
}

// Origin says where a request of the task comes from, and numbers it.
func (p *process) Origin() sim.Origin {
	of := p.concern()
	p.world.sent++
	if p.world.plan.limitsLoad() {
		p.countRequest(of.phase, of.asking)
	}
	return sim.Origin{
		Client: p.client.Name, Tag: int(of.phase), Sent: p.Turn(), Asking: of.asking, Leaving: of.leaving, Access: p.access,
	}
}

// Spawn runs f as another task of the workload.
func (p *process) Spawn(f func(workload.Env)) locks.Signal {
	return p.task.Go(func(t *sim.Task) { f(taskOf(p.world, p.client, t, p.shared)) })
}

// Uniform returns a random number in [0, n).
func (p *process) Uniform(n int64) int64 { return p.draw(&p.shared.jitter, "jitter").Int64N(n) }

// RandomValue returns 20 random bytes in hexadecimal.
func (p *process) RandomValue() string {
	const digits, bytes = "0123456789abcdef", 20
	values := p.draw(&p.shared.values, "values")
	var text [2 * bytes]byte
	for i := 0; i < len(text); {
		for x, n := values.Uint64(), 0; n < 16 && i < len(text); n++ {
			text[i] = digits[x&15]
			x >>= 4
			i++
		}
	}
	return string(text[:])
}

// Owner identifies the task within the whole system.
func (p *process) Owner() string { return fmt.Sprintf("%s:%d", p.client.Name, p.task.Index()) }

// unbuilt notes that a lock could not be built: it was not even asked for.
func (p *process) unbuilt(why error) {
	p.task.Step(trace.Step{Does: trace.Refused}, 0, nil, why.Error)
}

// Takes notes which lock the next acquisition is of.
func (p *process) Takes(lock int, more bool) {
	p.owner.Lock, p.more = p.client.takes[lock].name, more
}

// about is a step of the lock of an acquisition.
func (p *process) about(does trace.Does, id history.ID) trace.Step {
	return trace.Step{Does: does, What: p.world.journal.LockOf(id)}
}

// Start numbers an acquisition.
func (p *process) Start() history.ID {
	id := history.ID(0)
	p.task.Step(trace.Step{Does: trace.Start, What: p.owner.Lock}, 0, func() { id = p.world.journal.start(&p.owner) }, nil)
	p.phase, p.asking, p.leaving = id, true, false
	return id
}

// Acquired records that Lock has returned with a lease.
func (p *process) Acquired(id history.ID, l locks.Lease) {
	p.asking = false
	clear(p.based)
	p.task.Step(p.about(trace.Acquired, id), l.Token,
		func() { p.world.journal.acquired(p.task.Node(), id, l, p.more) },
		func() string { return describe(l) })
}

func describe(l locks.Lease) string {
	if l.Token != 0 {
		return fmt.Sprintf("token %d", l.Token)
	}
	return ""
}

// Refused records that Lock has returned without a lease, and a note with the reason, unless that is that others
// have the lock.
func (p *process) Refused(id history.ID, o history.Outcome, why error, final bool) {
	p.asking = false
	p.task.Step(p.about(trace.Refused, id), uint64(o), func() {
		x := record.Refusal{Outcome: o, Final: final}
		if !errors.Is(why, locks.ErrNotAcquired) {
			x.Why = why
		}
		if p.client.algorithm.Program != nil {
			x.Said = ownWords(why)
		}
		p.world.journal.Refused(id, x)
	}, o.String)
}

// ownWords are what a library says of a refusal, without what guest's errors say of it.
func ownWords(why error) string {
	text := why.Error()
	for _, ours := range []error{locks.ErrNotAcquired, locks.ErrUnknown} {
		if rest, ok := strings.CutPrefix(text, ours.Error()); ok {
			text = strings.TrimPrefix(rest, ": ")
		}
	}
	return text
}

// Check is a step of a careful client, in which it reads its clock.
func (p *process) Check(id history.ID, look func()) {
	p.task.Step(p.about(trace.Check, id), 0, look, nil)
}

// Lost records that the application has learnt of its loss.
func (p *process) Lost(id history.ID) {
	p.task.Step(p.about(trace.Lost, id), 0, func() { p.world.journal.Noticed(id) }, nil)
}

// Release records that Unlock is called. If the call is repeated, the first one ends the belief.
func (p *process) Release(id history.ID) {
	p.phase, p.leaving = id, true
	p.task.Step(p.about(trace.Release, id), 0, func() {
		p.world.journal.Unlocked(id, workload.Told(p.world.journal.terms[id-1].notices))
	}, nil)
}

// ends records that the process has done its work, and ends.
func (p *process) ends() {
	p.task.Step(trace.Step{Does: trace.Done}, 0, func() { p.world.journal.Ended(p.client.Name) }, nil)
}

// Stays records that the process has done its work, and stays up.
func (p *process) Stays() {
	p.task.Step(trace.Step{Does: trace.Done, What: "stays"}, 0, p.task.Rest, nil)
}

// Released records the result of Unlock.
func (p *process) Released(id history.ID, o history.Outcome) {
	p.leaving = false
	p.task.Step(p.about(trace.Released, id), uint64(o), func() { p.world.journal.Released(id, o) }, o.String)
}

// Access sends one access to the resource and waits for its answer.
func (p *process) Access(id history.ID, op history.Op, register int, l locks.Lease, with ...workload.Held) (bool, error) {
	register = p.world.plan.register(p.world.journal.LockOf(id), register)
	first, others := p.show(workload.Held{ID: id, Lease: l}, with)
	request := &storage.Request{
		Op: op, Register: register, Lock: p.comparedAs(first.ID), Token: first.Lease.Token, Holder: first.Lease.Value, Based: p.based[register],
	}
	for _, o := range others {
		request.With = append(request.With, storage.Shown{Lock: p.comparedAs(o.ID), Token: o.Lease.Token})
	}
	request.Access, request.Version = p.turnTo(first.ID, op, register, first.Lease, others...)
	number := request.Access
	answer, err := p.askStorage(request)
	if err != nil {
		return false, err
	}
	p.answered(number, op, register, answer.Version)
	return answer.Accepted, nil
}

// Guarded makes the lock carry out one access, on its own servers.
func (p *process) Guarded(id history.ID, op history.Op, register int, l locks.Lease, g locks.Guard) (bool, error) {
	number, written := p.turnTo(id, op, register, l)
	p.access = number
	defer func() { p.access = 0 }()
	version, err := uint64(0), error(nil)
	if op == history.Read {
		version, err = g.Read(l, register)
	} else {
		err = g.Write(l, register, p.based[register], written)
	}
	if err != nil && !errors.Is(err, locks.ErrNotHeld) {
		return false, err
	}
	p.answered(number, op, register, version)
	return err == nil, nil
}

// turnTo is the step of an access that is about to be sent. It numbers it, and the version that a write makes.
func (p *process) turnTo(id history.ID, op history.Op, register int, l locks.Lease, with ...workload.Held) (number int, version uint64) {
	access := history.Access{Acquisition: id, Client: p.client.Name, Op: op, Register: register, Token: l.Token}
	for _, o := range with {
		access.With = append(access.With, history.Shown{Acquisition: o.ID, Token: o.Lease.Token})
	}
	p.task.Step(trace.Step{Does: trace.Access, What: op.String()}, l.Token,
		func() { number, version = p.world.journal.Invoked(access) }, nil)
	return number, version
}

// answered notes that the answer to an access is there.
func (p *process) answered(number int, op history.Op, register int, version uint64) {
	p.world.journal.Answered(number)
	if op == history.Read {
		p.based[register] = version
	}
}

// storagePort is the task's connection to the resource.
type storagePort struct {
	conn    *sim.Conn
	answer  *storage.Answer
	settled sim.Signal
}

// Deliver handles the answer.
func (s *storagePort) Deliver(p sim.Payload) {
	s.answer = p.(*storage.Answer)
	s.settled.Fire()
}

// Closed ends the wait for an answer.
func (s *storagePort) Closed() {
	s.conn = nil
	s.settled.Fire()
}

func (p *process) askStorage(r *storage.Request) (*storage.Answer, error) {
	s := &p.storage
	if s.conn == nil {
		conn, err := p.task.Dial(p.world.storage, s, 0)
		if err != nil {
			return nil, fmt.Errorf("storage: %w: %w", locks.ErrNotDone, err)
		}
		s.conn = conn
	}
	s.answer, s.settled = nil, sim.Signal{}
	if err := s.conn.Send(p.task, r); err != nil {
		return nil, fmt.Errorf("storage: %w: %w", locks.ErrNotDone, err)
	}
	p.task.Wait(sim.Forever, &s.settled)
	if s.answer == nil {
		return nil, fmt.Errorf("storage: %w", locks.ErrUnknown)
	}
	return s.answer, nil
}
