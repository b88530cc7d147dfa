// Package simulated is what the simulated servers of a backend need of a run, and what they offer to it. Each backend has
// its own in a folder servers.
package simulated

import (
	"fmt"

	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// World is a run, as the servers of its lock see it.
type World interface {
	Engine() *sim.Engine
	Scenario() *scenarios.Scenario
	Lock() *locks.Algorithm
	Keys() []string    // those of the lock on its servers; of several locks, of the first
	Locks() []Keys     // the locks; one without a name if the scenario names none
	Clients() []string // the names of the client processes
	// Recorder is told what the servers grant, and what they decide on accesses to data that they guard.
	Recorder() *record.Recorder
	// Spare returns where servers of this kind keep what the next run can use again.
	Spare() *any
	// Woken counts a message that tells a client of something that it has not just asked for.
	Woken()
}

// Keys are those of a lock on its servers.
type Keys struct {
	Lock string
	Keys []string
}

// Process is a task of a client process, as the client libraries of its servers see it.
type Process interface {
	locks.Process
	World() World
	Task() *sim.Task
	Client() string // its name
	Home() []string // the servers that it is to connect to, in this order; nil: all
	Life() string   // tells the process from itself before a restart
	// Origin says where a request of the task comes from, and numbers it.
	Origin() sim.Origin
	// Turn numbers a request that waits for a connection before it is sent: what is called after it, on a connection that is there,
	// comes after it, though it is sent before.
	Turn() uint64
	// Own returns where the client library keeps what the tasks of the process share.
	Own() *any
	// Serve starts a loop that serves the process rather than one of its acquisitions.
	Serve(loop func(Process))
}

// Service is a deployment of the lock's servers in one run.
type Service interface {
	// Servers returns the nodes that serve the lock, in the order of their numbers.
	Servers() []*sim.Node
	// Clients makes a task's clients of the servers. State that the tasks of a process share is in Process.Own.
	Clients(Process) locks.Services
	// Role finds the node that plays a role of servers; "" if none does.
	Role(name string) string
	// Command carries out an action that only this kind of servers understands.
	Command(*sim.Node, *sim.Action) bool
	// ErrorReply answers a request with an error.
	ErrorReply(request sim.Payload, text string) sim.Payload
}

// Front is a service that programs can talk to in bytes.
type Front interface {
	Service
	// Entrance says which addresses a program that brings a lock is given. They may lead elsewhere later.
	Entrance(*locks.Algorithm) Entrance
	// Told is the addresses that servers tell of themselves and of each other, names with a port, and the nodes there.
	Told() Entrance
	// Talk begins a conversation with a client process on a new connection.
	Talk(client *sim.Node) wire.Conversation
	// Stamp sets the origin and the purpose of a request that came in bytes.
	Stamp(request sim.Payload, from sim.Origin)
}

// Connecting is a front whose clients may have opened their connections before a run.
type Connecting interface {
	Front
	// Connects reports whether all that a request changes is the server's state of its connection, which is made again by executing it.
	Connects(request sim.Payload) bool
}

// Entrance is where a program finds servers.
type Entrance struct {
	Addresses []string
	Nodes     []*sim.Node // to which they lead
	Sentinel  string      // what the master is called by the Sentinels that these are; "" if they are none
	Cluster   bool        // they are the nodes of a Redis Cluster
}

// Numbered is an entrance with an address for each node, by the last number: 10.0.0.1 is the first.
func Numbered(nodes []*sim.Node, port int) Entrance {
	e := Entrance{Nodes: nodes, Addresses: make([]string, len(nodes))}
	for i := range nodes {
		e.Addresses[i] = fmt.Sprintf("10.0.0.%d:%d", i+1, port)
	}
	return e
}
