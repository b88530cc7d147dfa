package odds

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
)

// Estimation is what an estimate comes to.
type Estimation struct {
	Of    [len(Properties)]Odds // of each property, for one acquisition
	Parts []Part                // what makes it up, the largest first
	Left  float64               // the probability of all that was left out; it is part of the intervals
	Runs  int
	// Complete says that no interrupt ended it.
	Complete bool
	// Unknown is how many samples have runs of which nothing can be said; they count as if nothing had happened.
	Unknown int
	_       struct{}

	e *estimator
}

// Part is a combination of rare events.
type Part struct {
	Text     string  // which events
	Decides  string  // whose length decides; "" if none does
	Chance   float64 // of the combination
	Samples  int
	Of       [len(Properties)]Odds
	Violated [len(Properties)]int     // in how many samples
	Unseen   [len(Properties)]float64 // how likely a violation in it may be if none was seen; 0 if one was
	Checked  int                      // longer lengths than the shortest that violates that were tried
	Missed   int                      // of them, those that did not violate
	Below    int                      // shorter ones that did
	part     *part
}

// Calm reports whether nothing rare happens in a part. Its work may be as long as the profile allows.
func (p *Part) Calm() bool { return p.part.stratum.calm() }

// estimation sums the parts up.
func (e *estimator) estimation() *Estimation {
	r := &Estimation{Left: e.left, Runs: e.runs, e: e}
	for _, x := range e.parts {
		p := Part{Text: e.model.text(x.stratum), Chance: x.chance, Samples: len(x.samples), part: x}
		switch {
		case x.decides == byWork:
			p.Decides = "work of " + e.model.Holder
		case x.decides >= 0:
			p.Decides = e.model.Hazards[x.decides].Name
		}
		for i := range Properties {
			p.Of[i] = x.interval(i, e.plan.Confidence)
			x.count(&p, i)
			if p.Violated[i] == 0 {
				p.Unseen[i] = p.Chance * measure.Interval(0, p.Samples, e.plan.Confidence).Most
			}
		}
		for k := range x.samples {
			if x.samples[k].unknown {
				r.Unknown++
			}
		}
		r.Parts = append(r.Parts, p)
	}
	slices.SortStableFunc(r.Parts, func(a, b Part) int {
		return largerFirst(a.Of[0].Estimate+a.Of[1].Estimate, b.Of[0].Estimate+b.Of[1].Estimate)
	})
	for i := range Properties {
		var list []Odds
		for k := range r.Parts {
			list = append(list, r.Parts[k].Of[i])
		}
		r.Of[i] = sum(list)
		o := &r.Of[i]
		// Weighted samples may come to more than any probability can be.
		o.Estimate, o.Least, o.Most = min(1, o.Estimate), min(1, o.Least), min(1, o.Most+e.left)
	}
	return r
}

func largerFirst(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// count counts what samples say of a property.
func (x *part) count(p *Part, i int) {
	for k := range x.samples {
		s := &x.samples[k]
		for _, c := range []struct {
			is bool
			n  *int
		}{{s.values[i] > 0, &p.Violated[i]}, {s.checked[i], &p.Checked}, {s.missed[i], &p.Missed}, {s.below[i], &p.Below}} {
			if c.is {
				*c.n++
			}
		}
	}
}

// Example is the likeliest violation of a property that was seen in a part; false if none was. It is played again.
func (r *Estimation) Example(runner *harness.Runner, p *Part, property int) (search.Violation, bool, error) {
	best, at := 0.0, -1
	for k := range p.part.samples {
		if s := &p.part.samples[k]; s.values[property] > best && !s.missed[property] && (p.part.decides == none || s.breaks[property] > 0) {
			best, at = s.values[property], k
		}
	}
	if at < 0 {
		return search.Violation{}, false, nil
	}
	s := &p.part.samples[at]
	v := search.Violation{Case: r.e.model.Case, Seed: s.draw.seed, Property: Properties[property], Options: r.e.model.Options}
	v.Case.Scenario = r.e.scenario(s.draw, s.breaks[property])
	plan, err := harness.Compile(v.Case, v.Options)
	if err != nil {
		return v, false, err
	}
	result, err := runner.Run(plan, v.Seed, false)
	if err != nil {
		return v, false, err
	}
	x := search.FirstOf(v.Property, &result.Report)
	if x == nil {
		return v, false, fmt.Errorf("%s is not violated again by\n%s", v.Property, v.Case.Scenario.YAML())
	}
	v.Kind = x.Kind
	return v, true, nil
}
