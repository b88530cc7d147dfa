// Package wire stands between the bytes of a connection and a simulated server's requests and answers, for clients that speak
// the server's own protocol: those of [serve] on real sockets, and programs that run inside a simulation.
//
// A [Conversation] is the state of one connection. It knows nothing of sockets, of time, or of who carries the bytes.
package wire

import "github.com/locksim/locksim/sim"

// Conversation is one connection, as the server's end of the wire sees it.
type Conversation interface {
	// Receive takes bytes of the client's and sends on each whole request in them; what is not whole yet waits for more. It is
	// false if nothing that the client sends will be taken any more: the connection is to end when what was sent before has
	// been answered, and after the farewell. An error of send ends it too.
	Receive(bytes []byte, send func(sim.Payload) error) bool
	// Append writes what the server has sent as the client reads it.
	Append(dst []byte, p sim.Payload) []byte
	// Farewell is what the client reads last when Receive was false; often nothing.
	Farewell() []byte
}
