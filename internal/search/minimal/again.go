package minimal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// ErrVaries says that a program's runs of one schedule do not show again the violation that one of them has shown.
var ErrVaries = errors.New("the program's runs of one schedule differ")

// VariedRuns is how many runs are played at most to make a violation small of a program whose runs vary and are slow; a few
// more are played to see whether it shows again, and whose promise was broken.
const VariedRuns = 20

// Again says how runs of one schedule of a program compare.
type Again struct {
	search.Sameness
	Shown  int    // of these, how many show the violation
	Output string // what the programs wrote in the run that is shown: the first lines of each, and the last of one that ended itself
	_      struct{}
}

// Sentence says how many runs of a schedule show its violation, for a reader.
func (a *Again) Sentence() string {
	return fmt.Sprintf("seen in %d of %d runs of this schedule, %s", a.Shown, a.Runs, &a.Sameness)
}

// Repeat plays a counterexample of a program whose runs vary several times, and returns the first run that shows the violation
// with its events, the last one if none does. What came of it is in c.Again.
func (c *Counterexample) Repeat(r *harness.Runner) (harness.Result, error) {
	plan, err := harness.Compile(c.Case, c.Options)
	if err != nil {
		return harness.Result{}, err
	}
	*c.Again = Again{}
	var shown harness.Result
	for range search.Repeats {
		result, err := r.Run(plan, c.Seed, true)
		if err != nil {
			return result, err
		}
		v := search.FirstOf(c.Property, &result.Report)
		shows := v != nil && v.Kind == c.Kind
		if c.Again.Shown == 0 {
			shown = result
		}
		if shows {
			c.Again.Shown++
		}
		c.Again.Add(&result)
	}
	c.Digest, c.Again.Output = shown.Digest, output(shown.History)
	return shown, nil
}

// output is what programs wrote in a run, line by line.
func output(h *history.History) string {
	var b strings.Builder
	for _, n := range h.Notes {
		if line, ok := strings.CutPrefix(n.Text, harness.Writes); ok {
			fmt.Fprintf(&b, "%s at %s: %s\n", n.Node, n.At, line)
		}
	}
	for i := range h.Exits {
		if x := &h.Exits[i]; x.Output != "" {
			fmt.Fprintf(&b, "%s %s; the end of what it wrote:\n%s\n", x.Client, x.Text, x.Output)
		}
	}
	return b.String()
}

// playAgain plays a scenario that is known to show the violation: of a program whose runs vary, until one of a few does.
func (r *reducer) playAgain(s *scenarios.Scenario) (seen sighting, ok bool) {
	for n := 0; !ok && (n == 0 || r.varies && n < search.Repeats) && !r.cut; n++ {
		seen, ok = r.play(s)
	}
	return seen, ok
}

// thinOut takes out faults and clients, and nothing else: each attempt is a slow run.
func (r *reducer) thinOut() {
	r.thinFaults(r.try)
	for _, c := range slices.Clone(r.now.Clients) {
		r.try(func(s *scenarios.Scenario) bool {
			i := slices.IndexFunc(s.Clients, func(x scenarios.Client) bool { return x.Name == c.Name })
			return i >= 0 && dropClient(s, i)
		})
	}
}
