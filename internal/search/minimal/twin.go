package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// twin plays scenarios with the reference lock in the place of the one that is accused.
type twin struct {
	judge
	of     form     // of the counterexample
	behind string   // the holder, if its program's connections may survive a failover; "" for a lock of the catalogue
	apart  sim.Link // between the holder and servers on which it had no key when another one broke its promise; empty if there are none

	released string // the client whose lock another one released; "" if that is not what is violated
	shares   bool   // the reference lock violates the property for the same cause …
	deaf     bool   // … and tells no holder of a loss

	besides map[string]string // by the faults that hit a client which did not believe to hold the lock, that client

	already [checker.PropertyCount]checker.Verdict // what the accused lock violates
	inUse   bool                                   // others wait for it while a client that believes to hold it has held it all the while
	instead string                                 // the property of exclusion that the reference lock violates, so that nobody waits
}

// A minimal scenario's moments and numbers are only just right for the lock that it was made for: the next client asks a
// moment after the key is gone, a pause is as long as it takes. So that a reference lock is not said to keep what it
// keeps by a few milliseconds, it is played with several schedules, and with faults that last a little longer or come at
// the moments at which they came.
const comparedSeeds = 3

// compare returns in how many runs the reference lock kept the property, though every fault happened and the property was
// exposed. It stops at the first one in which it does not.
func (t *twin) compare(s *scenarios.Scenario, seen *history.History) (kept int) {
	ttl := s.Lock.TTL - s.Servers.Facts().Early // for which what is granted lives at least
	t.besides = hitBesides(s, seen)
	schedules := []func(*scenarios.Scenario){
		func(*scenarios.Scenario) {},
		func(s *scenarios.Scenario) { pollOften(s); comeEarly(s) },
	}
	if p := t.sought.Property; p != checker.Progress && p != checker.Availability { // longer work alone would exceed a short bound on waiting
		schedules = append(schedules,
			func(s *scenarios.Scenario) { pollOften(s); workFor(s, ttl/2) },
			func(s *scenarios.Scenario) { pollOften(s); workFor(s, ttl/100*95) })
	}
	if t.released != "" { // a few milliseconds are less than what a lock that waits for a majority takes longer
		schedules = append(schedules, func(s *scenarios.Scenario) { workFor(s, ttl/2, t.released) })
	}
	faults := []func(*scenarios.Scenario){
		func(*scenarios.Scenario) {},
		func(s *scenarios.Scenario) { stretch(s, 100, 20*time.Millisecond) },
		func(s *scenarios.Scenario) { stretch(s, 10, 50*time.Millisecond) },
		func(s *scenarios.Scenario) { atTheirMoments(s, seen); stretch(s, 100, 20*time.Millisecond) },
	}
	if t.behind != "" && failsOver(s) {
		faults = append(faults, func(s *scenarios.Scenario) { leaveBehind(s, t.behind) })
	}
	if len(t.apart.To) > 0 { // a key more is luck
		faults = append(faults, func(s *scenarios.Scenario) {
			s.Faults = append(s.Faults, sim.Fault{Name: "apart", Trigger: sim.Trigger{When: sim.At}, Action: sim.Action{Kind: sim.Cut, Link: t.apart}, For: time.Hour})
		})
	}
	for _, schedule := range schedules {
		for _, fault := range faults {
			for i := range uint64(comparedSeeds) {
				if t.shares || t.ended() != nil {
					return 0
				}
				changed := parameter.Clone(s)
				schedule(changed)
				fault(changed)
				changed.Seed += i
				if t.keeps(changed) {
					kept++
				}
			}
		}
	}
	return kept
}

// failsOver reports whether a fault promotes a replica.
func failsOver(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.Promote })
}

// leaveBehind keeps promotions from a client: a program whose connection to the old master stays open does not learn of them.
func leaveBehind(s *scenarios.Scenario, client string) {
	var told []string
	for i := range s.Clients {
		for _, name := range s.Clients[i].Names() {
			if name != client {
				told = append(told, name)
			}
		}
	}
	for i := range s.Faults {
		if a := &s.Faults[i].Action; a.Kind == sim.Promote && len(told) > 0 {
			a.Nodes = told
		}
	}
}

// keeps plays a scenario. It reports whether the run is evidence that the reference lock does not do the same.
func (t *twin) keeps(s *scenarios.Scenario) bool {
	seen := sighting{result: t.run(s)}
	if seen.result == nil {
		return false
	}
	if t.hitsHolder(seen.result.History) {
		return false
	}
	report := &seen.result.Report
	for i := range report.Violations {
		v := &report.Violations[i]
		if v.Property != t.sought.Property || v.Property != checker.Resource && v.Kind != t.sought.Kind || t.forgives(seen.result, v) {
			continue
		}
		seen.violation = v
		takesPart := func(id history.ID) bool { return slices.Contains(v.Acquisitions, id) }
		if t.isStale(seen.result.History, takesPart) || t.isSame(newCast(s, seen).causes()) {
			t.shares, t.deaf = true, !slices.ContainsFunc(seen.result.History.Acquisitions, tells)
			return false
		}
	}
	for _, p := range []checker.Property{checker.Resource, checker.ExclusionAtService, checker.MutualExclusion} {
		if t.inUse && report.Verdicts[p] == checker.Violated && t.already[p] != checker.Violated {
			t.instead = p.String()
			return false
		}
	}
	if slices.Contains(t.of.causes, belated) && !declines(seen.result.History) { // the same, with more luck, or something else
		return false
	}
	verdict := report.Verdicts[t.sought.Property]
	twoHold := slices.Contains(t.of.causes, belated) || slices.Contains(t.of.causes, givesUp)
	if verdict == checker.Vacuous && t.sought.Property == checker.Resource && twoHold &&
		report.Verdicts[checker.MutualExclusion] == checker.Held { // a second holder is what would damage the resource
		verdict = checker.Held
	}
	quiet := len(s.Faults) == 0 && len(s.Clocks) == 0 // then what its clients do is all that could expose the property
	exposed := verdict == checker.Held || verdict == checker.Violated || quiet || t.survived(seen.result.History)
	return seen.idle(s.Faults) == 0 && exposed
}

// hitBesides finds the faults that hit a client which did not believe to hold the lock: it waited, or had called Unlock.
func hitBesides(s *scenarios.Scenario, h *history.History) map[string]string {
	besides := make(map[string]string)
	for i := range s.Faults {
		name := s.Faults[i].NameAt(i)
		client := clientOf(s, &s.Faults[i].Action)
		at := slices.IndexFunc(h.Faults, func(f history.Fault) bool { return f.Name == name && f.Fired })
		if client == "" || at < 0 || believesAt(h, client, h.Faults[at].Begin) {
			continue
		}
		asked := func(a history.Acquisition) bool { return a.Client == client && a.Invoked <= h.Faults[at].Begin }
		if slices.ContainsFunc(h.Acquisitions, asked) {
			besides[name] = client
		}
	}
	return besides
}

// clientOf is the client that a fault hits alone; "" if there is none.
func clientOf(s *scenarios.Scenario, a *sim.Action) string {
	for _, nodes := range [][]string{{a.Node}, a.Link.From, a.Link.To} {
		is := func(c scenarios.Client) bool { return len(nodes) == 1 && slices.Contains(c.Names(), nodes[0]) }
		if slices.ContainsFunc(s.Clients, is) {
			return nodes[0]
		}
	}
	return ""
}

// hitsHolder reports whether a fault hit a client that believed to hold the lock, and had hit it while it did not: what follows from that says
// nothing of those who wait, or have called Unlock.
func (t *twin) hitsHolder(h *history.History) bool {
	return slices.ContainsFunc(h.Faults, func(f history.Fault) bool {
		client, besides := t.besides[f.Name]
		return besides && f.Fired && believesAt(h, client, f.Begin)
	})
}

func believesAt(h *history.History, client string, at trace.Instant) bool {
	return slices.ContainsFunc(h.Beliefs(), func(b history.Belief) bool { return b.Acquisition.Client == client && b.From <= at && at < b.To })
}

// isStale reports whether the accused was found to take a grant for its own that was over, and so does a client of the reference lock, which
// heeds no notice of that.
func (t *twin) isStale(h *history.History, of func(history.ID) bool) bool {
	return slices.Contains(t.of.causes, belated) && slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
		until := grantedUntil(h, a.ID)
		return of(a.ID) && a.Outcome == history.OK && a.Style == history.Careless && 0 <= until && until <= a.Returned
	})
}

// declines reports whether a lock did not take what it was granted, but learned of too late.
func declines(h *history.History) bool {
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		return a != nil && g.To <= a.Returned && (a.Outcome != history.OK || a.Returned < grantedUntil(h, a.ID))
	})
}

// survived reports whether the property was exposed in a way that a verdict does not count: a holder stopped at its deadline,
// released the lock when another client had it already, or did so before another one acquired it, whom no later request of its own has hit;
// or somebody acquired the lock at once, after all faults had begun, so that nobody waited.
func (t *twin) survived(h *history.History) bool {
	switch t.sought.Property {
	case checker.MutualExclusion:
		return slices.ContainsFunc(h.Beliefs(), func(b history.Belief) bool { return b.Ended == history.ByDeadline })
	case checker.ReleaseSafety:
		return slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
			at := func(c history.Copy) bool { return c.From <= a.Unlocked && a.Unlocked < c.To }
			own := func(c history.Copy) bool { return at(c) && c.Acquisition == a.ID }
			others := func(c history.Copy) bool { return at(c) && c.Acquisition != a.ID }
			next := func(b history.Acquisition) bool {
				return b.Outcome == history.OK && b.ID != a.ID && a.Unlocked <= b.Returned
			}
			late := slices.ContainsFunc(h.Copies, others) && !slices.ContainsFunc(h.Copies, own)
			return a.Outcome == history.OK && (late || slices.ContainsFunc(h.Acquisitions, next))
		})
	case checker.Progress, checker.Availability:
		return slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
			before := func(f history.Fault) bool { return f.Fired && a.Returned < f.Begin }
			return a.Outcome == history.OK && !slices.ContainsFunc(h.Faults, before)
		})
	default:
		return false
	}
}

// isSame reports whether a violation has a cause like that of the counterexample: where that is a mistake which a lock
// makes, the same mistake.
func (t *twin) isSame(causes []string) bool {
	return !slices.ContainsFunc(t.of.causes, func(cause string) bool {
		return slices.Contains(mistakes, cause) && !slices.Contains(causes, cause)
	})
}

// mistakes are the causes that speak of what a lock does, rather than of what happens to it.
var mistakes = []string{misrelease, belated, fewOutOfReach, unrecovered, orphan, splitVotes}

// pollOften has clients that poll for the lock ask again after a millisecond.
func pollOften(s *scenarios.Scenario) {
	for i := range s.Clients {
		s.Clients[i].Retry.Delay, s.Clients[i].Retry.Jitter = time.Millisecond, 0
	}
}

// comeEarly has clients that come about when a lease ends come a fiftieth of it earlier, and wait.
func comeEarly(s *scenarios.Scenario) {
	for i := range s.Clients {
		if early := s.Lock.TTL / 50; s.Clients[i].Start > s.Lock.TTL/2 {
			s.Clients[i].Start -= early
		}
	}
}

// workFor makes the work of some clients last at least so long; that of all if none is named.
func workFor(s *scenarios.Scenario, least time.Duration, of ...string) {
	for i := range s.Clients {
		is := func(name string) bool { return slices.Contains(of, name) }
		if c := &s.Clients[i]; len(of) == 0 || slices.ContainsFunc(c.Names(), is) {
			c.Work = max(c.Work, least)
		}
	}
}

// stretch makes faults last longer and go further, by a part and some time; a clock's rate is wrong by a thousandth at
// least. A rate within what locks with deadlines allow for stays within it, and one beyond goes well beyond.
func stretch(s *scenarios.Scenario, part, more time.Duration) {
	const leastRate, allowance = 1_000, 10_000 // parts per million; Redlock allows for a hundredth of the lease
	longer := func(list ...*time.Duration) {
		for _, d := range list {
			switch {
			case *d > 0 && *d < locks.Forever/2:
				*d += *d/part + more
			case *d < 0:
				*d += *d/part - more
			}
		}
	}
	faster := func(rate *int64) {
		size, sign := max(*rate, -*rate), int64(1)
		if *rate < 0 {
			sign = -1
		}
		switch {
		case size > allowance:
			*rate += *rate / 2
		case size > 0:
			*rate = sign * min(max(leastRate, size+size/int64(part)), allowance)
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		longer(&f.For, &f.Action.By, &f.Action.Restart, &f.Action.Demote, &f.Action.Step)
		faster(&f.Action.Rate)
	}
	for i := range s.Clocks {
		longer(&s.Clocks[i].Offset)
		faster(&s.Clocks[i].Rate)
	}
}

// nearer are the changes, one after another, that bring a reference lock into the situation of the accused when the same faults do not.
var nearer = []struct {
	where  string
	change func(*scenarios.Scenario, *history.History) bool
}{
	{"when the faults hit it at the same steps", atTheSameSteps},
	{"when links are cut in both directions", bothWays},
	{"when the faults come before its renewal", beforeRenewals},
}

// bothWays has cuts stop requests and answers: a renewal whose answer alone is lost is one that succeeded for a lock with one key, and not for
// one that sends several, one after another. It reports whether that is something else.
func bothWays(s *scenarios.Scenario, _ *history.History) (changed bool) {
	for i := range s.Faults {
		if a := &s.Faults[i].Action; a.Kind == sim.Cut {
			changed = unset(&a.Link.OneWay) || changed
		}
	}
	return changed
}

// beforeRenewals has faults that come after a server has renewed a key come before it does: a lock with several keys has lost those that it has not yet
// renewed, and one with one key nothing. It reports whether that is something else.
func beforeRenewals(s *scenarios.Scenario, _ *history.History) (changed bool) {
	for i := range s.Faults {
		t := &s.Faults[i].Trigger
		if t.When == sim.After && t.Step.What == trace.ToRenew && (t.Step.Does == trace.Execute || t.Step.Does == trace.Reply) {
			t.When, t.Step.Does, changed = sim.Before, trace.Execute, true
		}
	}
	return changed
}

// atTheSameSteps has faults act where the reference lock takes the steps at which they hit the accused. One that hangs on a message acts at the
// first such message, whichever server it is of: the reference may send fewer, or to others. One that came at a time, while a client first
// asked for the lock, comes while it asks: a library takes its time to connect. It reports whether that is something else.
func atTheSameSteps(s *scenarios.Scenario, seen *history.History) (changed bool) {
	names, any := s.Servers.Names(), s.Servers.Facts().Node+"-*"
	for i := range s.Faults {
		t := &s.Faults[i].Trigger
		if t.When == sim.At {
			if first := firstAsking(seen, trace.Instant(t.At)); first != nil {
				*t = sim.Trigger{When: sim.After, Step: sim.Pattern{Node: first.Client, Does: trace.Start}, Plus: longestLatency(s)}
				changed = true
			}
			continue
		}
		if !isMessage(t) {
			continue
		}
		changed = unset(&t.Nth) || changed
		for _, name := range []*string{&t.Step.Node, &t.Step.Peer} {
			if slices.Contains(names, *name) {
				*name, changed = any, true
			}
		}
	}
	return changed
}

// firstAsking is the first acquisition of a client if that was under way at a moment; nil if there is none.
func firstAsking(h *history.History, at trace.Instant) *history.Acquisition {
	asked := map[string]bool{}
	for i := range h.Acquisitions { // in the order in which they were begun
		a := &h.Acquisitions[i]
		if !asked[a.Client] && a.Invoked <= at && at < a.Returned {
			return a
		}
		asked[a.Client] = true
	}
	return nil
}

// longestLatency is how long a message takes at most unless a fault holds it up.
func longestLatency(s *scenarios.Scenario) time.Duration {
	latency := s.Network.Latency
	if len(latency) == 0 {
		latency = sim.LAN()
	}
	return latency[len(latency)-1].Delay
}

// comeInOrder has the client that acquired the lock first come some time before the others, as it may by a connection that stands already.
func comeInOrder(s *scenarios.Scenario, seen *history.History) {
	var first *history.Acquisition
	for i := range seen.Acquisitions {
		if a := &seen.Acquisitions[i]; a.Outcome == history.OK && (first == nil || a.Returned < first.Returned) {
			first = a
		}
	}
	if first == nil {
		return
	}
	at := slices.IndexFunc(s.Clients, func(c scenarios.Client) bool { return slices.Contains(c.Names(), first.Client) })
	for i := range s.Clients {
		if i != at {
			s.Clients[i].Start = max(s.Clients[i].Start, s.Clients[at].Start+50*time.Millisecond)
		}
	}
}

// atTheirMoments has faults that do not concern a message act at the moments at which they acted.
func atTheirMoments(s *scenarios.Scenario, seen *history.History) {
	for i := range s.Faults {
		f := &s.Faults[i]
		for _, was := range seen.Faults {
			if was.Name == f.Name && was.Fired && !hitsMessage(f) {
				f.Trigger = sim.Trigger{When: sim.At, At: time.Duration(was.Begin)}
			}
		}
	}
}
