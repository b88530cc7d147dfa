package harness

import (
	"time"

	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// Client describes one client process of a plan, for running it outside a simulation.
type Client struct {
	Name    string
	Random  string   // the client whose random stream it uses: its own, unless it is a forked twin
	Servers []string // of an ensemble, to which it connects in this order; all if empty
	Options locks.Options
	Start   time.Duration
	Work    workload.Plan
}

// Clients lists the plan's client processes.
func (p *Plan) Clients() []Client {
	list := make([]Client, len(p.clients))
	for i := range p.clients {
		c := &p.clients[i]
		list[i] = Client{
			Name: c.name, Random: c.random, Servers: c.servers, Options: c.options, Start: c.start, Work: c.work,
		}
	}
	return list
}

// Faults lists the faults of the plan, each with a name.
func (p *Plan) Faults() []sim.Fault { return p.faults }

// Key returns the key whose creator holds the lock.
func (p *Plan) Key() string { return p.key }
