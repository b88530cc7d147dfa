package compare

import (
	"iter"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// How costs are measured.
const (
	latencySections = 6
	contenders      = 5
	contentionTime  = 10 * time.Second
)

// effort is how many runs are played for each of the costs. A guest program's runs take fifty times as long, those of
// a program of the operating system a thousand times.
type effort struct{ latency, crash, contention int }

func effortFor(lock *locks.Algorithm) effort {
	if lock.Varies() {
		return effort{latency: 5, crash: 10, contention: 1}
	}
	if isProgram(*lock) {
		return effort{latency: 40, crash: 40, contention: 1}
	}
	return effort{latency: 200, crash: 200, contention: 4}
}

// cost measures what each lock costs where little or nothing goes wrong.
func (c *comparer) cost() error {
	var plays iter.Seq[func(*harness.Runner) Lock] = func(yield func(func(*harness.Runner) Lock) bool) {
		for i := range c.plan.Locks {
			if !yield(func(r *harness.Runner) Lock { return costs(r, &c.plan.Locks[i], c.out.Comparison.Locks[i]) }) {
				return
			}
		}
	}
	done := 0
	return search.InOrder(c.ctx, c.plan.Jobs, plays, func(l Lock) error {
		c.out.Comparison.Locks[done] = l
		done++
		c.told("measuring costs", done, len(c.plan.Locks))
		return nil
	})
}

// costs completes what is known of a lock by what it costs.
func costs(r *harness.Runner, lock *locks.Algorithm, l Lock) Lock {
	runs := effortFor(lock)
	l.Latency = latency(r, lock, runs.latency)
	l.RoundTrips = roundTrips(r, lock)
	l.Messages = messages(r, lock)
	l.AfterCrash, l.NeverAfter = afterCrash(r, lock, false, runs.crash)
	l.AfterPowerLoss, l.NeverAfterPowerLoss = afterCrash(r, lock, true, runs.crash)
	contend(r, lock, &l, runs.contention)
	return l
}

// alone has one client take a free lock several times.
func alone(lock *locks.Algorithm, sections int, network sim.Latency) *scene {
	s := newScene(lock, network)
	s.client("a", 0, 0).Sections = sections
	return s
}

// latency is how long acquiring takes, but for the first time, which is when connections are made.
func latency(r *harness.Runner, lock *locks.Algorithm, runs int) Quantiles {
	var times []time.Duration
	s := alone(lock, latencySections, sim.LAN())
	for seed := range uint64(runs) {
		for _, a := range s.play(r, lock, seed).History.Acquisitions {
			if a.ID > 1 && a.Outcome == history.OK {
				times = append(times, a.Returned.Sub(a.Invoked))
			}
		}
	}
	return quantiles(times)
}

// roundTrips is how often a message goes there and back, one after another, until a free lock is acquired, in thousandths:
// in a network where every message takes as long as any other, between servers as well.
func roundTrips(r *harness.Runner, lock *locks.Algorithm) int64 {
	const oneWay = time.Millisecond
	h := alone(lock, 2, sim.Constant(oneWay)).play(r, lock, 1).History
	if len(h.Acquisitions) == 0 {
		return 0
	}
	last := h.Acquisitions[len(h.Acquisitions)-1]
	return int64(last.Returned.Sub(last.Invoked)) * 1000 / int64(2*oneWay)
}

// messages is how many messages a section takes once there are connections, in thousandths: requests, their answers, and
// what servers tell unasked.
func messages(r *harness.Runner, lock *locks.Algorithm) int64 {
	const few, more = 10, 60
	count := func(sections int) int64 {
		s := alone(lock, sections, even())
		h := s.play(r, lock, 1).History
		if len(h.Acquisitions) < sections { // a lock that is free when its lease is over: the run has ended before the sections did
			s.Until = time.Duration(sections) * 2 * lease
			h = s.play(r, lock, 1).History
		}
		return int64(2*h.Requests + h.WakeUps)
	}
	return (count(more) - count(few)) * 1000 / (more - few)
}

// afterCrash is how long it takes until the next one holds when a holder's process dies, or its whole machine, early or
// late in its lease; and how often nobody did.
func afterCrash(r *harness.Runner, lock *locks.Algorithm, host bool, runs int) (q Quantiles, never int) {
	var times []time.Duration
	for seed := range uint64(runs) {
		s := newScene(lock, sim.LAN())
		s.client("a", 0, 2*lease)
		at := lease/5 + time.Duration(seed)*(lease*3/5)/time.Duration(runs)
		s.client("b", at, 0).Again = time.Second
		s.Until = 6 * lease
		s.Faults = []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Crash, Node: "a", Host: host}}}
		if next, ok := acquiredAfter(s.play(r, lock, seed).History, trace.Instant(at)); ok {
			times = append(times, next)
		} else {
			never++
		}
	}
	return quantiles(times), never
}

// acquiredAfter is how long after a moment somebody acquired.
func acquiredAfter(h *history.History, at trace.Instant) (time.Duration, bool) {
	first := trace.Never
	for i := range h.Acquisitions {
		if a := &h.Acquisitions[i]; a.Outcome == history.OK && a.Returned >= at {
			first = min(first, a.Returned)
		}
	}
	return first.Sub(at), first != trace.Never
}

// contend has several clients take the lock again and again for some time.
func contend(r *harness.Runner, lock *locks.Algorithm, l *Lock, runs int) {
	l.Contenders = contenders
	total, fair, longest := int64(0), int64(0), time.Duration(0)
	for seed := range uint64(runs) {
		s := newScene(lock, sim.LAN())
		for i := range contenders {
			c := s.client(string(rune('a'+i)), 0, 0)
			c.Sections, c.Again = manySections, locksOwnDelay
		}
		s.Until = contentionTime
		h := s.play(r, lock, seed).History
		counts := sectionsOf(h)
		for _, n := range counts {
			total += n
		}
		fair += jain(counts)
		for _, w := range h.Waits {
			longest = max(longest, min(w.To, h.End).Sub(w.From))
		}
	}
	l.Throughput = total * 1000 / int64(time.Duration(runs)*contentionTime/time.Second)
	l.Fairness, l.LongestWait = fair/int64(runs), int64(longest)
}

const (
	manySections  = 1_000_000 // more than there is time for
	locksOwnDelay = 200 * time.Millisecond
)

// sectionsOf counts how often each of the contenders acquired.
func sectionsOf(h *history.History) []int64 {
	counts := make([]int64, contenders)
	for i := range h.Acquisitions {
		if a := &h.Acquisitions[i]; a.Outcome == history.OK {
			counts[a.Client[0]-'a']++
		}
	}
	return counts
}

// jain is the fairness index of Jain, Chiu and Hawe (1984), in thousandths: 1000 if all got as much, 1000/n if one of n got
// everything.
func jain(counts []int64) int64 {
	sum, squares := int64(0), int64(0)
	for _, n := range counts {
		sum += n
		squares += n * n
	}
	if squares == 0 {
		return 0
	}
	return sum * sum * 1000 / (int64(len(counts)) * squares)
}

// quantiles of some times: the smallest that a half, and 99 in 100, do not exceed.
func quantiles(times []time.Duration) Quantiles {
	if len(times) == 0 {
		return Quantiles{}
	}
	slices.Sort(times)
	at := func(percent int) int64 { return int64(times[(len(times)*percent+99)/100-1]) }
	return Quantiles{Count: len(times), P50: at(50), P99: at(99), Max: at(100)}
}
