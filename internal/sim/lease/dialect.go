package lease

import "time"

// Dialect is the data in which one service differs from the others.
type Dialect struct {
	Name string // of the service

	TTL            time.Duration // of a session whose client does not ask for one; 0: MinTTL
	MinTTL, MaxTTL time.Duration
	Strict         bool          // a TTL out of bounds is refused; else it is clamped
	Unit           time.Duration // TTLs are whole multiples of it
	Lives          int64         // a session ends after this many TTLs without a sign of life
	Scan           time.Duration // how often the leader looks for expired sessions; 0: each has a timer
	Ahead          int64         // a KeepAlive is answered when 1/Ahead of the TTL is left
	Wall           bool          // sessions are counted on the servers' wall clock
	Shared         bool          // every server counts them, so that a new leader knows how much of a TTL is over

	Revision     int64         // of an empty store
	Deletes      bool          // keys are deleted with their session; else they are released, unless it asked for deletion
	Keeps        bool          // what has happened to keys can be watched and read later
	LockDelay    time.Duration // how long a key that was lost with its session cannot be acquired
	MaxLockDelay time.Duration // what a client may ask for at most
	DelayOnEnd   bool          // also if the client has ended the session itself

	Election     time.Duration // until there is a new leader
	Extend       time.Duration // how much longer a new leader lets every session live: than its whole TTL, or than it would have
	MovesClients bool          // clients connect to the leader, and lose their connections when it changes
}
