package ci

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/text"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
)

// Showing says whether a version of a library shows the defect that a scenario is about.
type Showing uint8

// What a version can show, in order of weight: of several runs the weightiest counts.
const (
	NotBuilt Showing = iota // it could not be built
	NotShown                // the faults happened, and what the scenario expects to be violated held
	Unclear                 // neither: a fault never happened, nothing was exposed, or only a part is as expected
	Shown                   // the faults happened, and all is violated that the scenario expects to be
)

// String returns the name that reports use.
func (s Showing) String() string {
	return []string{"not built", "not shown", "inconclusive", "shown"}[s]
}

// Finding is the defect that a case of a scenario is about, in several versions of a library.
type Finding struct {
	Case     scenarios.Case
	Versions []VersionResult // in the order in which they were played
}

// VersionResult is what came of one version, with the reason if that is neither [Shown] nor [NotShown].
type VersionResult struct {
	Version string
	Showing Showing
	Why     string
}

// HasDefect reports whether a case of a scenario is about a defect: it expects that a property is violated or, if no case of the
// scenario does, that a measured value is at least so much.
func HasDefect(s *scenarios.Scenario, c scenarios.Case) bool {
	violates := func(c scenarios.Case) bool { return len(violations(c)) > 0 }
	if slices.ContainsFunc(s.Cases(), violates) {
		return violates(c)
	}
	return slices.ContainsFunc(c.Scenario.Measures, isLeast)
}

// violations are the properties that a case expects to be violated.
func violations(c scenarios.Case) (list []checker.Property) {
	for p := range checker.PropertyCount {
		if want, ok := c.Expected(p); ok && want == checker.Violated {
			list = append(list, p)
		}
	}
	return list
}

// isLeast reports whether a measured value is to be at least so much.
func isLeast(m scenarios.MeasureBound) bool { return m.Min != nil && *m.Min > 0 }

// Add counts a run of a version.
func (f *Finding) Add(version string, r *model.Run) {
	s, why := showing(r)
	n := len(f.Versions) - 1
	if n < 0 || f.Versions[n].Version != version {
		f.Versions = append(f.Versions, VersionResult{version, s, why})
	} else if f.Versions[n].Showing < s {
		f.Versions[n] = VersionResult{version, s, why}
	}
}

// AddNotBuilt notes that a version could not be built.
func (f *Finding) AddNotBuilt(version string, err error) {
	why, _, _ := strings.Cut(err.Error(), "\n")
	f.Versions = append(f.Versions, VersionResult{version, NotBuilt, why})
}

// showing says whether a run shows the defect that its case is about, and if neither can be said, why.
func showing(r *model.Run) (Showing, string) {
	if unknown := r.Unknown(); len(unknown) > 0 {
		return Unclear, strings.Join(unknown, "; ")
	}
	for i := range r.History.Faults {
		if f := &r.History.Faults[i]; !f.Fired {
			return Unclear, "never happened: " + f.Text
		}
	}
	as, exposed := false, false
	var others []string
	for _, p := range violations(r.Case) {
		got := r.Report.Verdicts[p]
		if got == checker.Violated {
			as = true
			continue
		}
		exposed = exposed || got.Meets(checker.Held)
		others = append(others, fmt.Sprintf("%s is %s", p, got))
	}
	for _, b := range r.Case.Scenario.Measures {
		if !isLeast(b) {
			continue
		}
		i := slices.IndexFunc(r.Report.Measures, func(m checker.Measure) bool { return m.Name == b.Name })
		if i >= 0 && r.Report.Measures[i].Value >= *b.Min {
			as = true
			continue
		}
		if exposed = exposed || i >= 0; i < 0 {
			others = append(others, b.Name+" was not measured")
		} else {
			others = append(others, b.Name+" is less than expected")
		}
	}
	switch {
	case len(others) == 0:
		return Shown, ""
	case !as && exposed:
		return NotShown, ""
	}
	return Unclear, strings.Join(others, ", ")
}

// Spans lists the versions with a result, with those that follow one another as a span, and the reason behind them if there is one.
func (f *Finding) Spans(of Showing) []string {
	var list []string
	for i := 0; i < len(f.Versions); i++ {
		first := f.Versions[i]
		if first.Showing != of {
			continue
		}
		n := 1
		for i+n < len(f.Versions) && f.Versions[i+n].Showing == of && f.Versions[i+n].Why == first.Why {
			n++
		}
		i += n - 1
		span := first.Version
		switch last := f.Versions[i].Version; {
		case n == 2:
			span += ", " + last
		case n > 2:
			span += " to " + last
		}
		if first.Why != "" {
			span += " (" + wording.Visible(first.Why) + ")"
		}
		list = append(list, span)
	}
	return list
}

// WriteFindings prints for each defect which versions show it.
func WriteFindings(w io.Writer, list []*Finding, o text.Options) error {
	t := text.New(o)
	for i, f := range list {
		if i > 0 {
			t.Line("")
		}
		name := f.Case.Scenario.Name
		if f.Case.Variant != "" {
			name += " --variant " + f.Case.Variant
		}
		t.Line(t.Ink(paint.Strong, wording.Visible(name)))
		for _, of := range []Showing{Shown, NotShown, Unclear, NotBuilt} {
			if spans := f.Spans(of); len(spans) > 0 {
				t.Item(wording.Pad(of.String(), len("inconclusive")), strings.Join(spans, ", "), paint.Plain)
			}
		}
	}
	return t.Flush(w)
}
