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

// table is a line for each case, and one more for each of its properties of which the real verdict is another one.
type table struct {
	tally
	w io.Writer
}

// NewTable returns a reporter that writes lines of text.
func NewTable(w io.Writer) Reporter { return &table{w: w} }

// Add writes the lines of a case.
func (t *table) Add(r *Result) error {
	t.add(r)
	text := r.Name()
	if r.Outcome == Refused {
		text += fmt.Sprintf(": cannot be staged: %v", r.Refusal)
	} else {
		text += r.compared()
		for i := range r.Attempts {
			text += r.Attempts[i].complaint(i)
		}
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(text, "\n"))
	return err
}

// compared says how the last attempt was played, and what it came to beside the simulation.
func (r *Result) compared() string {
	last := r.last()
	played := fmt.Sprintf(" (speed %g", last.Speed)
	if n := len(r.Attempts); n > 1 {
		played += fmt.Sprintf(", attempt %d", n)
	}
	var same []string
	others := ""
	for _, p := range r.Compared {
		simulated, real := r.Simulated.Verdicts[p], last.Report.Verdicts[p]
		if agreement := r.agreement(last, p); agreement == Same {
			same = append(same, fmt.Sprintf("%s %s", p, real))
		} else {
			others += fmt.Sprintf("    %s: %s: simulated %s, real %s\n", p, agreement, simulated, real)
		}
	}
	if len(same) == 0 {
		return played + "), nothing as simulated\n" + others
	}
	return played + "), as simulated: " + strings.Join(same, ", ") + "\n" + others
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
