package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/scenarios"
)

// Trial is a scenario that was played: the user's, with some changes, or another one.
type Trial struct {
	File    string // as a command names it
	Text    []byte // of a scenario that is not the user's; nil: the user's
	Changes []scenarios.Change
	Lock    string
	Seeds   search.Seeds
	Cases   []Case // by the variants of the scenario
	_       struct{}
}

// Case is what came of one variant of a trial.
type Case struct {
	Variant string
	Counts  [checker.PropertyCount]measure.Counts
	First   [checker.PropertyCount]uint64 // the first seed that violates the property, if any does
	Played  measure.Played
}

// Command is the command line that plays the trial again, with the same seeds.
func (t *Trial) Command() string {
	return t.command("") + fmt.Sprintf(" --seeds %d", t.Seeds.Count)
}

// Replay is the command line that shows the first run of a case that violates the property.
func (t *Trial) Replay(c *Case, p checker.Property) string {
	return t.command(c.Variant) + fmt.Sprintf(" --seed %#x", c.First[p])
}

// Show is the command line that plays the first run of a case.
func (t *Trial) Show(c *Case) string { return t.command(c.Variant) }

func (t *Trial) command(variant string) string {
	words := []string{"locksim run", word(t.File)}
	for _, c := range t.Changes {
		words = append(words, "--set", word(c.String()))
	}
	if variant != "" {
		words = append(words, "--variant", variant)
	}
	return strings.Join(words, " ")
}

// word is a word of a command line, in quotes if a shell would split it.
func word(text string) string {
	if strings.ContainsAny(text, " {}[]()*?$&;|<>\"`\\#~!\t") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// violated reports whether a property was violated in a case.
func (c *Case) violated(p checker.Property) bool { return c.Counts[p].Violated > 0 }

// enoughHits is in how many runs a property has to be violated for it to mean something that a change violates it in none of as many:
// if the change made no difference, these runs would all be on the one side with a probability of at most 1/32 (Fisher's exact test).
const enoughHits = 5

// Seldom reports whether a property was violated in so few runs that a change cannot be said to help against it.
func (c *Case) Seldom(p checker.Property) bool {
	return c.Counts[p].Violated > 0 && c.Counts[p].Violated < enoughHits
}

// unknown reports whether it cannot be told whether a property was violated in some runs of a case.
func (c *Case) unknown(p checker.Property) bool { return c.Counts[p].Undecided > 0 }

// Exposed reports whether mutual exclusion or the resource was at risk in any run: whether anything follows from a case in which neither
// was violated.
func (c *Case) Exposed() bool {
	return c.Counts[checker.MutualExclusion].InDanger+c.Counts[checker.Resource].InDanger > 0
}

// Violated reports whether any property was violated.
func (t *Trial) Violated() bool {
	return t.any(func(c *Case, p checker.Property) bool { return c.violated(p) })
}

// Unexposed lists the variants of which no run was exposed, so that nothing follows from them.
func (t *Trial) Unexposed() (variants []string) {
	for i := range t.Cases {
		if c := &t.Cases[i]; !c.Exposed() {
			variants = append(variants, c.Variant)
		}
	}
	return variants
}

// Unknown reports whether it cannot be told of some runs whether they violate a property.
func (t *Trial) Unknown() bool {
	return t.any(func(c *Case, p checker.Property) bool { return c.unknown(p) })
}

func (t *Trial) any(is func(*Case, checker.Property) bool) bool {
	for i := range t.Cases {
		for p := range checker.PropertyCount {
			if is(&t.Cases[i], p) {
				return true
			}
		}
	}
	return false
}

// At returns the case of a variant; nil if there is none.
func (t *Trial) At(variant string) *Case {
	i := slices.IndexFunc(t.Cases, func(c Case) bool { return c.Variant == variant })
	if i < 0 {
		return nil
	}
	return &t.Cases[i]
}

// Median is the median of a measure in a case; false if no run had a value.
func (c *Case) Median(name string) (int64, bool) {
	d, ok := c.Played.Measure(name)
	if !ok {
		return 0, false
	}
	return d.Quantile(0.5), true
}

// most is the largest value of a measure in a case; 0 if no run had a value.
func (c *Case) most(name string) int64 {
	d, ok := c.Played.Measure(name)
	if !ok {
		return 0
	}
	return d.Max
}

// happened reports whether each fault of a case happened in every run.
func (c *Case) happened() bool {
	return !slices.ContainsFunc(c.Played.Faults, func(f measure.Happened) bool { return f.Runs < c.Played.Runs })
}

// Waits reports whether in some run of a case a client still waited for the lock when the run ended.
func (c *Case) Waits() bool { return c.most("unfinished-waits") > 0 }

// player plays trials.
type player struct {
	ctx    context.Context
	plan   *Plan
	called string // the user's scenario, in errors
	known  map[string]*Trial
}

// first is with how many seeds a trial begins. Most that violate something do so in the first few runs.
const first = 8

// play plays the user's scenario with some changes, or another scenario if its text is given. The trial ends early with the first runs
// that violate a property for which it is to stop; nil: it is played with all seeds.
func (p *player) play(file string, text []byte, changes []scenarios.Change, seeds int, stop func(*Trial) bool) (*Trial, error) {
	if text == nil {
		changes = over(p.plan.Set, changes)
	}
	key := fmt.Sprint(file, "\x00", changes, seeds)
	if t := p.known[key]; t != nil {
		return t, nil
	}
	t := &Trial{File: file, Text: text, Changes: changes}
	whole := text
	if whole == nil {
		whole = p.plan.Text
	}
	s, err := scenarios.Parse(p.called, whole, changes...)
	if err != nil {
		return nil, err
	}
	t.Lock = s.Lock.Algorithm
	plans, err := p.compile(s)
	if err != nil {
		return nil, err
	}
	steps := []int{seeds}
	if stop != nil && seeds > first {
		steps = []int{first, seeds - first}
	}
	var table *measure.Table
	from := s.Seed
	for _, n := range steps {
		next, err := measure.Measure(p.ctx, measure.Plan{
			Settings: []measure.Setting{{Plans: plans}}, Properties: all(), Draws: search.Seeds{First: from, Count: n}, Jobs: p.plan.Jobs,
		}, nil)
		if err != nil {
			return nil, err
		}
		if table == nil {
			table = next
		} else if err := table.Add(next); err != nil {
			return nil, err
		}
		from += uint64(n)
		if t.take(table, plans); stop != nil && stop(t) {
			return t, nil
		}
	}
	p.known[key] = t
	return t, nil
}

// over are changes of a scenario, some of which take the place of earlier ones.
func over(earlier, later []scenarios.Change) []scenarios.Change {
	list := slices.DeleteFunc(slices.Clone(earlier), func(c scenarios.Change) bool {
		return slices.ContainsFunc(later, func(d scenarios.Change) bool { return d.Path == c.Path })
	})
	return append(list, later...)
}

// compile prepares each variant of a scenario, which is to be played in one style and one fencing mode.
func (p *player) compile(s *scenarios.Scenario) ([]*harness.Plan, error) {
	var plans []*harness.Plan
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, harness.Options{Locks: p.plan.Locks})
		if err != nil {
			return nil, err
		}
		if len(plans) > 0 && plans[len(plans)-1].Case.Variant == c.Variant {
			return nil, fmt.Errorf("%s is played in several styles or fencing modes, but advice is for one of each: want --style and --fencing", p.called)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

func all() []checker.Property {
	list := make([]checker.Property, checker.PropertyCount)
	for i := range list {
		list[i] = checker.Property(i)
	}
	return list
}

// take enters what was measured.
func (t *Trial) take(table *measure.Table, plans []*harness.Plan) {
	t.Seeds = table.Plan.Draws
	t.Cases = t.Cases[:0]
	for i, plan := range plans {
		c := Case{Variant: plan.Case.Variant, Played: table.Played[i]}
		for k := range table.Cells {
			if cell := &table.Cells[k]; cell.Schedules == i {
				c.Counts[cell.Property], c.First[cell.Property] = cell.Counts, cell.First
			}
		}
		t.Cases = append(t.Cases, c)
	}
}

// change sets a duration.
func change(path string, d time.Duration) scenarios.Change {
	return scenarios.Change{Path: path, Value: brief(d)}
}
