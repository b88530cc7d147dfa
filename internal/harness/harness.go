// Package harness plays one case of a scenario: it builds the world of servers, clients and resource, drives the
// workload, observes what the lock service grants, joins the observations to a history and has it judged.
//
// Call [Compile] once for a case and [Runner.Run] for every seed. This is the only place where locks meet servers.
package harness

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/wasm"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Plan is a case that has been checked and is ready to be run with any seed.
type Plan struct {
	Case      scenarios.Case
	Algorithm locks.Algorithm

	faults  []sim.Fault // the scenario's, each with a name
	texts   []string    // what each of them does, for a reader
	clients []clientPlan
	keys    []string // of the lock, or the several that it takes: the maker of the first holds it
}

// Result is the result of one run. The caller may keep its history and events.
type Result struct {
	Seed     uint64
	Digest   uint64
	Steps    int
	Messages int
	Virtual  trace.Instant
	History  *history.History
	Events   []trace.Event  // nil unless kept
	Intents  []trace.Intent // likewise
	Looks    []trace.Look   // likewise
	Report   checker.Report
}

// Options says which lock a case is played with. The zero Options is for locks of the catalogue.
type Options struct {
	Locks locks.Set // those that scenarios can name
	// Instead is played in place of the lock that the scenario names; nil: that lock. What the scenario says of its own
	// lock's tokens and replicas is then not checked.
	Instead *locks.Algorithm
	_       struct{}
}

// Lock returns the lock that a scenario is played with; false if it names none of the set.
func (o *Options) Lock(s *scenarios.Scenario) (locks.Algorithm, bool) {
	if o.Instead != nil {
		return *o.Instead, true
	}
	return o.Locks.Find(s.Lock.Algorithm)
}

// Compile checks a case and prepares it. The error is a *scenarios.Error with the position of the mistake in the scenario.
func Compile(c scenarios.Case, o Options) (*Plan, error) {
	s := c.Scenario
	algorithm, ok := o.Lock(s)
	if !ok {
		return nil, UnknownLock(s, o.Locks)
	}
	p := &Plan{Case: c, Algorithm: algorithm}
	if err := p.check(o.Instead != nil); err != nil {
		return nil, err
	}
	for i, f := range s.Faults {
		f.Name = f.NameAt(i)
		p.faults = append(p.faults, f)
		p.texts = append(p.texts, f.Action.String())
	}
	p.keys = keysOf(&p.Algorithm, locks.Options{Key: s.Lock.Key, TTL: s.Lock.TTL})
	p.addClients()
	return p, nil
}

// keysOf lists the keys of a lock on its servers.
func keysOf(a *locks.Algorithm, o locks.Options) []string {
	switch {
	case a.Keys != nil:
		return a.Keys(o)
	case a.Key != nil:
		return []string{a.Key(o)}
	default:
		return []string{o.Key}
	}
}

// check says why the lock cannot be played in the scenario. Of a lock that is played instead of the scenario's own, tokens and
// replicas are not asked.
func (p *Plan) check(instead bool) error {
	s, a := p.Case.Scenario, &p.Algorithm
	if a.New == nil && a.Program == nil {
		return s.Errorf("lock.algorithm", "the lock %q has no builder and no program", a.Name)
	}
	if needs := a.Backend(); needs != s.Servers.Kind {
		return s.Errorf("lock.algorithm", "the lock %s lives on servers of the kind %s, not %s: want servers: {kind: %s}",
			a.Name, needs, s.Servers.Kind, needs)
	}
	if a.Check != nil {
		if err := a.Check(locks.Options{Key: s.Lock.Key}); err != nil {
			return s.Errorf("lock.key", "%v", err)
		}
	}
	if s.Resource.Guarded && !a.Guard {
		return s.Errorf("resource.in", "the lock %s cannot guard data on its own servers", a.Name)
	}
	if !instead {
		if err := p.refuseTokenless(); err != nil {
			return err
		}
		field, problem := s.Servers.Backend().Refuses((*backend.Servers)(&s.Servers), a.Authority, a.Name, s.Lock.Acks)
		if field != "" {
			return s.Errorf(field, "%s", problem)
		}
	}
	if a.Program != nil {
		if err := p.refusePrograms(); err != nil {
			return err
		}
	}
	if f := s.Servers.Facts(); f.MaxTTL > 0 && (s.Lock.TTL < f.MinTTL || s.Lock.TTL > f.MaxTTL) {
		return s.Errorf("lock.ttl", "%s refuses sessions with a TTL of %v: want %v to %v", f.Title, s.Lock.TTL, f.MinTTL, f.MaxTTL)
	}
	return nil
}

// refuseTokenless refuses a scenario that expects something of tokens which its lock does not hand out.
func (p *Plan) refuseTokenless() error {
	s := p.Case.Scenario
	if p.Algorithm.Token {
		return nil
	}
	for _, e := range s.Expect {
		judged := !e.Any && (e.Verdict == checker.Held || e.Verdict == checker.Violated)
		switch {
		case !judged:
		case e.Property == checker.FencingOrder:
			return s.Errorf("expect.fencing-order", "the lock %s hands out no fencing token", p.Algorithm.Name)
		case e.Property == checker.Resource && e.Fencing != nil && e.Fencing.NeedsToken():
			return s.Errorf("expect.resource."+e.Fencing.String(),
				"the lock %s hands out no fencing token to compare; want not-judged, or a mode that needs none", p.Algorithm.Name)
		}
	}
	return nil
}

// UnknownLock returns the error for a scenario's unknown name of a lock.
func UnknownLock(s *scenarios.Scenario, known locks.Set) *scenarios.Error {
	name := s.Lock.Algorithm
	return s.Errorf("lock.algorithm", "there is no lock named %q%s", name, nearestLock(name, known))
}

func nearestLock(name string, known locks.Set) string {
	var names []string
	for _, a := range known.All() {
		names = append(names, a.Name)
	}
	if near := scenarios.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; the locks are " + strings.Join(names, ", ")
}

func (p *Plan) addClients() {
	s := p.Case.Scenario
	twins := make(map[string]string)
	for _, f := range s.Faults {
		if f.Action.Kind == sim.SameRandom {
			for _, name := range f.Action.Nodes {
				twins[name] = f.Action.Nodes[0]
			}
		}
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		for _, name := range c.Names() {
			random := name
			if twin := twins[name]; twin != "" {
				random = twin
			}
			options := p.lockOptions(c)
			plan := clientPlan{Client: Client{
				Name: name, Random: random, Servers: c.Servers, Options: options, Start: c.Start, Work: p.workOf(c),
			}}
			if p.Algorithm.New != nil {
				plan.build = p.Algorithm.New(options)
			}
			p.clients = append(p.clients, plan)
		}
	}
}

func (p *Plan) lockOptions(c *scenarios.Client) locks.Options {
	l := &p.Case.Scenario.Lock
	return locks.Options{
		Key: l.Key, TTL: l.TTL, Renew: l.Renew, Timeout: l.Timeout,
		Retry: locks.Retry{Delay: c.Retry.Delay, Jitter: c.Retry.Jitter, Tries: c.Retry.Tries},
		Acks:  l.Acks, Library: l.Library, LockDelay: l.LockDelay,
	}
}

func (p *Plan) workOf(c *scenarios.Client) workload.Plan {
	w := workload.Plan{
		Style: p.Case.Style, Fencing: p.Case.Fencing, Tasks: c.Tasks, Sections: c.Sections, Enters: c.Enters, Wait: c.Wait,
		Again: c.Again, Unlock: c.Unlock, Think: c.Think, Read: c.Read, Write: c.Work, Work: c.Work, Hangs: c.Hangs,
		Stays:     c.Stays,
		Registers: p.Case.Scenario.Resource.Registers, Guarded: p.Case.Scenario.Resource.Guarded,
	}
	if c.Style != nil {
		w.Style = *c.Style
	}
	switch {
	case c.Write != nil:
		w.Write = *c.Write
	case c.Hangs: // the end at which it would write never comes
		w.Write = locks.Forever
	}
	return w
}

// Runner runs plans one after another and reuses costly resources. Each goroutine needs its own Runner. The zero
// value is ready.
type Runner struct {
	// Stop is called now and then during a long run. If it returns true, Run ends and returns [ErrInterrupted]; the
	// result of a run does not depend on it otherwise. It may be nil.
	Stop func() bool

	spare    sim.Spare
	spares   map[string]*any // of simulated servers, by their kind
	programs wasm.Pool
	checker  checker.Checker
	last     record.Room
	cut      bool
}

// Stopped reports whether Stop wants runs to end, for work that consists of many short runs. The work then
// counts as cut, too.
func (r *Runner) Stopped() bool {
	stopped := r.Stop != nil && r.Stop()
	r.cut = r.cut || stopped
	return stopped
}

// Cut is TakeCut without the reset.
func (r *Runner) Cut() bool { return r.cut }

// TakeCut reports whether work has been cut since its last call: a run was interrupted, or Stopped was true. The
// results of that work must be discarded.
func (r *Runner) TakeCut() bool {
	cut := r.cut
	r.cut = false
	return cut
}

// Run plays the plan with a seed. With keep, the trace's events are kept. The error says that a native lock's code
// panicked or did not end after a crash, or that programs cannot set up their locks (see [Unborn]); every other outcome
// is a verdict. A native lock's panic is not a verdict, since the code of harness and engine is on its stack, too. If
// Stop has ended the run, the error is [ErrInterrupted].
func (r *Runner) Run(p *Plan, seed uint64, keep bool) (Result, error) {
	w := newWorld(r, p, seed, keep)
	ending := w.engine.Run()
	if w.interrupted {
		r.cut = true
		return Result{}, ErrInterrupted
	}
	if ending.Panic != nil {
		return Result{}, fmt.Errorf("%s, seed %#x: %w", p.Case.Scenario.Name, seed, ending.Panic)
	}
	if len(ending.Zombies) > 0 {
		return Result{}, fmt.Errorf("%s, seed %#x: the code of client %s does not end when its process does: it recovers from everything",
			p.Case.Scenario.Name, seed, strings.Join(ending.Zombies, ", "))
	}
	if u := w.unborn(); u != nil {
		return Result{}, fmt.Errorf("%s: %w", p.Algorithm.Name, u)
	}
	h := w.history(ending)
	r.last = record.RoomFor(h)
	return Result{
		Seed: seed, Digest: w.engine.Trace.Digest(), Steps: w.engine.Steps(), Messages: w.engine.Messages(),
		Virtual: ending.At, History: h, Events: w.engine.Trace.Events(),
		Intents: w.engine.Trace.Intents(), Looks: w.engine.Trace.Looks(),
		Report: r.checker.Check(h, p.judging(seed)),
	}, nil
}

// sampled is the share of runs, one in this many, that porcupine judges even if they are long and look right.
const sampled = 100

// Close frees the runner's resources.
func (r *Runner) Close() {
	r.spare.Close()
	r.programs.Close()
}

// spareOf returns where servers of a kind keep what the next run can use again.
func (r *Runner) spareOf(kind string) *any {
	if r.spares == nil {
		r.spares = make(map[string]*any)
	}
	if r.spares[kind] == nil {
		r.spares[kind] = new(any)
	}
	return r.spares[kind]
}
