package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
)

// subject is the lock under test, and what has been found out of it.
type subject struct {
	algorithm locks.Algorithm // in the place of a scenario's
	options   Options
	masters   []int // numbers of independent Redis servers to choose from
	replicas  []int
	unclear   string // why what the servers grant cannot be told; "": it can, or no key was found

	ttl       time.Duration // of a lease or session; a unit of time where grants do not end
	expires   bool          // grants end by themselves, without a session
	renews    bool          // it sends requests while it holds, to servers that would end its grant
	margin    int64         // percent of a lease that is left when it renews
	deadline  bool          // leases state one
	allowance time.Duration // by which it falls short of the lease
	suspends  bool          // leases tell of a connection that is suspended
	notice    bool          // leases have a notice of loss, or of a connection that is suspended
	lost      bool          // leases have a notice of loss
	fresh     bool          // leases of one task differ in their values
	reentrant bool          // a holder may enter again, or is told so …
	byName    bool          // … by the servers, which know him by a name that all of his acquisitions have
}

// played says that the lock under test is played, whatever a saved scenario calls it.
func (s *subject) played() harness.Options { return harness.Options{Instead: &s.algorithm} }

func (s *subject) kind() string { return s.algorithm.Servers }

// several reports whether the lock turns to more than one Redis server.
func (s *subject) several() bool { return s.algorithm.Authority == locks.Majority }

// inSession reports whether a lock on servers of a kind lives in a session that a client library keeps.
func inSession(kind string) bool {
	return slices.Contains([]string{"zookeeper", "etcd", "consul", "chubby"}, kind)
}

// String says what has been found out, in a sentence for a reader.
func (s *subject) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s lives on %s", s.algorithm.Name, s.kind())
	switch a := s.algorithm.Authority; {
	case s.unclear != "":
		fmt.Fprintf(&b, ", and what its servers grant cannot be told, since %s; what holders believe and do is judged", s.unclear)
	case a == locks.NoAuthority:
		b.WriteString(", and which key its holder makes is not known")
	case a == locks.Majority:
		fmt.Fprintf(&b, ": the client that makes %q on a majority of the servers holds", s.key())
	case a == locks.Queue:
		fmt.Fprintf(&b, ": the client that is first in the queue under %q holds", s.key())
	case a == locks.Replicated:
		fmt.Fprintf(&b, ": the client that makes %q on the master and a replica holds", s.key())
	default:
		fmt.Fprintf(&b, ": the client that makes %q holds", s.key())
	}
	switch {
	case inSession(s.kind()):
		fmt.Fprintf(&b, ", in a session of %v", s.ttl)
	case s.expires && s.renews:
		fmt.Fprintf(&b, ", for a lease of %v, which it renews when %d %% of it are left", s.ttl, s.margin)
	case s.expires:
		fmt.Fprintf(&b, ", for a lease of %v", s.ttl)
	default:
		b.WriteString(", until it is released")
	}
	if s.deadline {
		fmt.Fprintf(&b, "; a deadline is stated that allows for %v", s.allowance)
	}
	if s.algorithm.Token {
		b.WriteString("; it hands out tokens")
	}
	if s.reentrant {
		b.WriteString("; it may be entered again")
	}
	return b.String()
}

func (s *subject) key() string {
	if s.algorithm.Key == nil {
		return ""
	}
	return s.algorithm.Key(locks.Options{})
}
