package promise

import (
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Subject is what is known of a lock for which promises are listed.
type Subject struct {
	Algorithm locks.Algorithm
	Masters   []int // numbers of independent Redis servers to choose from
	Replicas  []int

	TTL       time.Duration // of a lease or session; a unit of time where grants do not end
	Expires   bool          // grants end by themselves, without a session
	Renews    bool          // it sends requests while it holds, to servers that would end its grant
	Margin    int64         // percent of a lease that is left when it renews
	RenewsFor time.Duration // how long it renews a grant whose holder goes on; 0 for as long as that
	Deadline  bool          // leases state one
	Allowance time.Duration // by which it falls short of the lease
	Suspends  bool          // leases tell of a connection that is suspended
	Notice    bool          // leases have a notice of loss, or of a connection that is suspended
	Lost      bool          // leases have a notice of loss
	Asks      bool          // it sends requests while it holds by a connection, and so hears that this is over
	Fresh     bool          // leases of one task differ in their values
	Reentrant bool          // a holder may enter again, or is told so …
	Wall      bool          // clients compare the times of their wall clocks, or of the servers', with each other
	ByName    bool          // … by the servers, which know it by a name that all of its acquisitions have
}

// Kind is the kind of its servers.
func (s *Subject) Kind() string { return s.Algorithm.Servers }

// Several reports whether the lock turns to more than one Redis server.
func (s *Subject) Several() bool { return s.Algorithm.Authority == locks.Majority }

// facts is what is true of its servers.
func (s *Subject) facts() *backend.Facts { return scenarios.Kind(s.Kind()).Facts() }

// InSession reports whether the lock lives in a session that a client library keeps: one that nobody keeps alive is a lease.
func (s *Subject) InSession() bool { return s.facts().InSession() && !s.Expires }

// ensemble reports whether the lock lives in a session of several servers that are simulated one by one. Their client libraries
// tell it when the connection to one of them is suspended.
func (s *Subject) ensemble() bool { return s.InSession() && s.facts().Role == "leader" }

// Deploy decides how many Redis servers there are to be, as is usual for such locks.
func (s *Subject) Deploy() {
	switch {
	case !s.facts().Has(backend.Masters):
	case s.Several():
		s.Masters = []int{5, 3}
	case s.Algorithm.Authority == locks.Replicated:
		s.Replicas = []int{2}
	default:
		s.Masters = []int{1}
	}
}
