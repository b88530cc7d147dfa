package ci

import (
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/junit"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/text"
	"github.com/locksim/locksim/reports/internal/wording"
)

// JUnit writes a suite as an XML file of the form that build servers read: a test suite for each scenario, a test case for
// each way to play it. A case that was not as expected has failed, one that is inconclusive is in error. Virtual time is a
// property of its own.
func (s *Suite) JUnit(w io.Writer) error {
	doc := junit.Document{Name: "locksim"}
	for _, c := range s.cases {
		name := s.name(c)
		if n := len(doc.Suites); n == 0 || doc.Suites[n-1].Name != name {
			doc.Suites = append(doc.Suites, junit.Suite{Name: name, File: c.first.File})
		}
		last := &doc.Suites[len(doc.Suites)-1]
		last.Cases = append(last.Cases, junitCaseOf(name, c))
	}
	if s.Planned > 0 {
		doc.Suites = append(doc.Suites, junit.Suite{Name: "locksim", Cases: []junit.Case{{
			Name: "all runs are played", Class: "locksim", Error: &junit.Problem{
				Message: strconv.Itoa(s.runs) + " of " + wording.Counted(s.Planned, "run") + " played", Type: "interrupted",
			},
		}}})
	}
	return doc.Write(w)
}

func junitCaseOf(scenario string, c *tally) junit.Case {
	j := junit.Case{Name: c.ways(), Class: "locksim." + scenario, File: c.first.File, Line: c.line()}
	add := func(name, value string) {
		if value != "" {
			j.Properties = append(j.Properties, junit.Property{Name: name, Value: value})
		}
	}
	shown := &c.first
	if c.differ > 0 {
		shown = &c.worst.example
	}
	add("scenario", c.first.Case.Scenario.Name)
	add("variant", c.first.Case.Variant)
	add("lock", c.first.Lock)
	add("style", c.first.Case.Style.String())
	add("fencing", c.first.Case.Fencing.String())
	add("seed", wording.Hex(shown.Seed))
	add("runs", strconv.Itoa(c.runs))
	for p := range checker.PropertyCount {
		if c.counts[p][checker.NotJudged] < c.runs {
			add(p.String(), c.found(p))
		}
	}
	if shown.History != nil {
		add("virtual-time", virtual(shown.Virtual))
	}
	problem := &junit.Problem{Message: c.worst.reason + c.seeds(), Drawing: junit.Drawing("\n" + text.Sketch(shown))}
	switch c.status {
	case model.Unexpected:
		problem.Type = "unexpected"
		j.Failure = problem
	case model.Inconclusive:
		problem.Type = "inconclusive"
		j.Error = problem
	case model.AsExpected:
	}
	return j
}

// found is the verdict on a property, or how often it was which.
func (c *tally) found(p checker.Property) string {
	var parts []string
	for v, n := range c.counts[p] {
		switch n {
		case 0:
		case c.runs:
			return checker.Verdict(v).String()
		default:
			parts = append(parts, checker.Verdict(v).String()+" "+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}
