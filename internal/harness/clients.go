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
	Options locks.Options
	Start   time.Duration
	Work    workload.Plan
}

// clientPlan is one client process, for running it in a simulation.
type clientPlan struct {
	Client
	algorithm *locks.Algorithm
	build     locks.Builder // nil if a program is run
	keeps     bool          // it keeps what it holds by itself
	shares    bool          // a fault has it draw the same random numbers as another client
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

// Key returns the key whose creator holds the lock.
func (p *Plan) Key() string { return p.keys[0] }
