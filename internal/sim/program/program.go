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

// RunExport is the function that package guest exports, which runs the client.
const RunExport = "locksim_run"

// MemoryLimit is how much memory a program may have, in bytes. A request for more fails, which ends a Go program.
const MemoryLimit = 128 << 20

// LoopBound is the name of the bound that ends the run of a program that loops forever.
const LoopBound = "loops"
