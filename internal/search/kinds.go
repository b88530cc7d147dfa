package search

import (
	"slices"

	"github.com/locksim/locksim/locks"
)

// Kind is a kind of fault as a generator draws it. A kind that a deployment cannot meet, as a failover where there is one
// server, is not drawn.
type Kind uint8

// The kinds.
const (
	ClientCrash Kind = iota // a client's process or machine dies, and may come back
	ClientPause             // a client's code stands still
	ClientClock             // a client's wall clock jumps in either direction
	ServerCrash             // a server's process dies and comes back: what it wrote to its file survives
	PowerLoss               // a server's machine dies and comes back: what its disk really had survives
	ServerPause             // a server's code stands still
	ServerAhead             // a server's wall clock jumps ahead: its keys end too early
	ServerBack              // a server's wall clock jumps back for good: its keys live too long
	Drift                   // clocks run too fast or too slowly, within FaultModel.Drift
	Cut                     // packets between a client and servers vanish for a while
	Stall                   // what is sent between a client and servers waits for a while
	Delay                   // one message is late
	Break                   // a connection is closed or reset, perhaps with what is under way on it
	Error                   // a request is answered with an error instead of being executed
	SameRandom              // two clients draw the same random numbers, as forked twins do
	Failover                // a replica is made master, or another server leader
	Partition               // packets between a server and its peers vanish for a while, perhaps those of clients, too
	Lag                     // what servers tell each other waits for a while, or one message of it is late
	SessionCut              // a client is cut off from all servers for about as long as its session lives
	EndSession              // the servers end a client's session, or its connection
	Evict                   // a server gives up the lock's key for room
	Snapshot                // a server saves its dataset
	kindCount

	// Mistakes of applications, which break what any lock promises. They are drawn only if they are named.
	LateRenewal    = kindCount     // an application renews its lease too late
	ForgottenToken = kindCount + 1 // it accesses the resource without its fencing token
	PassedToken    = kindCount + 2 // it passes that on to a job that writes when the lock is released
)

var kindNames = [kindCount]string{
	"client-crash", "client-pause", "client-clock", "server-crash", "power-loss", "server-pause", "server-ahead",
	"server-back", "drift", "cut", "stall", "delay", "break", "error", "same-random", "failover", "partition", "lag",
	"session-cut", "end-session", "evict", "snapshot",
}

var mistakeNames = [...]string{"late-renewal", "forgotten-token", "passed-token"}

// IsMistake reports whether the kind is one of an application, and no fault that happens to it.
func (k Kind) IsMistake() bool { return k >= kindCount }

// String returns the kind's name.
func (k Kind) String() string {
	if k.IsMistake() {
		return mistakeNames[k-kindCount]
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, bool) {
	i := slices.Index(slices.Concat(kindNames[:], mistakeNames[:]), name)
	return Kind(max(i, 0)), i >= 0
}

// Mistakes lists the kinds of mistakes that an application can make.
func Mistakes() []Kind { return []Kind{LateRenewal, ForgottenToken, PassedToken} }

// Impossible says why an application cannot make a mistake with a lock; "" if it can. Of other kinds it says nothing.
func (k Kind) Impossible(lock *locks.Algorithm) string {
	switch {
	case k == LateRenewal && !lock.Extends:
		return "the application does not renew the lease of " + lock.Name
	case (k == ForgottenToken || k == PassedToken) && !lock.Token:
		return lock.Name + " hands out no fencing token"
	}
	return ""
}

// Names lists the names of kinds.
func Names(kinds []Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return names
}

// Kinds lists all kinds of faults, without mistakes of applications, but those that are named.
func Kinds(but ...Kind) []Kind {
	var list []Kind
	for k := range kindCount {
		if !slices.Contains(but, k) {
			list = append(list, k)
		}
	}
	return list
}
