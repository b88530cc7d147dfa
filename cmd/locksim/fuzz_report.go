package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/search/fuzz"
)

// huntReport is the flags that say where findings go, and how they look.
type huntReport struct {
	jobs   count
	save   string
	format choice
	look   look
}

func (o *huntReport) addTo(fs *flag.FlagSet, e env) {
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.format = choice{"text", []string{"text", "json"}}
	fs.Var(&o.jobs, "jobs", "")
	fs.StringVar(&o.save, "save", ".", "")
	fs.Var(&o.format, "format", "")
	o.look.addTo(fs)
}

// huntResult is what came of a campaign.
type huntResult struct {
	hunt        *fuzz.Hunt
	tally       *fuzz.Tally
	perSecond   uint64
	interrupted bool
	picture     bool // show more than the story
	findings    []huntFinding
	undecided   *undecidedRun // nil if there is none
}

// huntFinding is a finding that has been saved.
type huntFinding struct {
	fuzz.Finding
	shown finding
}

// undecidedRun is the first run of which not all can be said.
type undecidedRun struct {
	Runs     int    `json:"runs"` // how many there are
	First    uint64 `json:"first_run"`
	Why      string `json:"why"`
	Scenario string `json:"scenario"` // the file
}

// complete makes what was found minimal, and saves it. An interrupt has ended the campaign, not this: the next one ends
// all.
func (c *call) complete(r *huntResult, o *huntReport) error {
	found, err := r.hunt.Findings(context.WithoutCancel(c.ctx), o.jobs.value, r.tally)
	if err != nil {
		return err
	}
	for _, f := range found {
		run, err := completeFinding(f.Counterexample)
		if err != nil {
			return err
		}
		file, err := c.saveFinding(o.save, f.Counterexample)
		if err != nil {
			return err
		}
		shown := finding{cx: f.Counterexample, run: run, file: file, hits: f.Hits, first: f.First}
		r.findings = append(r.findings, huntFinding{f, shown})
	}
	if r.tally.Undecided > 0 {
		r.undecided, err = c.saveUndecided(r, o)
	}
	return err
}

// saveUndecided saves the scenario of the first run of which not all can be said.
func (c *call) saveUndecided(r *huntResult, o *huntReport) (*undecidedRun, error) {
	var runner harness.Runner
	defer runner.Close()
	n := r.tally.FirstUndecided
	which, why := r.hunt.Undecided(&runner, n)
	s := *which.Scenario
	s.Styles, s.Resource.Fencing = []history.Style{which.Style}, []history.Fencing{which.Fencing}
	file := filepath.Join(o.save, fmt.Sprintf("%s-undecided-%d.yaml", s.Lock.Algorithm, n))
	u := &undecidedRun{Runs: r.tally.Undecided, First: n, Why: why, Scenario: file}
	return u, errors.Join(os.MkdirAll(o.save, 0o755), c.writeWhole(file, s.YAML()))
}

// report prints what came of a campaign, and returns its exit code.
func (c *call) report(r *huntResult, o *huntReport) int {
	out, err := c.open("")
	if err != nil {
		return c.failures(err)
	}
	if o.format.value == "json" {
		err = r.json(out)
	} else {
		err = r.text(out, o.look.on(out, c.env))
	}
	if err = errors.Join(err, out.commit()); err != nil {
		return c.failures(err)
	}
	switch {
	case r.interrupted:
		fmt.Fprintf(c.stderr, "locksim: interrupted after %d runs\n", r.tally.Runs)
		return exitInterrupted
	case len(r.findings) > 0:
		return exitDiffers
	case r.undecided != nil || !r.tally.Judged():
		return exitInconclusive
	}
	return exitOK
}

// mostShown is how many findings of one property are printed. Of the others, which take more to happen, the files tell.
const mostShown = 5

// text prints the findings, and then for each property whether it was violated, and how often it could have been.
func (r *huntResult) text(w io.Writer, o reports.TextOptions) error {
	for _, p := range r.hunt.Config.Properties {
		found := r.of(p)
		for _, f := range found[:min(len(found), mostShown)] {
			if err := showFinding(w, f.shown, o, r.picture); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
		if more := len(found) - mostShown; more > 0 {
			fmt.Fprintf(w, "  and %s of %s, saved in %s\n\n", counted(more, "more finding"), p,
				filepath.Dir(found[mostShown].shown.file))
		}
	}
	if u := r.undecided; u != nil {
		fmt.Fprintf(w, "of %s not all can be said; of run %d, since %s\n  locksim run %s\n\n",
			counted(u.Runs, "run"), u.First, reports.Visible(u.Why), u.Scenario)
	}
	if r.tally.Runs == 0 {
		_, err := fmt.Fprintf(w, "0 runs of %s: nothing is known of it\n", r.subject())
		return err
	}
	fmt.Fprintf(w, "%s of %s\n", counted(r.tally.Runs, "run"), r.subject())
	for _, p := range r.hunt.Config.Properties {
		fmt.Fprintf(w, "  %-21s %s\n", p, r.outcome(p))
	}
	return nil
}

// subject is what was played.
func (r *huntResult) subject() string {
	switch b := r.hunt.Config.Base; {
	case b == nil:
		return r.hunt.Config.Lock
	case len(r.hunt.Config.Faults) == 0:
		return b.Name
	default:
		return b.Name + " with more faults"
	}
}

// of returns the findings of a property.
func (r *huntResult) of(p checker.Property) []huntFinding {
	return slices.DeleteFunc(slices.Clone(r.findings), func(f huntFinding) bool { return f.Property != p })
}

// outcome says what is known of a property now.
func (r *huntResult) outcome(p checker.Property) string {
	found, share := r.of(p), r.tally.Properties[p]
	switch {
	case len(found) > 0:
		first := found[0].First
		for _, f := range found {
			first = min(first, f.First)
		}
		return fmt.Sprintf("violated: %s, the first in run %d; at risk in %s",
			counted(len(found), "finding"), first, counted(share.AtRisk, "run"))
	case share.Judged == 0:
		return "never judged: there was nothing to judge it by"
	case share.AtRisk == 0:
		return fmt.Sprintf("no violation in %s, but it was never at risk: they say nothing of it",
			counted(share.Judged, "run"))
	}
	return fmt.Sprintf("no violation in %s; the danger arose in %d of them", counted(share.Judged, "run"), share.AtRisk)
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// huntDocument is the result as JSON.
type huntDocument struct {
	Schema      string             `json:"schema"`
	Lock        string             `json:"lock"`
	Runs        int                `json:"runs"`
	PerSecond   uint64             `json:"runs_per_second"`
	Violated    int                `json:"violated_runs"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Findings    []findingDocument  `json:"findings"`
	Properties  []propertyDocument `json:"properties"`
	Undecided   *undecidedRun      `json:"undecided,omitempty"`
}

type findingDocument struct {
	Property string `json:"property"`
	Kind     string `json:"kind"`
	Style    string `json:"style"`
	Fencing  string `json:"fencing"`
	Hits     int    `json:"hits"`
	First    uint64 `json:"first_run"`
	Scenario string `json:"scenario"` // the file
	Story    string `json:"story"`
	Finding  string `json:"finding,omitempty"`
	Digest   string `json:"digest"`
}

// document is a finding as JSON.
func (f *finding) document() findingDocument {
	cx := f.cx
	return findingDocument{
		Property: cx.Property.String(), Kind: cx.Kind, Style: cx.Case.Style.String(), Fencing: cx.Case.Fencing.String(),
		Hits: f.hits, First: f.first, Scenario: f.file, Story: cx.Scenario.Story,
		Finding: strings.TrimSpace(cx.Scenario.Finding), Digest: fmt.Sprintf("%#016x", cx.Digest),
	}
}

type propertyDocument struct {
	Property string `json:"property"`
	Judged   int    `json:"judged"`
	AtRisk   int    `json:"at_risk"`
}

// json writes all that is known.
func (r *huntResult) json(w io.Writer) error {
	d := huntDocument{
		Schema: "locksim.fuzz/1", Lock: r.hunt.Config.Lock, Runs: r.tally.Runs, PerSecond: r.perSecond,
		Violated: r.tally.Violated, Interrupted: r.interrupted, Findings: []findingDocument{}, Undecided: r.undecided,
	}
	for i := range r.findings {
		d.Findings = append(d.Findings, r.findings[i].shown.document())
	}
	for _, p := range r.hunt.Config.Properties {
		share := r.tally.Properties[p]
		d.Properties = append(d.Properties, propertyDocument{p.String(), share.Judged, share.AtRisk})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
