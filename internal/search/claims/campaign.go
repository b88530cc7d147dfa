package claims

import (
	"context"
	"iter"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
)

// Stint is a number of scenarios to be drawn, by the numbers from one on, for claims that have one fault model: each scenario is
// played once, and judged by all of them.
type Stint struct {
	Claims []*Claim
	Draws  search.Seeds
	_      struct{}
}

// Tally is what came of some scenarios that were drawn for a claim.
type Tally struct {
	Claim      *Claim
	First      uint64 // the number of the first draw
	Runs       int    // scenarios played, each in all of its cases
	Violations int    // of them, those that broke the claim
	Undecided  int    // those of which nothing can be said: cut short, or a lock's code panicked
	Dangers    int    // those that put the claim at risk
	Vacuous    int    // those in which its property was never at risk, or there was nothing to judge
	Broken     *Trial // the first that violated the claim, or was undecided; nil if none did
	_          struct{}
}

// count counts one draw.
func (t *Tally) count(trial Trial) {
	t.Runs++
	if trial.InDanger {
		t.Dangers++
	}
	switch trial.Verdict {
	case checker.Violated:
		t.Violations++
	case checker.Undecided:
		t.Undecided++
	case checker.Vacuous, checker.NotJudged:
		t.Vacuous++
	case checker.Held, checker.NotSeen:
	}
	if t.Broken == nil && t.Violations+t.Undecided > 0 {
		t.Broken = &trial
	}
}

// Campaign plays stints one after the other, several runs at once, and calls each with what came of every few draws of a
// stint, in their order: a tally for each of its claims. It ends early with the first error of each, or when the context
// is done: what each was told of until then has no gap. What it finds does not depend on how many runs are played at once.
func Campaign(ctx context.Context, stints []Stint, jobs int, each func([]Tally) error) error {
	return search.InOrder(ctx, jobs, stretches(stints), each)
}

// stretchSize is how many draws a worker takes at once: enough for handing them over to cost nothing, few enough for an
// interrupt to be heeded at once.
const stretchSize = 64

// stretches cuts stints up.
func stretches(stints []Stint) iter.Seq[func(*harness.Runner) []Tally] {
	return func(yield func(func(*harness.Runner) []Tally) bool) {
		for _, s := range stints {
			for from := 0; from < s.Draws.Count; from += stretchSize {
				draws := search.Seeds{First: s.Draws.First + uint64(from), Count: min(stretchSize, s.Draws.Count-from)}
				if !yield(func(r *harness.Runner) []Tally { return playStretch(r, s.Claims, draws) }) {
					return
				}
			}
		}
	}
}

func playStretch(r *harness.Runner, claims []*Claim, draws search.Seeds) []Tally {
	tallies := make([]Tally, len(claims))
	for i, c := range claims {
		tallies[i] = Tally{Claim: c, First: draws.First}
	}
	for k := range draws.Count {
		if r.Stopped() {
			break
		}
		for i, trial := range try(claims, r, search.Seeded(draws.First+uint64(k)), harness.Options{}) {
			tallies[i].count(trial)
		}
	}
	return tallies
}
