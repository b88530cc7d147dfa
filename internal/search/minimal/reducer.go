package minimal

import (
	"bytes"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// reducer makes a scenario smaller step by step.
//
// Invariant: a run of now shows the violation, seen is what was seen in it, and size is its cost.
type reducer struct {
	judge
	allowed func(*scenarios.Scenario) bool // nil: everything
	now     *scenarios.Scenario
	seen    sighting
	size    cost
	firm    bool // the violation has shown with a few other seeds, and is to show with them
	sketchy bool // nobody will want its file
}

func newReducer(runner *harness.Runner, v search.Violation, o Options) (*reducer, error) {
	r := &reducer{judge: judge{runner: runner, sought: v, most: o}}
	r.now, r.allowed = single(&v), o.Allowed
	lock, _ := v.Options.Lock(r.now)
	if r.varies = lock.Varies(); r.varies && r.most.Runs == 0 {
		r.most.Runs = VariedRuns
	}
	seen, ok := r.playAgain(r.now)
	if !ok && seen.result != nil {
		r.dropIdle(seen)
		seen, ok = r.playAgain(r.now)
	}
	if !ok {
		return nil, r.failed("%s is not violated again", v.Property)
	}
	r.seen, r.size = seen, costOf(r.now)
	return r, nil
}

// dropIdle takes out the faults that never happened: they may stand in a scenario that was drawn, not in a minimal one.
func (r *reducer) dropIdle(seen sighting) {
	for _, f := range seen.result.History.Faults {
		if f.Fired {
			continue
		}
		for i := range r.now.Faults {
			if r.now.Faults[i].Name == f.Name {
				dropFaults(r.now, i, i+1)
				break
			}
		}
	}
}

// edit changes a scenario that is nobody else's. It returns false if there is nothing to change.
type edit func(s *scenarios.Scenario) bool

// pass tries some changes.
type pass func(r *reducer)

// essentials take out what is not needed. What is there at all matters more than whether it hangs on luck. Faults come first:
// locks that violate a property beside each other without any fault could do so alike only with one.
func essentials() []pass {
	return []pass{
		(*reducer).fewerFaults, (*reducer).oneLock, (*reducer).plainSurroundings, (*reducer).workInstead, (*reducer).fewerClients,
		(*reducer).fewerOperations, (*reducer).fewerServers,
	}
}

// refinements make what is left plainer. What has not hung on luck must not do so afterwards.
func refinements() []pass {
	return []pass{
		(*reducer).weakerFaults, (*reducer).plainerTriggers, (*reducer).slowerDrift, (*reducer).rounderNumbers,
		(*reducer).fewerTies, (*reducer).plainNames, (*reducer).plainSeed,
	}
}

// reduce tries everything until nothing helps any more.
func (r *reducer) reduce() {
	for {
		before := r.now
		r.firm = false
		for _, pass := range essentials() {
			pass(r)
		}
		r.firm = r.isFirm(r.now)
		for _, pass := range refinements() {
			pass(r)
		}
		if r.now == before {
			return
		}
	}
}

// giveUp lets clients that wait forever give up once they have waited twice as long as progress allows, if their run
// was cut off while they waited and comes to its end so: of a run that is cut off nothing but the violation is known.
func (r *reducer) giveUp() {
	if r.seen.result.History.Cut == "" || r.now.Progress == 0 {
		return
	}
	s := parameter.Clone(r.now)
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Wait == locks.Forever {
			c.Wait = 2 * s.Progress
		}
	}
	if r.allowed != nil && !r.allowed(s) {
		return
	}
	if seen, ok := r.play(s); ok && seen.result.History.Cut == "" && (!r.firm || r.isFirm(s)) {
		r.accept(s, seen)
	}
}

// isFirm reports whether a scenario shows the violation with a few other seeds, too.
func (r *reducer) isFirm(s *scenarios.Scenario) bool {
	for i := range uint64(fewSeeds) {
		if r.ended() != nil {
			return false
		}
		other := parameter.Clone(s)
		other.Seed += 1 + i
		if _, ok := r.play(other); !ok {
			return false
		}
	}
	return true
}

// try makes the change if the scenario is simpler afterwards and still shows the violation.
func (r *reducer) try(change edit) bool {
	s, ok := r.simpler(change)
	if !ok {
		return false
	}
	seen, ok := r.play(s)
	return ok && (!r.firm || r.isFirm(s)) && r.accept(s, seen)
}

// doWithout tries to take out something that may have done no more than to bring about a coincidence. Without it the
// same may be had if the client that was first begins first, with another seed, by work that is clearly longer than a
// lease where it was nearly that long, or if the client that was second asks at a better moment.
func (r *reducer) doWithout(change edit) bool {
	if s, ok := r.simpler(change); !ok || !readable(s) {
		return false
	}
	also := func(more edit) bool {
		return r.try(func(s *scenarios.Scenario) bool { return change(s) && more(s) })
	}
	if r.try(change) || also(r.inTheirOrder) {
		return true
	}
	for seed := uint64(1); seed <= fewSeeds; seed++ {
		if also(func(s *scenarios.Scenario) bool { s.Seed = seed; return true }) {
			return true
		}
	}
	return also(overrun) || r.tryLater(change)
}

// fewSeeds is how many seeds are tried where another may do better.
const fewSeeds = 3

// simpler returns the changed scenario; false if it is no simpler.
func (r *reducer) simpler(change edit) (*scenarios.Scenario, bool) {
	if r.spent() {
		return nil, false
	}
	s := parameter.Clone(r.now)
	if !change(s) {
		return nil, false
	}
	tidy(s)
	return s, costOf(s).less(r.size) && (hasty(r.now) || !hasty(s)) && (r.allowed == nil || r.allowed(s))
}

// hasty reports whether a client gives up before some requests can be answered, so that it acquires no lock, whatever its code does.
func hasty(s *scenarios.Scenario) bool {
	latency := slowest(s.Network.Latency)
	for _, link := range s.Network.Links {
		latency = max(latency, slowest(link.Latency))
	}
	return slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool {
		return c.Wait != locks.Forever && c.Wait != locks.Try && c.Wait < fewAnswers*2*latency
	})
}

// slowest returns the longest delay of a latency, which is that of a LAN if none is given.
func slowest(l sim.Latency) time.Duration {
	if len(l) == 0 {
		l = sim.LAN()
	}
	return l[len(l)-1].Delay
}

// fewAnswers is how many requests after another a lock may need at least.
const fewAnswers = 5

// accept goes on from a scenario that shows the violation, if it can be written to a file.
func (r *reducer) accept(s *scenarios.Scenario, seen sighting) bool {
	if !r.sketchy && !readable(s) {
		return false
	}
	r.now, r.seen, r.size = s, seen, costOf(s)
	return true
}

// readable reports whether a scenario is valid, and its file says all of it.
func readable(s *scenarios.Scenario) bool {
	text := s.YAML()
	read, err := scenarios.Parse("minimal.yaml", text)
	return err == nil && bytes.Equal(read.YAML(), text)
}
