// Package wire translates between the bytes of a connection and a simulated server's requests and answers, for clients
// that speak the server's own protocol: those of [serve] on real sockets, and programs that run inside a simulation.
//
// A [Conversation] is the state of one connection. It is independent of sockets, of time, and of the transport of the
// bytes.
package wire

import "github.com/locksim/locksim/sim"

// Conversation is the state of one connection at the server's end.
type Conversation interface {
	// Receive takes bytes from the client and sends on each complete request in them; an incomplete one waits for more
	// bytes. It returns false if no further bytes will be accepted: the connection is to end when the earlier requests
	// have been answered, and after the farewell. An error of send ends it too.
	Receive(bytes []byte, send func(sim.Payload) error) bool
	// Append encodes a server's message for the client.
	Append(dst []byte, p sim.Payload) []byte
	// Farewell returns the last bytes to the client when Receive was false; often none.
	Farewell() []byte
}
