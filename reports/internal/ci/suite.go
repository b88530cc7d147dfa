// Package ci sums up very many runs: a [Summary] for readers, a [Suite] for build servers.
package ci

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Suite gathers what build servers are told of many runs, case by case: [Suite.JUnit], [Suite.GitHub], [Suite.StepSummary].
// Like that of a [Summary], its memory does not grow with the number of seeds.
type Suite struct {
	Summary
	// Planned is how many runs there were to be if an interrupt came before all of them were played, else 0.
	Planned int
}

// Complete has one run of each case that was not as expected played again, with its events kept, so that there is a
// picture of it.
func (s *Suite) Complete(play func(model.Run) (model.Run, error)) error {
	for _, c := range s.cases {
		if c.differ == 0 {
			continue
		}
		run, err := play(c.worst.example)
		if err != nil {
			return err
		}
		c.worst.example = run
	}
	return nil
}

// ways names how the scenario of a case was played, without its name.
func (c *tally) ways() string {
	of := &c.first.Case
	parts := []string{of.Style.String() + " clients", "fencing " + of.Fencing.String()}
	if of.Variant != "" {
		parts = append([]string{"variant " + of.Variant}, parts...)
	}
	return strings.Join(parts, ", ")
}

// seeds says with which seeds a case was not as expected.
func (c *tally) seeds() string {
	if c.runs == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d seeds: %s)", c.worst.runs, c.runs, c.worst.named())
}

// line is where a case's file says what was expected otherwise; 0 if the case is of no file.
func (c *tally) line() int {
	if c.worst.example.File == "" {
		return 0
	}
	field := "expect"
	for p := range checker.PropertyCount {
		if c.worst.example.History != nil && model.Differs(&c.worst.example, p) {
			field += "." + p.String()
			break
		}
	}
	return c.worst.example.Case.Scenario.Errorf(field, "").Line
}

// virtual is how long a run lasted in its own time, as "16.0077s".
func virtual(t trace.Instant) string { return wording.Precise(t.Sub(0)) }
