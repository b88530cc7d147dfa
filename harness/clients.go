package harness

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/workload"
)

// Client is what one client process of a plan does, for whoever runs it elsewhere than in a simulation.
type Client struct {
	Name    string
	Random  string   // whose randomness it has: its own, unless it is a forked twin
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

// Purpose is what the plan's lock wants with a command of Redis: the second name by which faults know it.
func (p *Plan) Purpose(args []string) string { return (&world{plan: p}).purpose(args) }

// Key is the key whose maker holds the lock.
func (p *Plan) Key() string { return p.key }
