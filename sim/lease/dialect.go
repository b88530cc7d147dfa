package lease

import "time"

// Dialect is what sets one service apart from the others, as far as it is data.
type Dialect struct {
	Name string // of the service

	TTL            time.Duration // of a session whose client does not ask for one; 0: MinTTL
	MinTTL, MaxTTL time.Duration
	Strict         bool          // a TTL out of bounds is refused; else the nearest bound is given
	Unit           time.Duration // TTLs are whole multiples of it
	Lives          int64         // a session ends after so many TTLs without a sign of life
	Scan           time.Duration // how often the leader looks for sessions that are over; 0: each has a timer
	Ahead          int64         // a KeepAlive is answered when the Ahead-th part of the TTL is left

	Revision     int64         // of a store that has never been written to
	Deletes      bool          // keys end with their session; else they are released, unless it asked for their end
	LockDelay    time.Duration // how long a key that was lost with its session cannot be acquired
	MaxLockDelay time.Duration // what a client may ask for at most
	DelayOnEnd   bool          // also if the client has ended the session itself

	Election     time.Duration // until there is a new leader
	Extend       time.Duration // what a new leader gives every session beyond its whole life
	MovesClients bool          // clients speak to the leader itself, and lose their connections with it
}
