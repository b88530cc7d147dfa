package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// resourceNode is the name of the resource in scenarios.
const resourceNode = "storage"

// stage is one run on real servers: what the world is to a simulation.
type stage struct {
	plan     *harness.Plan
	scenario *scenarios.Scenario // of the plan: its times are those of this machine's clock
	program  []string
	patience time.Duration // how late something may be before the run tells less than it should
	host     *real.Host
	alive    sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc

	// mu is held while anything of what follows is used, and while a step is taken with all that hangs on it: so steps
	// follow one another as those of a simulation do.
	mu       sync.Mutex
	zero     time.Duration // the start of the run, on the clock that all processes share
	nodes    map[string]*node
	actors   []*actor
	servers  servers
	routes   []*route
	resource *storage.Storage
	injector *sim.Injector
	journal  journal
	events   []trace.Event
	messages uint64        // how many have been numbered
	stirred  trace.Instant // when something happened last
	pending  int           // timers that have not run down
	inFlight int           // messages to the resource
	problem  error
	tardy    []tardiness
	wake     chan struct{} // has room for one: something has changed
}

// servers is a deployment of the lock's servers.
type servers interface {
	// start starts them and returns when they serve.
	start(s *stage) error
	// version says what they are, with their version.
	version() string
	// connect makes an actor's links to them, and tells its part of them.
	connect(a *actor) error
	// role finds the server that plays a role; "" if none does.
	role(name string) string
	// command carries out what only this kind of servers understands.
	command(node string, a *sim.Action) (did bool, err error)
	// crashed sees to what a server's disk keeps.
	crashed(node string, a *sim.Action) error
	// setClock makes a server's clock wrong.
	setClock(node string, step time.Duration, rate int64) (did bool, heal func() error, err error)
}

// ended says that a client process has ended by itself, which none should.
type ended struct{ name, log string }

func (e *ended) Error() string {
	return fmt.Sprintf("the process of client %s has ended: %s", e.name, e.log)
}

// newStage sets the stage: it starts servers and clients, and returns when all are ready.
func newStage(ctx context.Context, p *harness.Plan, program []string, patience time.Duration) (s *stage, err error) {
	host, err := real.NewHost()
	if err != nil {
		return nil, err
	}
	s = &stage{
		plan: p, scenario: p.Case.Scenario, program: program, patience: patience, host: host,
		nodes: map[string]*node{}, wake: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	context.AfterFunc(s.ctx, func() { _ = host.Close() }) // also what is being started
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	s.journal = newJournal(s.Now, p.Tokens())
	s.journal.HasPrograms = p.Programs()
	s.resource = storage.New(p.Case.Fencing, s.scenario.Resource.Registers, s.journal.Decided)
	s.servers = stagingOf(s.scenario).servers(s)
	s.injector = sim.NewInjector(s)
	for _, f := range p.Faults() {
		s.injector.Arm(f)
	}
	if err := s.servers.start(s); err != nil {
		return s, err
	}
	for _, c := range p.Clients() {
		if err := s.add(c); err != nil {
			return s, err
		}
	}
	return s, s.await(func() bool {
		for _, a := range s.actors {
			if a.ready == 0 {
				return false
			}
		}
		return true
	})
}

// add starts a client's process.
func (s *stage) add(c harness.Client) error {
	a := &actor{node: &node{name: c.Name}, plan: c}
	a.part = part{
		Name: c.Name, Algorithm: c.Lock, Options: c.Options, Work: c.Work, Patience: s.patience,
		Clock: s.clockOf(c.Name),
	}
	if of, is := c.Program.(*command.Program); is {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		a.part.Command, a.dir = of.Started(), dir
	}
	if c.Random != c.Name || s.isTwin(c.Name) {
		a.part.Random = c.Random
	}
	a.route = &route{client: c.Name, server: resourceNode, hold: a.holdResource}
	a.restart = func() error { return s.launch(a) }
	s.routes = append(s.routes, a.route)
	s.nodes[c.Name] = a.node
	s.actors = append(s.actors, a)
	if err := s.servers.connect(a); err != nil {
		return err
	}
	return s.launch(a)
}

func (a *actor) holdResource(requests, replies bool) (release func()) {
	var list []func()
	for i, hold := range [...]bool{requests, replies} {
		if hold {
			list = append(list, a.gates[i].Hold())
		}
	}
	return func() {
		for _, release := range list {
			release()
		}
	}
}

// play has everybody begin, and returns when the run is over.
func (s *stage) play() error {
	s.mu.Lock()
	zero, err := real.Now()
	if err != nil {
		s.mu.Unlock()
		return err
	}
	s.zero = zero
	s.injector.Begin()
	for _, a := range s.actors {
		begin := func() { s.answer(a, a.child, order{Number: a.ready}) }
		if a.plan.Start > 0 {
			s.After(a.plan.Start, begin)
		} else {
			begin()
		}
	}
	s.mu.Unlock()
	look := time.NewTicker(s.quiet() / 10)
	defer look.Stop()
	s.alive.Go(func() {
		for s.ctx.Err() == nil {
			select {
			case <-look.C:
				s.changed()
			case <-s.ctx.Done():
			}
		}
	})
	return s.await(func() bool { return s.Now() >= trace.Instant(s.scenario.End()) || s.over() })
}

// quiet is longer than anybody in the scenario waits without taking a step: who has taken none for so long never will.
func (s *stage) quiet() time.Duration {
	longest := max(s.scenario.Lock.TTL, s.scenario.Progress, time.Second)
	for i := range s.scenario.Clients {
		c := &s.scenario.Clients[i]
		longest = max(longest, c.Work, c.Think, c.Again, c.Unlock, c.Passes, c.Retry.Delay+c.Retry.Jitter, s.scenario.Lock.Renew)
	}
	return longest + longest/4
}

// over reports whether nothing more is to come: all clients are done, dead or stopped for good, or have waited in vain for
// longer than they may.
func (s *stage) over() bool {
	if s.inFlight > 0 {
		return false
	}
	if s.pending == 0 && s.Now().Sub(s.stirred) > s.quiet() {
		return true
	}
	return len(s.working()) == 0
}

// working lists the clients that have not done all that they were to do, and may go on.
func (s *stage) working() []string {
	var list []string
	for _, a := range s.actors {
		if !a.gone && (!a.down || a.returns) && !(a.pauses > 0 && s.pending == 0) {
			list = append(list, a.name)
		}
	}
	return list
}

// await waits until something is so; the error is what went wrong before.
func (s *stage) await(ready func() bool) error {
	for {
		s.mu.Lock()
		problem, is := s.problem, ready()
		s.mu.Unlock()
		switch {
		case problem != nil:
			return problem
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case is:
			return nil
		}
		select {
		case <-s.wake:
		case <-s.ctx.Done():
		}
	}
}

// changed has await look again.
func (s *stage) changed() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stage) fail(err error) {
	if s.problem == nil {
		s.problem = err
	}
	s.changed()
}

// close ends all that was started.
func (s *stage) close() error {
	s.cancel()
	err := s.host.Close()
	s.alive.Wait()
	return err
}

// Now is the time since the run began.
func (s *stage) Now() trace.Instant {
	now, err := real.Now()
	if err != nil {
		panic("replay: the clock could be read before: " + err.Error())
	}
	return s.instant(now)
}

func (s *stage) instant(at time.Duration) trace.Instant { return trace.Instant(max(at-s.zero, 0)) }

// After has something done later, with the lock.
func (s *stage) After(d time.Duration, f func()) {
	s.pending++
	due := s.Now().Add(d)
	s.alive.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ctx.Err() != nil {
			return
		}
		if by := s.Now().Sub(due); by > s.patience {
			s.tardy = append(s.tardy, tardiness{"the stage", by})
		}
		f()
		s.pending--
		s.stirred = s.Now()
		s.changed()
	})
}

// tardiness is something that came later than it should have.
type tardiness struct {
	who string
	by  time.Duration
}

// overslept notes that a client woke late, unless it was paused.
func (s *stage) overslept(a *actor, r *report) {
	from, at := s.instant(r.From), s.instant(r.At)
	for _, f := range s.injector.Reports() {
		if f.Fault.Action.Kind == sim.Pause && f.Node == a.name && f.Begin <= at && f.End >= from {
			return
		}
	}
	s.tardy = append(s.tardy, tardiness{"client " + a.name, at.Sub(from)})
}

// served notes that a server took its time for an answer, unless a fault is the cause.
func (s *stage) served(server string, since trace.Instant) {
	by := s.Now().Sub(since)
	if by <= s.patience {
		return
	}
	for _, f := range s.injector.Reports() {
		if f.Begin <= s.Now() && f.End >= since {
			return
		}
	}
	s.tardy = append(s.tardy, tardiness{server, by})
}

func (s *stage) actor(name string) *actor {
	for _, a := range s.actors {
		if a.name == name {
			return a
		}
	}
	return nil
}

// RoleOf finds the node that plays a role; "" if none does.
func (s *stage) RoleOf(name string) string {
	if name == "holder" {
		return history.Holder(s.journal.Acquisitions)
	}
	return s.servers.role(name)
}

// history joins what was observed.
func (s *stage) history() *history.History {
	s.mu.Lock()
	defer s.mu.Unlock()
	ending := sim.Ending{At: s.Now(), Quiescent: s.over(), Working: s.working()}
	h := s.plan.Conclude(s.journal.Recorder, s.injector.Reports(), ending, true)
	s.noteOutput(h)
	return h
}

// clientEnv is what the environment of a client process has in addition.
func clientEnv() []string { return []string{clientVariable + "=1"} }

// clientVariable marks the processes that are to call Client, for programs that have no subcommand for that.
const clientVariable = "LOCKSIM_REPLAY_CLIENT"

// IsClient reports whether this process was started as a client's.
func IsClient() bool { return os.Getenv(clientVariable) != "" }

// latest is the worst that was late.
func (s *stage) latest() (worst tardiness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tardy {
		if t.by > worst.by {
			worst = t
		}
	}
	return worst
}

// lateness tells the worst that was late; "" if nothing was.
func (s *stage) lateness() string {
	worst := s.latest()
	if worst.by == 0 {
		return ""
	}
	return fmt.Sprintf("%s was late by %v", worst.who, worst.by.Round(time.Microsecond))
}
