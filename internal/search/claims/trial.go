package claims

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// Trial is one scenario that was drawn for a claim and played.
type Trial struct {
	Scenario *scenarios.Scenario
	Case     scenarios.Case  // the one that decided, of those in which it was to be played
	Verdict  checker.Verdict // Violated or Undecided if any case was, else Held if any was, else what all were
	InDanger bool            // the claim was at risk in some case
	Kind     string          // how the property was violated, in a word or two
	Text     string          // how the property was violated, or why nothing can be said
	Steps    int
	_        struct{}
}

// Try draws a scenario for the claim and plays it in all of its cases.
func (c *Claim) Try(r *harness.Runner, s search.Source, o harness.Options) Trial {
	return try([]*Claim{c}, r, s, o)[0]
}

// try is Try for several claims of one fault model, which need one scenario only.
func try(claims []*Claim, r *harness.Runner, s search.Source, o harness.Options) []Trial {
	return playAll(claims, r, search.Generate(s, claims[0].Model), o)
}

// playAll plays a scenario in all of its cases, and says what that shows of each claim.
func playAll(claims []*Claim, r *harness.Runner, scenario *scenarios.Scenario, o harness.Options) []Trial {
	trials := make([]Trial, len(claims))
	for i := range trials {
		trials[i] = Trial{Scenario: scenario, Verdict: checker.NotJudged}
	}
	search.Play(r, scenario, o, func(way scenarios.Case, result *harness.Result, err error) bool {
		for i, c := range claims {
			if !trials[i].decided() {
				trials[i].take(c, way, result, err)
			}
		}
		return slices.ContainsFunc(trials, func(t Trial) bool { return !t.decided() })
	})
	return trials
}

// decided reports whether nothing more needs to be known.
func (t *Trial) decided() bool {
	return t.Verdict == checker.Violated || t.Verdict == checker.Undecided
}

// take notes what a run says of the claim.
func (t *Trial) take(c *Claim, way scenarios.Case, result *harness.Result, failure error) {
	t.Case = way
	if failure != nil {
		t.Verdict, t.Text = checker.Undecided, failure.Error()
		return
	}
	t.Steps += result.Steps
	t.InDanger = t.InDanger || inDanger(c.Property, way.Fencing, &result.Report)
	verdict := result.Report.Verdicts[c.Property]
	broken := c.Forgives.First(c.Property, result.History, &result.Report)
	if verdict == checker.Violated && broken == nil {
		verdict = checker.Held
	}
	switch {
	case verdict == checker.Violated:
		t.Verdict = verdict
		t.Kind, t.Text = broken.Kind, broken.Kind+": "+broken.Text
	case verdict == checker.Undecided:
		t.Verdict, t.Text = verdict, result.Report.Reasons[c.Property]
	case t.Verdict != checker.Held:
		t.Verdict = verdict
	}
}

// Story returns the trial's scenario as one that expects the claim to hold, in the case that decided: a file to show, to
// play again and to keep.
func (t *Trial) Story(c *Claim) *scenarios.Scenario {
	s := *t.Scenario
	s.Name, s.Title, s.Claims, s.Finding = c.Name, "A scenario drawn for the claim "+c.Name, c.Why, t.Text
	s.Styles = []history.Style{t.Case.Style}
	s.Resource.Fencing = []history.Fencing{t.Case.Fencing}
	s.Expect = scenarios.Expect{{Property: c.Property, Verdict: checker.Held}}
	return &s
}

// Violation is how the trial broke the claim, for package minimal; it did so if the verdict is Violated.
func (t *Trial) Violation(c *Claim) search.Violation {
	return search.Violation{Case: t.Case, Seed: t.Scenario.Seed, Property: c.Property, Kind: t.Kind}
}

// inDanger reports whether a run put a property at risk, given how the resource defended itself. One that takes every
// access is at risk whenever its lock is: an access that came too late would not be the danger, it would be the damage.
func inDanger(p checker.Property, fencing history.Fencing, r *checker.Report) bool {
	if p == checker.Resource && fencing == history.Unfenced {
		return r.Dangers[checker.MutualExclusion] > 0
	}
	return r.Dangers[p] > 0
}
