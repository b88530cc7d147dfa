// Package program says what a client program is to those who run it in a process of the engine, whatever machine it is
// compiled for: package wasm has the only one. Who plays native locks only does not link a machine.
package program

import (
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// Program is a compiled client program. It may be used by several goroutines, and is comparable.
type Program interface {
	// Digest identifies the program's code.
	Digest() string
	// Instance makes an instance, which must be restored before it is run.
	Instance() (Instance, error)
}

// Images is the number of different states in which a program can begin. Go's runtime draws its random state once,
// before the program's initialisation; a single image of the result would always be the same.
const Images = 16

// Instance is one program with its memory.
type Instance interface {
	// Restore resets the instance to an initialised state in which it has not run yet. Which is the number of that
	// state, below [Images].
	Restore(which int) error
	// Run runs the client in a task until it ends. The error is an *[Exit] if the program ended itself, by a panic or
	// otherwise.
	Run(t *sim.Task, h Host, random *sim.Rand) error
	// Close frees the instance.
	Close()
}

// Connecting is an instance of a program that can open its connections before a run: a snapshot is taken in a preparation, and other
// runs begin with it.
type Connecting interface {
	Instance
	// Connect resets the instance to one of its states and runs it in a task of a preparation, until the program's library has opened its
	// connections. The error is an *[Exit] if the program ended itself.
	Connect(which int, t *sim.Task, h Host, random *sim.Rand) error
	// Keep keeps what the instance is after Connect for RestoreConnected. The error says why no run can begin with that.
	Keep(key string) error
	// RestoreConnected resets the instance to the snapshot with a key, of this or another instance of the program; false if there is
	// none (yet, or any more).
	RestoreConnected(key string) bool
	// Adopt gives the instance the connections that it has at its start, in a task that it is to run in.
	Adopt(t *sim.Task, h Host)
}

// Host provides the services to a program that an operating system does not have.
type Host interface {
	// Call carries out a request of the program. The whole program waits for it.
	Call(request []byte) (answer []byte)
	// Ask does the same in a task beside the program's, which continues meanwhile.
	Ask(t *sim.Task, request []byte) (answer []byte)
	// Resolve returns the node that has an address, and a conversation in its protocol; nil if no node has it.
	Resolve(address string) (*sim.Node, wire.Conversation)
	// Told lists the addresses besides those in the assignment that the servers may tell the program of, names with a port.
	Told() []string
	// Said is called with the program's writes to its standard output or error.
	Said(text []byte)
	// Interrupted reports whether the run is to end, for a program that may take long in real time between two steps of the engine.
	Interrupted() bool
	// Stamp sets the origin of a request that is about to be sent.
	Stamp(request sim.Payload)
}

// The functions that package guest exports: the first runs the client, the second opens its connections before.
const (
	RunExport     = "locksim_run"
	ConnectExport = "locksim_connect"
)

// MemoryLimit is how much memory a program may have, in bytes. A request for more fails, which ends a Go program.
const MemoryLimit = 128 << 20

// LoopBound is the name of the bound that ends the run of a program that loops forever.
const LoopBound = "loops"
