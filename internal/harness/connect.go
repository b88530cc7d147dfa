package harness

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// A client that is connected begins with the snapshot of a preparation, in which its program opened its connections to servers that
// nothing happens to. The snapshot is a function of the program and of what snapshotKey names; it does not matter which run made it.

// connectedImages is how many of the states of a program are connected. Fewer than there are, since each deployment has its own.
const connectedImages = 4

// connectWithin is how long a preparation may take, in virtual time.
const connectWithin = time.Minute

// ErrUnconnected is the reason for which a run cannot begin: the program of a connected client does not open its connections, or in a
// way that cannot be repeated.
var ErrUnconnected = errors.New("cannot begin with connections")

// beginsConnected reports whether the process begins with connections: a process that has been restarted does not.
func (p *process) beginsConnected() bool { return p.client.connected && p.task.Node().Life() == 0 }

// state is the number of the state in which a connected client's program begins.
func (c *clientPlan) state(seed uint64) int {
	return int(sim.NewRand(seed, "image", c.Random).Int64N(connectedImages))
}

// snapshotKey names all that a snapshot depends on, besides the program: what the program is told, and what can answer it otherwise.
func (p *Plan) snapshotKey(c *clientPlan, state int) string {
	d := &p.Case.Scenario.Servers
	return fmt.Sprintf("%d %v %q %s %d %d %q %v", state, c.Options.Timeout, c.Servers, d.Kind, d.Masters, d.Replicas, d.Version, c.algorithm.Authority)
}

// connect prepares what the connected clients of a plan need for a run that is not there. The error says why a program cannot begin
// with connections.
func (r *Runner) connect(p *Plan, seed uint64) error {
	for i := range p.clients {
		c := &p.clients[i]
		if !c.connected {
			continue
		}
		of, state := c.algorithm.Program.(program.Program), c.state(seed)
		instance, err := r.programs.Take(of)
		if err != nil {
			return err
		}
		connecting, can := instance.(program.Connecting)
		switch {
		case !can:
			err = errors.New("it is no program compiled from Go")
		case !connecting.RestoreConnected(p.snapshotKey(c, state)):
			err = p.prepare(c, connecting, state)
		}
		r.programs.Give(of, instance)
		if err != nil {
			return fmt.Errorf("%s: the client %s %w: %w", c.Lock, c.Name, ErrUnconnected, err)
		}
	}
	return nil
}

// prepare plays the connecting of a client on servers like the plan's, with nothing else.
func (p *Plan) prepare(c *clientPlan, instance program.Connecting, state int) error {
	s, d := p.Case.Scenario, &p.Case.Scenario.Servers
	alone := *p
	alone.clients, alone.faults, alone.texts = nil, nil, nil
	alone.Case.Scenario = &scenarios.Scenario{
		Name: s.Name, Lock: scenarios.Lock{Algorithm: s.Lock.Algorithm, Key: s.Lock.Key},
		Servers: scenarios.Servers{Kind: d.Kind, Masters: d.Masters, Replicas: d.Replicas, Version: d.Version, Disk: "honest"},
		Network: scenarios.Network{Latency: sim.Constant(time.Millisecond)}, Until: connectWithin, Bounds: s.Bounds,
	}
	var r Runner
	defer r.Close()
	w := newWorld(&r, &alone, sim.Config{Seed: uint64(state)})
	err := fmt.Errorf("its program has not opened its connections within %v, though nothing failed", connectWithin)
	w.engine.AddClient(c.Name, func(t *sim.Task) {
		g := newGuest(newProcess(w, c, t))
		g.connecting = true
		err = cmp.Or(instance.Connect(state, t, g, sim.NewRand(uint64(state), "program")), g.refused)
		if err == nil {
			err = instance.Keep(p.snapshotKey(c, state))
		}
	})
	if ending := w.engine.Run(); ending.Panic != nil {
		return ending.Panic
	}
	return err
}

// mayConnect refuses a request by which a preparation would change more than its own connection.
func (g *guest) mayConnect(request sim.Payload) {
	front, is := g.Front.(simulated.Connecting)
	if is && front.Connects(request) {
		return
	}
	what, _ := request.What()
	g.refuse(fmt.Errorf("its program sends %s while it connects, which changes more than its connection or cannot be repeated", what))
}

// refuse notes the first reason for which a preparation fails.
func (g *guest) refuse(why error) {
	if g.refused == nil {
		g.refused = why
	}
}

// refuseConnected refuses what cannot begin with connections.
func (p *Plan) refuseConnected(c *scenarios.Client, a *locks.Algorithm) error {
	s, at := p.Case.Scenario, "clients."+c.Name+".connected"
	switch {
	case !c.Connected:
	case !a.Connects:
		return s.Errorf(at, "the lock %s opens its connections when it first needs them; want a client program that declares connects, such as redsync", a.Name)
	case !s.Servers.Facts().Has(backend.Masters) || s.Servers.Sentinels > 0 || s.Servers.Cluster:
		return s.Errorf(at, "where Sentinels watch the servers, or in a cluster, clients begin without connections")
	}
	return nil
}
