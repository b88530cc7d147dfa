package harness

import (
	"time"

	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// Client describes one client process of a plan.
type Client struct {
	Name    string
	Random  string   // the client whose random stream it uses: its own, unless it is a forked twin
	Servers []string // of an ensemble, to which it connects in this order; all if empty
	Lock    string   // the name of its algorithm
	Program any      // that has the lock; nil: the algorithm has a builder
	Options locks.Options
	Start   time.Duration
	Work    workload.Plan
}

// takenLock is one of several locks that a client takes.
type takenLock struct {
	name    string
	options locks.Options
	build   locks.Builder
}

// clientPlan is one client process, for running it in a simulation.
type clientPlan struct {
	Client
	algorithm *locks.Algorithm
	build     locks.Builder // nil if a program is run
	takes     []takenLock   // of several locks, in the order in which it takes them; nil if there is one
	keeps     bool          // it keeps what it holds by itself
	connected bool          // it begins with open connections
	shares    bool          // a fault has it draw the same random numbers as another client
}

// builders are those of the locks that the client takes.
func (c *clientPlan) builders() []locks.Builder {
	if c.takes == nil {
		return []locks.Builder{c.build}
	}
	list := make([]locks.Builder, len(c.takes))
	for i := range c.takes {
		list[i] = c.takes[i].build
	}
	return list
}

// options are those of the lock of that name.
func (c *clientPlan) options(lock string) *locks.Options {
	for i := range c.takes {
		if c.takes[i].name == lock {
			return &c.takes[i].options
		}
	}
	return &c.Options
}

// register numbers a register of the resource that a lock guards among those of all resources.
func (p *Plan) register(lock string, register int) int {
	s := p.Case.Scenario
	places, _ := s.Guarded()
	for i := range s.Named {
		if s.Named[i].Name == lock {
			return register + places[i]*s.Resource.Registers
		}
	}
	return register
}

// registers is how many there are.
func (p *Plan) registers() int {
	_, resources := p.Case.Scenario.Guarded()
	return resources * p.Case.Scenario.Resource.Registers
}

// Clients lists the plan's client processes.
func (p *Plan) Clients() []Client {
	list := make([]Client, len(p.clients))
	for i := range p.clients {
		list[i] = p.clients[i].Client
	}
	return list
}

// Faults lists the faults of the plan, each with a name.
func (p *Plan) Faults() []sim.Fault { return p.faults }

// Tokens reports whether all locks of the plan hand out fencing tokens.
func (p *Plan) Tokens() bool { return p.tokenless == "" }

// Programs reports whether some clients of the plan are programs.
func (p *Plan) Programs() bool { return p.programs }

// Key returns the key whose creator holds the lock, or the first of several.
func (p *Plan) Key() string { return p.locks[0].Keys[0] }

// Several reports whether the scenario names its locks.
func (p *Plan) Several() bool { return len(p.Case.Scenario.Named) > 0 }
