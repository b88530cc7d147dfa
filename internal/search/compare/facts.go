package compare

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// facts are what a lock is found to be by asking it, where nothing goes wrong.
type facts struct {
	token, value bool // its leases carry them
	lasts        bool // its holder keeps it for longer than the lease
	reentrant    bool
	try          bool
	fewest       int // of how many independent servers it can be had
}

// even is a network in which every message takes as long as any other.
func even() sim.Latency { return sim.Constant(time.Millisecond) }

// probeAll finds out about some locks. The error says that a lock's program cannot set it up.
func probeAll(list []locks.Algorithm) ([]facts, error) {
	var r harness.Runner
	defer r.Close()
	var known []facts
	for i := range list {
		lock := &list[i]
		if isProgram(*lock) {
			if err := search.Rehearse(search.Wide(lock, nil), harness.Options{Instead: lock}); err != nil {
				return nil, fmt.Errorf("%s: %w", lock.Name, err)
			}
		}
		known = append(known, probe(&r, lock))
	}
	return known, nil
}

// probe finds out about a lock.
func probe(r *harness.Runner, lock *locks.Algorithm) facts {
	held, token, value := outlasts(r, lock)
	return facts{
		token: token, value: value, lasts: held, reentrant: reentrant(r, lock), try: tries(r, lock), fewest: fewest(r, lock),
	}
}

// outlasts has a holder work for three leases, or for longer than servers may keep what is over, while another client waits, and says
// whether it stayed the only one. It also says what its lease carried.
func outlasts(r *harness.Runner, lock *locks.Algorithm) (held, token, value bool) {
	s := newScene(lock, even())
	s.client("a", 0, max(3*lease, lease+lease*time.Duration(scenarios.Kind(lock.Backend()).Facts().Patience)/100))
	s.client("b", lease/2, 0).Again = lease / 10
	result := s.play(r, lock, 1)
	first := result.History.Acquisition(1)
	if first == nil || first.Outcome != history.OK {
		return false, false, false
	}
	return result.Report.Verdicts[checker.MutualExclusion] != checker.Violated, first.Token > 0, first.Value != ""
}

// tries has a client that will not wait ask for a lock that is held, and says whether it was refused at once.
func tries(r *harness.Runner, lock *locks.Algorithm) bool {
	s := newScene(lock, even())
	s.client("a", 0, lease/2)
	s.client("b", lease/10, 0).Wait = locks.Try
	for _, a := range s.play(r, lock, 1).History.Acquisitions {
		if a.Client == "b" {
			return a.Outcome == history.Failed && a.Returned.Sub(a.Invoked) < atOnce
		}
	}
	return false
}

// atOnce is how long the answer of a lock that does not wait may take: a few round trips.
const atOnce = 50 * time.Millisecond

// reentrant has a holder enter twice, and says whether it got in, kept everybody else out, and still held the lock when it
// had left once.
func reentrant(r *harness.Runner, lock *locks.Algorithm) bool {
	s := newScene(lock, even())
	a := s.client("a", 0, lease/4)
	a.Enters, a.Wait = 2, locks.Try
	s.client("b", lease/10, 0).Wait = locks.Try
	h := s.play(r, lock, 1).History
	var inner, outer *history.Acquisition
	for i := range h.Acquisitions {
		x := &h.Acquisitions[i]
		switch {
		case x.Client == "b" && x.Outcome == history.OK:
			return false
		case x.Client == "a" && outer == nil:
			outer = x
		case x.Client == "a" && inner == nil:
			inner = x
		}
	}
	if inner == nil || inner.Outcome != history.OK || inner.Release != history.OK || outer.Release != history.OK {
		return false
	}
	for _, g := range h.Grants {
		if g.Client == "a" && g.To > inner.Released {
			return true
		}
	}
	return false
}

// fewest is of how many independent servers a lock needs a majority at least: with fewer it is never had.
func fewest(r *harness.Runner, lock *locks.Algorithm) int {
	usual := deployment(lock).Masters
	for n := 1; n < usual; n++ {
		s := newScene(lock, even())
		s.client("a", 0, 0)
		s.Servers.Masters = n
		if first := s.play(r, lock, 1).History.Acquisition(1); first != nil && first.Outcome == history.OK {
			return n
		}
	}
	return usual
}
