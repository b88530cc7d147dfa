package comparison

import (
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/junit"
)

// JUnit writes the cells as an XML file of the form that build servers read: a suite for each lock, a case for each cell. A
// case claims that the property holds. Where it is violated the case has failed, with the command that shows it; a build
// that only some locks or properties may fail compares these alone. Where nothing is shown, for want of danger or
// because it is impossible, the case is skipped, so that nobody counts it as a pass; where the checker came to no verdict,
// it is in error.
func JUnit(w io.Writer, c *compare.Comparison) error {
	doc := junit.Document{Name: "locksim compare"}
	for i := range c.Locks {
		suite := junit.Suite{Name: c.Locks[i].Name}
		for k := range c.Cells {
			if c.Cells[k].Lock == suite.Name {
				suite.Cases = append(suite.Cases, junitCaseOf(&c.Cells[k]))
			}
		}
		doc.Suites = append(doc.Suites, suite)
	}
	if c.Interrupted {
		doc.Suites = append(doc.Suites, junit.Suite{Name: "locksim compare", Cases: []junit.Case{{
			Name: "all runs are played", Class: "locksim.compare", Error: &junit.Problem{
				Message: "the measurement was interrupted", Type: "interrupted",
			},
		}}})
	}
	return doc.Write(w)
}

func junitCaseOf(c *compare.Cell) junit.Case {
	j := junit.Case{
		Name:  c.Property + " under " + c.Faults + ", fencing " + c.Fencing,
		Class: "locksim.compare." + c.Lock,
	}
	if c.Runs > 0 {
		j.Properties = junit.Properties{
			{Name: "runs", Value: strconv.Itoa(c.Runs)}, {Name: "violated", Value: strconv.Itoa(c.Violated)},
			{Name: "in_danger", Value: strconv.Itoa(c.InDanger)}, {Name: "rate_at_least", Value: six(c.Least)},
			{Name: "rate_at_most", Value: six(c.Most)},
		}
	}
	sign := signOf(c)
	switch c.Outcome {
	case compare.Held:
	case compare.Violated:
		kind := c.Kind
		if kind == "" {
			kind = "violated"
		}
		j.Failure = &junit.Problem{Message: kind + ": " + statement(c), Type: kind, Text: shown(c)}
	case compare.Undecided:
		j.Error = &junit.Problem{Message: statement(c), Type: sign.word}
	default:
		j.Skipped = &junit.Problem{Message: strings.TrimSuffix(sign.word+": "+c.Why, ": ")}
	}
	return j
}

// shown is how to see what a cell says.
func shown(c *compare.Cell) string {
	var lines []string
	if c.Example != nil && c.Example.Story != "" {
		lines = append(lines, sentence(c.Example.Story))
	}
	if c.Command != "" {
		lines = append(lines, "See it: "+c.Command)
	}
	return strings.Join(lines, "\n")
}
