// Package locktest tests a lock of one's own under faults, in go test.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, func(p locks.Process) (locks.Lock, error) { return New(p.Redis(0)), nil }, locktest.Options{})
//	}
//
// [Run] watches the lock in a few runs in which nothing goes wrong: on which servers it lives, which key its holder makes
// and for how long, whether it renews its lease, what its leases state. From that follows what it is asked to keep (see
// [Promise]). Each promise is then put to it in a thousand schedules of clients, pauses, crashes, clocks and network that
// the promise is to survive. Right locks pass. The first schedule that breaks a promise is made as small as it can be, told
// as a story with a timeline, and saved under testdata; saved ones are played first from then on.
//
// [Fuzz] is the same under go test -fuzz, and [Check] outside of tests. [RunProgram] tests a library as it is, by way of a
// program that imports package guest; package clients, which builds it, links a WebAssembly machine, and this package does not.
//
// Stability: the API of this package keeps working within a major version; which schedules a seed draws may change.
package locktest

import (
	"testing"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// Run tests a lock: saved scenarios first, then each promise in a subtest of its own, in a tenth of its schedules, and
// if all are kept so far, in the others. A mistake that breaks several promises is reported once, after all of them. What
// it plays is drawn by rapid, whose flags work: -rapid.checks for more or fewer schedules, -rapid.seed for the same ones;
// with -short it is a tenth. A promise that was never at risk is skipped, since nothing was learnt of it. The builder is
// called in many simulated processes, also of runs that are played at once: locks must not share anything but their
// servers.
func Run(t *testing.T, newLock locks.Builder, o Options) {
	t.Helper()
	s, err := examine(newLock, o)
	if err != nil {
		t.Fatal(err)
	}
	runSubject(t, s)
}

// runSubject tests a lock of which it is known what it is like.
func runSubject(t *testing.T, s *subject) {
	t.Helper()
	if testing.Short() {
		s.options.Runs = max(s.options.Runs/10, 1)
	}
	if !replay(t, s) {
		t.FailNow() // first things first
	}
	list := s.promises()
	tallies := make([]tally, len(list))
	if t.Run("promises", func(t *testing.T) { put(t, s, list, tallies, brief) }) {
		t.Run("at-length", func(t *testing.T) { put(t, s, list, tallies, atLength) })
	}
	for _, f := range mistakes(tallies) {
		report(t, f)
	}
	t.Log(s)
	for i := range list {
		t.Logf("%s: %v", list[i].Name, &tallies[i])
	}
	if text := s.never(list, tallies); text != "" {
		t.Log(text)
	}
}

// put puts promises to the lock, each in a part of its schedules. A lock that asks without a pause is asked for nothing else.
func put(t *testing.T, s *subject, list []pledge, tallies []tally, part part) {
	t.Helper()
	for i := range list {
		p, c := &list[i], &tallies[i]
		each := (p.runs(&s.options) + usualChecks - 1) / usualChecks // in each of rapid's checks
		from, to := part.of(each)
		if from == to {
			continue
		}
		first := p.Name == WaiterLoad
		kept := t.Run(string(p.Name), func(t *testing.T) {
			if !first {
				t.Parallel()
			}
			judge(t, s, p, part, to-from, c)
			if to == each {
				c.own(t)
			}
		})
		if first && !kept {
			return
		}
	}
}

// Check plays schedules until a promise of the lock is broken, and returns what was found; nil if all are kept. It is
// what [Run] does, for programs that are no tests: the same options find the same. The error says why the lock cannot be
// tested, as when it cannot be acquired even where nothing goes wrong.
func Check(newLock locks.Builder, o Options) (*Finding, error) {
	s, err := examine(newLock, o)
	if err != nil {
		return nil, err
	}
	return checkSubject(s)
}

func checkSubject(s *subject) (*Finding, error) {
	var r player
	defer r.Close()
	if b := s.firstBreach(&r); b != nil {
		return newFinding(&r, s, b), nil
	}
	return nil, nil
}

// firstBreach plays schedules until a promise is broken; nil if all are kept.
func (s *subject) firstBreach(r *player) *breach {
	list := s.promises()
	tallies := make([]tally, len(list))
	for _, part := range []part{brief, atLength} {
		for i := range list {
			p, c := &list[i], &tallies[i]
			from, to := part.of(p.runs(&s.options))
			for n := from; n < to && !part.enough(c); n++ {
				if b := p.try(r, s, search.Seeded(s.options.Seed+uint64(n)), c); b != nil {
					return b
				}
			}
		}
	}
	return nil
}

// examine finds out what a lock is like.
func examine(newLock locks.Builder, o Options) (*subject, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	var r player
	defer r.Close()
	return probe(&r, newLock, o)
}
