package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/checker"
)

// Agreement says how two verdicts on one property, of the simulation and of real servers, relate.
type Agreement uint8

// The agreements, from the best to the worst.
const (
	Same        Agreement = iota // the verdicts are the same
	ExposedOnce                  // it held where it was exposed, and the other run did not expose it
	Unknown                      // one of the runs is inconclusive
	Opposite                     // violated, and not violated
)

// agreementNames are the words of the reports.
var agreementNames = [...]string{Same: "same", ExposedOnce: "exposed once", Unknown: "unknown", Opposite: "opposite"}

// String describes the agreement in words.
func (a Agreement) String() string { return agreementNames[a] }

// Compare compares the verdicts of a simulation and of real servers.
func Compare(simulated, played checker.Verdict) Agreement {
	switch {
	case simulated == checker.Undecided || played == checker.Undecided:
		return Unknown
	case simulated == played:
		return Same
	case violated(simulated) || violated(played):
		return Opposite
	default:
		return ExposedOnce
	}
}

// agreement compares what an attempt says of a property with the simulation.
func (r *Result) agreement(a *Attempt, p checker.Property) Agreement {
	return Compare(r.Simulated.Verdicts[p], a.Report.Verdicts[p])
}

// pair is a verdict beside a verdict.
type pair struct{ simulated, played checker.Verdict }

// tally counts outcomes of cases, their attempts, and the verdicts that were compared.
type tally struct {
	outcomes [Refused + 1]int
	attempts int
	pairs    map[pair]int
}

// add counts the outcome of a case, and its verdicts unless the case says nothing.
func (t *tally) add(r *Result) {
	t.outcomes[r.Outcome]++
	t.attempts += len(r.Attempts)
	if r.Outcome != Agrees && r.Outcome != Differs {
		return
	}
	if t.pairs == nil {
		t.pairs = make(map[pair]int)
	}
	for _, p := range r.Compared {
		t.pairs[pair{r.Simulated.Verdicts[p], r.last().Report.Verdicts[p]}]++
	}
}

// last is the attempt that decides: the last one that says anything, or else the last one.
func (r *Result) last() *Attempt {
	for i := range slices.Backward(r.Attempts) {
		if r.Attempts[i].Invalid == "" {
			return &r.Attempts[i]
		}
	}
	return &r.Attempts[len(r.Attempts)-1]
}

// Worst returns the worst outcome.
func (t *tally) Worst() Outcome {
	for _, o := range [...]Outcome{Differs, Inconclusive} {
		if t.outcomes[o] > 0 {
			return o
		}
	}
	if t.outcomes[Agrees] == 0 && t.outcomes[Refused] > 0 {
		return Refused
	}
	return Agrees
}

// verdicts says how often which verdict stood beside which, the same ones first.
func (t *tally) verdicts() (list []string) {
	byOrder := func(a, b pair) int { return slices.Compare(a.order(), b.order()) }
	for _, p := range slices.SortedFunc(maps.Keys(t.pairs), byOrder) {
		switch Compare(p.simulated, p.played) {
		case Same:
			list = append(list, fmt.Sprintf("%d %s as simulated", t.pairs[p], p.simulated))
		case ExposedOnce:
			list = append(list, fmt.Sprintf("%d simulated %s, real %s (not the same)", t.pairs[p], p.simulated, p.played))
		case Unknown, Opposite:
			list = append(list, fmt.Sprintf("%d simulated %s, real %s (differs)", t.pairs[p], p.simulated, p.played))
		}
	}
	return list
}

// order is where a pair stands in the totals.
func (p pair) order() []int {
	rank := [...]int{checker.Violated: 0, checker.Held: 1, checker.Vacuous: 2, checker.Undecided: 3, checker.NotJudged: 4}
	return []int{int(Compare(p.simulated, p.played)), rank[p.simulated], rank[p.played]}
}
