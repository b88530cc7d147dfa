package minimal

import (
	"reflect"
	"slices"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// mostOfCore is how many runs a core may take.
const mostOfCore = 8

// Core returns a form of a violation that costs a few runs only, for finding out whether it is likely to be one that is
// known: it is that of the scenario without those of its faults that can simply be left away. It is "" if the violation
// cannot be repeated.
func Core(r *harness.Runner, v search.Violation) string {
	red, err := newReducer(r, v, Options{Runs: mostOfCore})
	if err != nil {
		return ""
	}
	f := red.thinned()
	return f.String()
}

// Hit is a run of a case in which properties were violated, as a campaign comes by it.
type Hit struct {
	Violations []search.Violation // of the one case
	Result     *harness.Result    // of its run
	// How many of its faults and wrong clocks, the first ones, were given rather than drawn.
	Faults, Clocks int
	// AsDrawn says that no further runs are played: a core is the form of the violation as it is.
	AsDrawn bool
	_       struct{}
}

// Cores returns the core of each violation, or "" where it takes nothing that was drawn. What two of them try alike is
// played once.
func (h *Hit) Cores(r *harness.Runner) []string {
	cores := make([]string, len(h.Violations))
	tried := &attempts{}
	for i, v := range h.Violations {
		cores[i] = h.core(r, v, tried)
	}
	return cores
}

func (h *Hit) core(r *harness.Runner, v search.Violation, tried *attempts) string {
	seen := sighting{h.Result, search.FirstOf(v.Property, &h.Result.Report)}
	red := &reducer{judge: judge{runner: r, sought: v, most: Options{Runs: mostOfCore}, tried: tried}, sketchy: true}
	red.now = single(&v)
	given := h.Faults - seen.idle(red.now.Faults[:h.Faults])
	red.dropIdle(seen) // without them the run is the same
	red.seen, red.size = seen, costOf(red.now)
	if len(red.now.Faults) == given && len(red.now.Clocks) == h.Clocks {
		return ""
	}
	if h.AsDrawn {
		f := formOf(&red.sought, red.now, red.seen)
		return f.String()
	}
	tried.add(red.now, h.Result)
	without := parameter.Clone(red.now)
	red.fewestServers(without)
	dropFaults(without, min(given, len(without.Faults)), len(without.Faults))
	without.Clocks = without.Clocks[:min(h.Clocks, len(without.Clocks))]
	tidy(without)
	if _, ok := red.play(without); ok {
		return ""
	}
	f := red.thinned()
	return f.String()
}

// idle counts those of some faults that never happened.
func (s *sighting) idle(faults []sim.Fault) int {
	n := 0
	for _, f := range s.result.History.Faults {
		if !f.Fired && slices.ContainsFunc(faults, func(g sim.Fault) bool { return g.Name == f.Name }) {
			n++
		}
	}
	return n
}

// thinned takes out servers and faults as far as a few runs will do, and returns the form of what is left.
func (r *reducer) thinned() form {
	r.try(r.fewestServers)
	r.thinFaults(r.try)
	return formOf(&r.sought, r.now, r.seen)
}

// attempts are runs of one scenario with fewer servers, faults and wrong clocks.
type attempts struct{ list []attempt }

type attempt struct {
	of     *scenarios.Scenario
	result *harness.Result // nil if it could not be played
}

func (a *attempts) add(s *scenarios.Scenario, result *harness.Result) {
	a.list = append(a.list, attempt{s, result})
}

// find returns what came of an attempt; false if there has been none.
func (a *attempts) find(s *scenarios.Scenario) (*harness.Result, bool) {
	for i := range a.list {
		of := a.list[i].of
		if of.Servers == s.Servers && slices.Equal(of.Clocks, s.Clocks) && reflect.DeepEqual(of.Faults, s.Faults) {
			return a.list[i].result, true
		}
	}
	return nil, false
}
