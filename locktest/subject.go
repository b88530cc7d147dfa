package locktest

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/promise"
	"github.com/locksim/locksim/locks"
)

// subject is the lock under test, and what has been found out of it.
type subject struct {
	promise.Subject
	options  Options
	verifies bool   // it is a locks.Verifier
	unclear  string // why what the servers grant cannot be told; "": it can, or no key was found
	once     bool   // it lets its holder in again, and one Unlock frees it
	waits    bool   // for another holder, where it is to try only

	patience time.Duration // the shortest time for which it waits for an answer of Redis; 0 if it asks none
}

// played says that the lock under test is played, whatever a saved scenario calls it.
func (s *subject) played() harness.Options { return harness.Options{Instead: &s.Algorithm} }

// String says what has been found out, in a sentence for a reader.
func (s *subject) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s lives on %s", s.Algorithm.Name, s.Kind())
	switch a := s.Algorithm.Authority; {
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
	case s.InSession():
		fmt.Fprintf(&b, ", in a session of %v", s.TTL)
	case s.Expires && s.Renews:
		fmt.Fprintf(&b, ", for a lease of %v, which it renews when %d %% of it are left", s.TTL, s.Margin)
	case s.Expires:
		fmt.Fprintf(&b, ", for a lease of %v", s.TTL)
	default:
		b.WriteString(", until it is released")
	}
	if s.Deadline {
		fmt.Fprintf(&b, "; a deadline is stated that allows for %v", s.Allowance)
	}
	if s.Algorithm.Token {
		b.WriteString("; it hands out tokens")
	}
	if s.Reentrant {
		b.WriteString("; it may be entered again")
	}
	if s.once {
		b.WriteString("; it lets its holder in again, and one Unlock frees it, so that it is not taken for one that may be entered again")
	}
	if s.waits {
		b.WriteString("; Acquire with locks.Try, which is to return at once, waits for another holder")
	}
	return b.String()
}

func (s *subject) key() string {
	if s.Algorithm.Key == nil {
		return ""
	}
	return s.Algorithm.Key(locks.Options{})
}
