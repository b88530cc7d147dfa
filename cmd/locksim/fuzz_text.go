package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/reports"
)

// Limits of the report: causes that are described, further findings that are listed for each, and further causes that are
// listed by title. The others are in the saved files only.
const (
	mostCauses = 12
	mostAlso   = 6
	mostTitles = 20
)

// text prints what was found, cause by cause, and then for each property whether it was violated, and how often it
// could have been.
func (r *campaignResult) text(w io.Writer, o reports.TextOptions) error {
	for _, group := range r.causes[:min(len(r.causes), mostCauses)] {
		if err := r.showCause(w, group, o); err != nil {
			return err
		}
	}
	r.nameCauses(w, r.causes[min(len(r.causes), mostCauses):])
	if u := r.undecided; u != nil {
		fmt.Fprintf(w, "inconclusive: %s, the first is run %d, since %s\n  %s\n\n",
			counted(u.Runs, "run"), u.First, reports.Visible(u.Why), r.toRun(u.Scenario))
	}
	if fatal := r.tally.Fatal; len(fatal) > 0 {
		fmt.Fprintf(w, "left out: %s that ended the process twice, the first is run %d\n  %s\n\n", counted(len(fatal), "run"), fatal[0], r.command(fatal[0]))
	}
	if r.tally.Runs == 0 {
		_, err := fmt.Fprintf(w, "0 runs of %s: no result\n", r.subject())
		return err
	}
	fmt.Fprintf(w, "%s of %s\n", counted(r.tally.Runs, "run"), r.subject())
	for _, p := range r.campaign.Config.Properties {
		fmt.Fprintf(w, "  %-21s %s\n", p, r.outcome(p))
	}
	atRisk := make([]int, checker.PropertyCount)
	for p := range checker.PropertyCount {
		atRisk[p] = r.tally.Properties[p].AtRisk
	}
	if text := neverText(r.neverDrawn, r.campaign.Config.Properties, atRisk); text != "" {
		fmt.Fprintf(w, "  %s\n", text)
	}
	r.showMixed(w)
	r.showLeft(w)
	return nil
}

// showMixed says which findings need clients with different locks, or one lock with different settings, rather than one of them
// alone.
func (r *campaignResult) showMixed(w io.Writer) {
	if base := r.campaign.Config.Base; len(r.campaign.Config.Beside) == 0 && (base == nil || len(base.Locks()) < 2) {
		return
	}
	var files []string
	for i := range r.findings {
		if len(r.findings[i].Counterexample.Scenario.Locks()) > 1 {
			files = append(files, r.findings[i].shown.file)
		}
	}
	switch {
	case len(files) > 0:
		fmt.Fprintf(w, "  %d of %s clients with different locks; the others happen with one of the locks alone:\n    %s\n",
			len(files), plural(len(r.findings), "finding needs", "findings need"), strings.Join(files, "\n    "))
	case len(r.findings) > 0:
		fmt.Fprintln(w, "  no finding needs clients with different locks: each happens with one of the locks alone")
	}
}

// neverText says which kinds of faults were never drawn, and which properties were exposed in no run; "" if there are none.
func neverText(neverDrawn []search.Kind, of []checker.Property, atRisk []int) string {
	var parts, properties []string
	if len(neverDrawn) > 0 {
		parts = append(parts, "never drawn: "+strings.Join(search.Names(neverDrawn), ", "))
	}
	for _, p := range of {
		if atRisk[p] == 0 {
			properties = append(properties, p.String())
		}
	}
	if len(properties) > 0 {
		parts = append(parts, "never exposed: "+strings.Join(properties, ", "))
	}
	return strings.Join(parts, "; ")
}

// mostLeft is how many hits that were not minimized are listed.
const mostLeft = 20

// showLeft lists the hits that were not minimized.
func (r *campaignResult) showLeft(w io.Writer) {
	cores := r.left.Cores
	if len(cores) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s not minimized (in %s of similar ones): they may have these causes, or others; --minimize-all minimizes them\n",
		plural(r.left.Hits, "hit was", "hits were"), counted(len(cores), "group"))
	for _, x := range cores[:min(len(cores), mostLeft)] {
		fmt.Fprintf(w, "    %s, %s: run %d (%s)\n      %s\n", x.Property, x.Kind, x.First, counted(x.Runs, "hit"), r.command(x.First))
	}
	if more := len(cores) - mostLeft; more > 0 {
		fmt.Fprintf(w, "    and %s, which --format json lists\n", counted(more, "more group"))
	}
}

// command is the line that plays a run again.
func (r *campaignResult) command(n uint64) string {
	return fmt.Sprintf("%s --from %d --runs 1", r.again, n) + r.program
}

// toRun is the line that plays a file.
func (r *campaignResult) toRun(file string) string { return "locksim run " + file + r.program }

// nameCauses names those causes for which there is no more room.
func (r *campaignResult) nameCauses(w io.Writer, causes [][]int) {
	if len(causes) == 0 {
		return
	}
	findings := slices.Concat(causes...)
	fmt.Fprintf(w, "  and %s: %s saved in %s\n", counted(len(causes), "more cause"), counted(len(findings), "finding"),
		filepath.Dir(r.findings[findings[0]].shown.file))
	for _, group := range causes[:min(len(causes), mostTitles)] {
		f := r.findings[group[0]]
		fmt.Fprintf(w, "    %s, %s (%s): %s\n      %s\n",
			f.Property, f.Counterexample.Cause(), counted(f.Hits, "hit"), reports.Visible(f.Counterexample.Scenario.Title), f.shown.command())
	}
	fmt.Fprintln(w)
}

// showCause prints the plainest finding of a cause, and names the others.
func (r *campaignResult) showCause(w io.Writer, group []int, o reports.TextOptions) error {
	head, also := r.findings[group[0]], group[1:]
	if err := showFinding(w, head.shown, o, r.picture); err != nil {
		return err
	}
	for _, i := range also[:min(len(also), mostAlso)] {
		f := r.findings[i]
		fmt.Fprintf(w, "    the same cause: %s (%s)\n      %s\n",
			f.Property, strings.Join(f.unlike(&head), ", "), f.shown.command())
	}
	if more := len(also) - mostAlso; more > 0 {
		fmt.Fprintf(w, "    and %s of this cause, saved in %s\n",
			counted(more, "more finding"), filepath.Dir(head.shown.file))
	}
	fmt.Fprintln(w)
	return nil
}

// unlike says what a finding is like where it differs from another one, and how often it was met.
func (f *fuzzFinding) unlike(other *fuzzFinding) []string {
	parts := []string{f.Counterexample.Kind}
	if f.Style != other.Style {
		parts = append(parts, f.Style.String()+" clients")
	}
	if f.Fencing != other.Fencing {
		parts = append(parts, "fencing "+f.Fencing.String())
	}
	if blame, head := f.Counterexample.Blame, other.Counterexample.Blame; blame.Party != head.Party {
		parts = append(parts, "whose promise was broken: "+blame.Sentence())
	}
	return append(parts, counted(f.Hits, "hit"))
}

// subject names what was played.
func (r *campaignResult) subject() string {
	switch b := r.campaign.Config.Base; {
	case b == nil:
		return strings.Join(append([]string{r.campaign.Config.Lock}, r.campaign.Config.Beside...), " beside ")
	case len(r.campaign.Config.Faults) == 0:
		return b.Name
	default:
		return b.Name + " with more faults"
	}
}

// outcome summarizes the result for a property.
func (r *campaignResult) outcome(p checker.Property) string {
	hits, share := r.tally.Of(p), r.tally.Properties[p]
	found := 0
	for i := range r.findings {
		if r.findings[i].Property == p {
			found++
		}
	}
	switch {
	case hits.Runs > 0:
		what := counted(found, "finding")
		if found == 0 {
			what = counted(hits.Runs, "hit") + ", not minimized"
		}
		return fmt.Sprintf("violated: %s, the first in run %d; exposed in %s",
			what, hits.First, counted(share.AtRisk, "run"))
	case share.Judged == 0:
		return "never judged: no run had anything to judge it by"
	}
	text := "no violation in " + counted(share.Judged, "run")
	if r.program != "" {
		text = "not-seen in " + counted(share.Judged, "run")
	}
	switch {
	case r.isShown(p):
		return text + " as drawn, but in a minimal scenario above"
	case share.AtRisk == 0:
		return text + ", but it was never exposed: they show nothing"
	}
	return fmt.Sprintf("%s; exposed in %d of them", text, share.AtRisk)
}

// isShown reports whether what is printed of a finding shows the violation of a property.
func (r *campaignResult) isShown(p checker.Property) bool {
	return r.picture && slices.ContainsFunc(r.findings, func(f fuzzFinding) bool {
		return f.shown.run.Report.Verdicts[p] == checker.Violated
	})
}

// counted is a number of things.
func counted(n int, thing string) string {
	return plural(n, thing, thing+"s")
}

// plural is a number of things whose plural is irregular.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
