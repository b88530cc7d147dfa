package compare

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

// Check plays a part of a published comparison again: the first runs of each cell, which must come to what the cell says of
// them, and the examples, whose files it reads by their names, and which must have the digests that are written down. The
// error names what came to something else.
func Check(ctx context.Context, published *Comparison, example func(name string) ([]byte, error), jobs int) error {
	p, err := planOf(published)
	if err != nil {
		return err
	}
	p.Draws.Count, p.Jobs = min(p.Draws.Count, sampleOf(p.Locks)), jobs
	c := &comparer{ctx: ctx, plan: p, told: func(string, int, int) {}, columns: chosenColumns(p.Faults), late: map[*Cell]bool{}}
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.measure(); err != nil {
		return err
	}
	now := c.out.Comparison
	return errors.Join(
		compareSamples(published.Cells, now.Cells), compareSamples(published.Guarded, now.Guarded),
		checkExamples(ctx, slices.Concat(published.Cells, published.Guarded), example, jobs),
	)
}

// planOf is what a comparison was made by, as far as it says.
func planOf(c *Comparison) (Plan, error) {
	p := Plan{
		Faults: c.Faults, Draws: search.Seeds{First: c.First, Count: c.Runs}, Confidence: c.Confidence,
	}
	var ok bool
	if p.Style, ok = history.ParseStyle(c.Style); !ok {
		return p, fmt.Errorf("there is no style %q", c.Style)
	}
	for _, name := range c.Fencing {
		mode, ok := history.ParseFencing(name)
		if !ok {
			return p, fmt.Errorf("there is no fencing mode %q", name)
		}
		p.Fencing = append(p.Fencing, mode)
	}
	for i := range c.Locks {
		lock, ok := locks.Find(c.Locks[i].Name)
		if !ok {
			return p, fmt.Errorf("there is no lock %q", c.Locks[i].Name)
		}
		p.Locks = append(p.Locks, lock)
	}
	judged := map[string]bool{}
	for i := range c.Cells {
		judged[c.Cells[i].Property] = true
	}
	for property := range checker.PropertyCount {
		if judged[property.String()] {
			p.Properties = append(p.Properties, property)
		}
	}
	return p, nil
}

// compareSamples holds the first runs of all cells against what they came to now.
func compareSamples(published, now []Cell) error {
	if len(published) != len(now) {
		return fmt.Errorf("there are %d cells, and would now be %d", len(published), len(now))
	}
	for i := range published {
		was, is := &published[i], &now[i]
		switch {
		case was.Lock != is.Lock || was.Faults != is.Faults || was.Fencing != is.Fencing || was.Property != is.Property:
			return fmt.Errorf("where %s stands now stands %s", was.where(), is.where())
		case (was.Outcome == Impossible) != (is.Outcome == Impossible):
			return fmt.Errorf("%s is %s, and would now be %s", was.where(), was.Outcome, is.Outcome)
		case was.Sample != nil && is.Sample != nil && *was.Sample != *is.Sample:
			return fmt.Errorf("%s: its first runs came to %+v, and come to %+v now", was.where(), *was.Sample, *is.Sample)
		}
	}
	return nil
}

// where names a cell.
func (c *Cell) where() string {
	return fmt.Sprintf("%s of %s under %s, fencing %s", c.Property, c.Lock, c.Faults, c.Fencing)
}

// checkExamples plays the examples of all cells, each in the cell's mode.
func checkExamples(ctx context.Context, cells []Cell, read func(name string) ([]byte, error), jobs int) error {
	var plays iter.Seq[func(*harness.Runner) error] = func(yield func(func(*harness.Runner) error) bool) {
		for i := range cells {
			cell := &cells[i]
			if cell.Example != nil && !yield(func(r *harness.Runner) error { return cell.checkExample(r, read) }) {
				return
			}
		}
	}
	return search.InOrder(ctx, jobs, plays, func(err error) error { return err })
}

// checkExample plays the example of a cell.
func (c *Cell) checkExample(r *harness.Runner, read func(name string) ([]byte, error)) error {
	text, err := read(c.Example.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", c.where(), err)
	}
	s, err := scenarios.Parse(c.Example.Name+".yaml", text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.where(), err)
	}
	mode, _ := history.ParseFencing(c.Fencing)
	plan, err := harness.Compile(scenarios.Case{Scenario: s, Style: s.Styles[0], Fencing: mode}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", c.where(), err)
	}
	result, err := r.Run(plan, s.Seed, false)
	if err != nil {
		return fmt.Errorf("%s: %w", c.where(), err)
	}
	if digest := fmt.Sprintf("%#x", result.Digest); digest != c.Example.Digest {
		return fmt.Errorf("%s: its example has the digest %s, and not %s as it is written", c.where(), digest, c.Example.Digest)
	}
	if verdict := result.Report.Verdicts[propertyOf(c)]; verdict != checker.Violated {
		return fmt.Errorf("%s: it is %s in its example", c.where(), verdict)
	}
	return nil
}
