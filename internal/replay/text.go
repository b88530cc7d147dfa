package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
)

// Reporter writes the results of cases, each as soon as it is known.
type Reporter interface {
	Add(r *Result) error
	// Close writes the end of the report.
	Close(interrupted bool) error
	// Worst returns the worst outcome so far; a difference is worse than an inconclusive case.
	Worst() Outcome
}

// table is a line for each case, and one for each of its properties.
type table struct {
	tally
	w io.Writer
}

// NewTable returns a reporter that writes lines of text.
func NewTable(w io.Writer) Reporter { return &table{w: w} }

const columns = "    %-25s %-10s %-10s %s\n"

// Add writes the lines of a case.
func (t *table) Add(r *Result) error {
	var b strings.Builder
	if t.outcomes == (tally{}).outcomes {
		fmt.Fprintf(&b, columns, "property", "simulated", "real", "agreement")
	}
	t.add(r)
	if name := r.Name(); r.Outcome == Refused {
		fmt.Fprintf(&b, "%s: cannot be staged: %v\n", name, r.Refusal)
	} else {
		last := r.last()
		fmt.Fprintf(&b, "%s: attempts %d, speed %g\n", name, len(r.Attempts), last.Speed)
		for _, p := range r.Compared {
			fmt.Fprintf(&b, columns, p, r.Simulated.Verdicts[p], last.Report.Verdicts[p], r.agreement(last, p))
		}
		for i := range r.Attempts {
			b.WriteString(r.Attempts[i].complaint(i))
		}
	}
	text := ""
	for line := range strings.Lines(b.String()) {
		text += strings.TrimRight(line, " \n") + "\n"
	}
	_, err := io.WriteString(t.w, text)
	return err
}

// complaint says what was wrong with an attempt; "" if nothing was.
func (a *Attempt) complaint(i int) string {
	switch {
	case a.Invalid != "":
		why, _, _ := strings.Cut(a.Invalid, "\n")
		return fmt.Sprintf("    attempt %d at speed %g says nothing: %s\n", i+1, a.Speed, why)
	case len(a.Differs) > 0:
		text := fmt.Sprintf("    attempt %d at speed %g differs in %s\n", i+1, a.Speed, names(a.Differs))
		for _, v := range a.Report.Violations {
			if slices.Contains(a.Differs, v.Property) {
				text += "        " + v.Text + "\n"
			}
		}
		return text
	default:
		return ""
	}
}

func names(list []checker.Property) string {
	var words []string
	for _, p := range list {
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}

// Close writes how many cases agree, and how.
func (t *table) Close(interrupted bool) error {
	n := &t.outcomes
	text := "\n"
	if list := t.verdicts(); len(list) > 0 {
		text += "verdicts: " + strings.Join(list, ", ") + "\n"
	}
	text += fmt.Sprintf("%d of %d cases agree, %d differ, %d say nothing, in %d attempts; %d cannot be staged\n", n[Agrees],
		n[Agrees]+n[Differs]+n[Inconclusive], n[Differs], n[Inconclusive], t.attempts, n[Refused])
	if interrupted {
		text += "interrupted\n"
	}
	_, err := io.WriteString(t.w, text)
	return err
}

// Name returns the name of a case: the scenario, its variant, style and fencing mode.
func (r *Result) Name() string {
	words := []string{r.Case.Scenario.Name}
	if r.Case.Variant != "" {
		words = append(words, r.Case.Variant)
	}
	if len(r.Case.Scenario.Styles) > 0 {
		words = append(words, r.Case.Style.String())
	}
	if len(r.Case.Scenario.Resource.Fencing) > 0 {
		words = append(words, r.Case.Fencing.String())
	}
	return strings.Join(words, " ")
}
