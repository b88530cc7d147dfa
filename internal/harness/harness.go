// Package harness plays one case of a scenario: it builds the world of servers, clients and resource, drives the
// workload, observes what the lock service grants, joins the observations to a history and has it judged.
//
// Call [Compile] once for a case and [Runner.Run] for every seed. This is the only place where locks meet servers.
package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Plan is a case that has been checked and is ready to be run with any seed.
type Plan struct {
	Case scenarios.Case
	// Algorithm is the scenario's lock. Clients with a lock of their own have one that holds by the same rule on the same keys;
	// its scripts are among these.
	Algorithm locks.Algorithm

	faults  []sim.Fault // the scenario's, each with a name
	texts   []string    // what each of them does, for a reader
	clients []clientPlan
	// The locks and the keys of each: the one that the lock has on its servers, or the several that it takes, of which the maker of the
	// first holds it. One lock has no name unless the scenario names it.
	locks []simulated.Keys

	programs bool // some clients are programs
	varies   bool // some of them may do something else in another run (see locks.Algorithm.Varies)
	keeps    bool // some lock keeps what it holds by itself
	// tokenless is a lock that hands out no fencing tokens; "" if all do.
	tokenless string
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

// Lock returns the lock that a scenario is played with, as it is on the scenario's servers; false if it names none of the set.
func (o *Options) Lock(s *scenarios.Scenario) (locks.Algorithm, bool) {
	if o.Instead != nil {
		return asOne(*o.Instead, s), true
	}
	return o.named(s.Lock.Algorithm, s)
}

// named returns the lock of a name, as it is on a scenario's servers; false if there is none.
func (o *Options) named(name string, s *scenarios.Scenario) (locks.Algorithm, bool) {
	found, ok := o.Locks.Find(name)
	if found.Sentinel || found.Cluster {
		found = asOne(found, s)
	}
	return found, ok
}

// asOne has a lock that asks a majority of servers ask the one that is left where all of them replicate each other: its
// application has one client of such a deployment, and the lock a majority of one.
func asOne(a locks.Algorithm, s *scenarios.Scenario) locks.Algorithm {
	if a.Authority == locks.Majority && s.Servers.Shape().Replicates {
		a.Authority = locks.OneNode
	}
	return a
}

// Compile checks a case and prepares it. The error is a *scenarios.Error with the position of the mistake in the scenario.
func Compile(c scenarios.Case, o Options) (*Plan, error) {
	s := c.Scenario
	algorithm, ok := o.Lock(s)
	if !ok {
		return nil, UnknownLock(s, o.Locks)
	}
	p := &Plan{Case: c, Algorithm: algorithm}
	if err := p.check(&algorithm, &s.Lock, "lock", o.Instead != nil); err != nil {
		return nil, err
	}
	p.locks = []simulated.Keys{{Keys: keysOf(&algorithm, s.Lock)}}
	if p.Several() {
		if err := p.nameLocks(); err != nil {
			return nil, err
		}
	}
	if err := p.addClients(&o); err != nil {
		return nil, err
	}
	if p.tokenless != "" && o.Instead == nil {
		if err := p.refuseTokenless(); err != nil {
			return nil, err
		}
	}
	for i, f := range s.Faults {
		f.Name = f.NameAt(i)
		p.faults = append(p.faults, f)
		p.texts = append(p.texts, f.Action.String())
	}
	return p, nil
}

// keysOf lists the keys of a lock on its servers.
func keysOf(a *locks.Algorithm, l scenarios.Lock) []string {
	o := locks.Options{Key: l.Key, TTL: l.TTL}
	switch {
	case a.Keys != nil:
		return a.Keys(o)
	case a.Key != nil:
		return []string{a.Key(o)}
	default:
		return []string{o.Key}
	}
}

// check says why a lock, which stands at a place of the scenario, cannot be played in it. Of a lock that is played instead of the
// scenario's own, replicas are not asked.
func (p *Plan) check(a *locks.Algorithm, l *scenarios.Lock, at string, instead bool) error {
	s := p.Case.Scenario
	if a.New == nil && a.Program == nil {
		return s.Errorf(at+".algorithm", "the lock %q has no builder and no program", a.Name)
	}
	if needs := a.Backend(); needs != s.Servers.Kind {
		return s.Errorf(at+".algorithm", wrongKind, a.Name, needs, s.Servers.Kind, needs)
	}
	if a.Check != nil {
		if err := a.Check(locks.Options{Key: l.Key}); err != nil {
			return s.Errorf("lock.key", "%v", err)
		}
	}
	if s.Resource.Guarded && !a.Guard {
		return s.Errorf("resource.in", "the lock %s cannot guard data on its own servers", a.Name)
	}
	if !instead {
		field, problem := s.Servers.Backend().Refuses((*backend.Servers)(&s.Servers), a.Authority, a.Name, l.Acks)
		if field != "" {
			return s.Errorf(field, "%s", problem)
		}
	}
	if a.Program != nil {
		if err := p.refusePrograms(a, l, at); err != nil {
			return err
		}
	}
	if f := s.Servers.Facts(); f.MaxTTL > 0 && (l.TTL < f.MinTTL || l.TTL > f.MaxTTL) {
		return s.Errorf(at+".ttl", "%s refuses sessions with a TTL of %v: want %v to %v", f.Title, l.TTL, f.MinTTL, f.MaxTTL)
	}
	return nil
}

// ownLock finds the lock of a client that has one of its own, and says why it cannot be played beside the scenario's. What is
// played in place of the scenario's lock is played in place of it, too.
func (p *Plan) ownLock(c *scenarios.Client, l *scenarios.Lock, o *Options) (*locks.Algorithm, error) {
	s, at := p.Case.Scenario, "clients."+c.Name+".lock"
	a := &p.Algorithm
	if c.Lock.Algorithm != "" && o.Instead == nil {
		found, ok := o.named(c.Lock.Algorithm, s)
		if !ok {
			return nil, s.Errorf(at+".algorithm", "there is no lock named %q%s", c.Lock.Algorithm, nearestLock(c.Lock.Algorithm, o.Locks))
		}
		a = &found
	}
	keys, others := keysOf(a, *l), keysOf(&p.Algorithm, s.Lock)
	if a.Backend() == s.Servers.Kind && (a.Authority != p.Algorithm.Authority || !slices.Equal(keys, others)) {
		return nil, s.Errorf(at+".algorithm", "%s and %s do not exclude each other: the one holds by %s, the other by %s",
			p.Algorithm.Name, a.Name, rule(&p.Algorithm, others), rule(a, keys))
	}
	return a, p.check(a, l, at, o.Instead != nil)
}

// rule says what makes a client the holder of a lock.
func rule(a *locks.Algorithm, keys []string) string {
	key := strconv.Quote(keys[0])
	switch a.Authority {
	case locks.OneNode:
		return "the key " + key + " on one server"
	case locks.Majority:
		return "the key " + key + " on most servers"
	case locks.Replicated:
		return "the key " + key + " on a master and its replicas"
	case locks.MostKeys:
		return "most of the keys " + strings.Join(keys, ", ")
	case locks.Queue:
		return "the first entry under " + key
	case locks.NoAuthority:
	}
	return "what it does not state"
}

// refuseTokenless refuses a scenario that expects something of tokens which one of its locks does not hand out.
func (p *Plan) refuseTokenless() error {
	s := p.Case.Scenario
	for _, e := range s.Expect {
		judged := !e.Any && (e.Verdict == checker.Held || e.Verdict == checker.Violated)
		switch {
		case !judged:
		case e.Property == checker.FencingOrder:
			return s.Errorf("expect.fencing-order", "the lock %s hands out no fencing token", p.tokenless)
		case e.Property == checker.Resource && e.Fencing != nil && e.Fencing.NeedsToken():
			return s.Errorf("expect.resource."+e.Fencing.String(),
				"the lock %s hands out no fencing token to compare; want not-judged, or a mode that needs none", p.tokenless)
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

func (p *Plan) addClients(o *Options) error {
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
		lock, algorithm := s.LockOf(c), &p.Algorithm
		if c.Lock != (scenarios.OwnLock{}) {
			own, err := p.ownLock(c, &lock, o)
			if err != nil {
				return err
			}
			algorithm = own
		}
		if p.Several() && algorithm.Program != nil {
			return s.Errorf("clients."+c.Name+".lock.algorithm", "%v", takesOne(algorithm))
		}
		if err := p.refuseConnected(c, algorithm); err != nil {
			return err
		}
		p.accommodate(algorithm)
		keeps := algorithm.Keeps || algorithm.Renews || algorithm.Extends && lock.Renew > 0 && c.Late == 0
		p.keeps = p.keeps || keeps
		for _, name := range c.Names() {
			random := name
			if twin := twins[name]; twin != "" {
				random = twin
			}
			options := lockOptions(&lock, c)
			plan := clientPlan{Client: Client{
				Name: name, Random: random, Servers: c.Servers, Lock: algorithm.Name, Program: algorithm.Program, Options: options, Start: c.Start, Work: p.workOf(c),
			}, algorithm: algorithm, keeps: keeps, connected: c.Connected, shares: twins[name] != ""}
			if algorithm.New != nil {
				plan.build = algorithm.New(options)
				plan.takes = takenBy(s, c, algorithm, options)
			}
			p.clients = append(p.clients, plan)
		}
	}
	return nil
}

// accommodate makes the plan one with a client that has this lock.
func (p *Plan) accommodate(a *locks.Algorithm) {
	p.programs, p.varies = p.programs || a.Program != nil, p.varies || a.Varies()
	if !a.Token && p.tokenless == "" {
		p.tokenless = a.Name
	}
	p.Algorithm.Version = cmp.Or(p.Algorithm.Version, a.Version)
	for _, script := range a.Scripts {
		if !slices.ContainsFunc(p.Algorithm.Scripts, func(known locks.Script) bool { return known == script }) {
			p.Algorithm.Scripts = append(slices.Clip(p.Algorithm.Scripts), script)
		}
	}
}

func lockOptions(l *scenarios.Lock, c *scenarios.Client) locks.Options {
	return locks.Options{
		Key: l.Key, TTL: l.TTL, Renew: l.Renew, Timeout: l.Timeout,
		Retry: locks.Retry{Delay: c.Retry.Delay, Jitter: c.Retry.Jitter, Tries: c.Retry.Tries},
		Acks:  l.Acks, Library: l.Library, LockDelay: l.LockDelay,
	}
}

func (p *Plan) workOf(c *scenarios.Client) workload.Plan {
	w := workload.Plan{
		Style: p.Case.Style, Fencing: p.Case.Fencing, Tasks: c.Tasks, Sections: c.Sections, Enters: c.Enters, Wait: c.Wait,
		Again: c.Again, Unlock: c.Unlock, Late: c.Late, Forgets: c.Forgets, Passes: c.Passes, Between: c.Between,
		Think: c.Think, Read: c.Read, Write: c.Work, Work: c.Work, Hangs: c.Hangs,
		Stays: c.Stays, Busy: c.Busy,
		Registers: p.Case.Scenario.Resource.Registers, Resources: resources(p.Case.Scenario, c), Guarded: p.Case.Scenario.Resource.Guarded,
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
	programs program.Pool
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
	return r.run(p, sim.Config{Seed: seed, Keep: keep})
}

// Future plays the plan with a seed up to a moment, and goes on with what another seed draws. The faults of the scenario stay as they
// are, and so does the randomness that a fault has clients share. The error is that of [Runner.Run]. What a program's own runtime draws
// is not drawn again.
func (r *Runner) Future(p *Plan, seed uint64, o sim.Redraw) (Result, error) {
	return r.run(p, sim.Config{Seed: seed, Redraw: &o})
}

func (r *Runner) run(p *Plan, c sim.Config) (Result, error) {
	seed := c.Seed
	if err := r.connect(p, seed); err != nil {
		return Result{}, err
	}
	w := newWorld(r, p, c)
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
	report := r.checker.Check(h, p.judging(seed))
	if p.varies {
		report = report.OfProgram()
	}
	return Result{
		Seed: seed, Digest: w.engine.Trace.Digest(), Steps: w.engine.Steps(), Messages: w.engine.Messages(),
		Virtual: ending.At, History: h, Events: w.engine.Trace.Events(),
		Intents: w.engine.Trace.Intents(), Looks: w.engine.Trace.Looks(),
		Report: report,
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
