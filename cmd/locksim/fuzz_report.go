package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// findingsFlags is the flags that say where findings go, and how they look.
type findingsFlags struct {
	jobs     count
	save     string
	pictures boolFlag
	format   choice
	look     look
}

func (o *findingsFlags) addTo(fs *flag.FlagSet, e env) {
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.format = choice{"text", []string{"text", "json", "github"}}
	fs.Var(&o.jobs, "jobs", "")
	o.save = findingsFolder
	fs.Var(notEmpty{&o.save}, "save", "")
	fs.Var(&o.pictures, "pictures", "")
	fs.Var(&o.format, "format", "")
	o.look.addTo(fs)
}

// campaignResult is what came of a campaign.
type campaignResult struct {
	campaign    *fuzz.Campaign
	tally       *fuzz.Tally
	perSecond   uint64
	interrupted bool
	picture     bool // show more than the story
	findings    []fuzzFinding
	causes      [][]int       // indices of findings that have one cause
	left        fuzz.Left     // what was not made minimal
	neverDrawn  []search.Kind // of the kinds of faults that could be
	again       string        // the command that plays a run again, but for its number and the program
	program     string        // what plays the program behind a command, " -- node client.js"; "" if none is played
	undecided   *undecidedRun // nil if there is none
}

// fuzzFinding is a finding that has been saved.
type fuzzFinding struct {
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

// effort is how much may be done to make minimal what was found.
type effort struct {
	all boolFlag // as much as it takes
}

// complete makes what was found minimal, and saves it. An interrupt that has ended the campaign does not end this; the next
// one does, and what is found then is saved as it is.
func (c *call) complete(r *campaignResult, o *findingsFlags, e *effort, p *progress) error {
	work := r.campaign.UsualEffort(r.tally, o.jobs.value)
	until, stop := c.nextInterrupt(r.interrupted)
	defer stop()
	if bool(e.all) {
		work.Runs = 0
	}
	p.say("minimizing findings")
	work.Progress = func(runs int) { p.count("minimizing findings", runs) }
	found, err := r.campaign.Findings(until, work, r.tally)
	if err != nil {
		return err
	}
	r.causes, r.left = found.Causes(), found.Left
	r.interrupted = r.interrupted || until.Err() != nil
	for _, f := range found.Findings {
		run, err := completeFinding(f.Counterexample)
		if err != nil {
			return err
		}
		file, err := c.saveFinding(o.save, f.Counterexample)
		if err != nil {
			return err
		}
		shown := finding{
			cx: f.Counterexample, run: run, file: file, cause: f.Counterexample.Cause(), hits: f.Hits, first: f.First,
		}
		if o.pictures {
			if err := c.savePictures(shown); err != nil {
				return err
			}
		}
		r.findings = append(r.findings, fuzzFinding{f, shown})
	}
	if r.tally.Undecided > 0 {
		r.undecided, err = c.saveUndecided(r, o)
	}
	return err
}

// saveUndecided saves the scenario of the first run of which not all can be said.
func (c *call) saveUndecided(r *campaignResult, o *findingsFlags) (*undecidedRun, error) {
	var runner harness.Runner
	defer runner.Close()
	n := r.tally.FirstUndecided
	which, why := r.campaign.Undecided(&runner, n)
	s := *which.Scenario
	s.Styles, s.Resource.Fencing = []history.Style{which.Style}, []history.Fencing{which.Fencing}
	if len(harness.RefuseModes(&s, harness.Options{Locks: c.locks})) > 0 {
		s.Expect = append(s.Expect[:0:0], scenarios.Expectation{Property: checker.Resource, Verdict: checker.NotJudged})
	}
	file := filepath.Join(o.save, fmt.Sprintf("%s-undecided-%d.yaml", s.Lock.Algorithm, n))
	u := &undecidedRun{Runs: r.tally.Undecided, First: n, Why: why, Scenario: file}
	return u, errors.Join(c.makeFindings(o.save), c.writeFile(file, s.YAML()))
}

// report prints what came of a campaign, and returns its exit code.
func (c *call) report(r *campaignResult, o *findingsFlags) int {
	err := c.write("", func(out *output) error {
		switch o.format.value {
		case "json":
			return r.json(out)
		case "github":
			return c.gitHubFindings(out, "locksim fuzz: "+r.subject(), r.shown(), func(w io.Writer) error {
				return r.text(w, reports.TextOptions{})
			})
		default:
			return r.text(out, o.look.on(out, c.env))
		}
	})
	if err != nil {
		return c.failures(err)
	}
	switch {
	case r.interrupted:
		fmt.Fprintf(c.stderr, "locksim: interrupted after %d runs\n", r.tally.Runs)
		return exitInterrupted
	case r.tally.Violated > 0:
		return exitDiffers
	case r.undecided != nil || len(r.tally.Fatal) > 0 || !r.tally.Judged():
		return exitInconclusive
	}
	return exitOK
}

// shown are the findings as they are shown.
func (r *campaignResult) shown() []finding {
	list := make([]finding, len(r.findings))
	for i := range r.findings {
		list[i] = r.findings[i].shown
	}
	return list
}

// fuzzDocument is the result as JSON.
type fuzzDocument struct {
	Schema      string             `json:"schema"`
	Lock        string             `json:"lock"`
	Beside      []string           `json:"beside,omitempty"`
	Runs        int                `json:"runs"`
	PerSecond   uint64             `json:"runs_per_second"`
	Violated    int                `json:"violated_runs"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Findings    []findingDocument  `json:"findings"`
	Properties  []propertyDocument `json:"properties"`
	Left        *leftDocument      `json:"not_minimized,omitempty"`
	Undecided   *undecidedRun      `json:"undecided,omitempty"`
	Fatal       []uint64           `json:"fatal_runs,omitempty"` // that ended the process twice, and were left out
	NeverDrawn  []string           `json:"never_drawn,omitempty"`
}

type leftDocument struct {
	Cores int            `json:"cores"`
	Hits  int            `json:"hits"`
	List  []leftCoreJSON `json:"list"`
}

// leftCoreJSON is a core that was not made minimal.
type leftCoreJSON struct {
	Property string `json:"property"`
	Kind     string `json:"kind"`
	Hits     int    `json:"hits"`
	First    uint64 `json:"first_run"`
	Command  string `json:"command"`
}

type findingDocument struct {
	Property string        `json:"property"`
	Cause    string        `json:"cause,omitempty"` // the same for findings that share one
	Kind     string        `json:"kind"`
	Style    string        `json:"style"`
	Fencing  string        `json:"fencing"`
	Hits     int           `json:"hits"`
	First    uint64        `json:"first_run"`
	Scenario string        `json:"scenario"` // the file
	Story    string        `json:"story"`
	Finding  string        `json:"finding,omitempty"`
	Digest   string        `json:"digest"`
	Blame    blameDocument `json:"blame"`
	Rough    bool          `json:"not_minimal,omitempty"`
	Output   string        `json:"output,omitempty"` // what a program wrote at its end
	// Again says in how many of some more runs of a program the violation was seen, and in how many it took the same steps.
	Again *againDocument `json:"again,omitempty"`
}

type againDocument struct {
	samenessDocument
	Seen    int    `json:"seen"`
	Command string `json:"command"`
}

// samenessDocument says how alike the runs of one schedule are.
type samenessDocument struct {
	Runs    int    `json:"runs"`
	Same    int    `json:"same_steps"`
	Differs string `json:"first_difference,omitempty"`
}

// blameDocument says whose promise was broken.
type blameDocument struct {
	Party     string `json:"party"`
	Reference string `json:"reference,omitempty"` // the lock that was played in the place of the lock
	Text      string `json:"text"`
}

// document is a finding as JSON.
func (f *finding) document() findingDocument {
	cx, output := f.cx, ""
	if first := search.FirstOf(cx.Property, &f.run.Report); first != nil {
		output = first.Output
	}
	var again *againDocument
	if a := cx.Again; a != nil {
		again = &againDocument{samenessDocument{a.Runs, a.Same, a.Differs}, a.Shown, f.command()}
	}
	return findingDocument{
		Again: again, Property: cx.Property.String(), Kind: cx.Kind, Style: cx.Case.Style.String(), Fencing: cx.Case.Fencing.String(),
		Hits: f.hits, First: f.first, Scenario: f.file, Story: cx.Scenario.Story,
		Finding: strings.TrimSpace(cx.Scenario.Finding), Digest: fmt.Sprintf("%#016x", cx.Digest),
		Blame: blameDocument{cx.Blame.Party.String(), cx.Blame.Reference, cx.Blame.Text},
		Rough: cx.Rough, Output: output,
	}
}

type propertyDocument struct {
	Property string `json:"property"`
	Judged   int    `json:"judged"`
	AtRisk   int    `json:"at_risk"`
	Verdict  string `json:"verdict,omitempty"` // not-seen, of a program
}

// json writes all that is known.
func (r *campaignResult) json(w io.Writer) error {
	d := fuzzDocument{
		Schema: "locksim.fuzz/1", Lock: r.campaign.Config.Lock, Beside: r.campaign.Config.Beside, Runs: r.tally.Runs, PerSecond: r.perSecond,
		Violated: r.tally.Violated, Interrupted: r.interrupted, Findings: []findingDocument{}, Undecided: r.undecided,
		Fatal: r.tally.Fatal,
	}
	for i := range r.findings {
		d.Findings = append(d.Findings, r.findings[i].shown.document())
	}
	for _, group := range r.causes {
		for _, i := range group {
			d.Findings[i].Cause = r.findings[group[0]].Counterexample.Cause()
		}
	}
	if cores := r.left.Cores; len(cores) > 0 {
		d.Left = &leftDocument{Cores: len(cores), Hits: r.left.Hits}
		for _, x := range cores {
			d.Left.List = append(d.Left.List, leftCoreJSON{x.Property.String(), x.Kind, x.Runs, x.First, r.command(x.First)})
		}
	}
	for _, k := range r.neverDrawn {
		d.NeverDrawn = append(d.NeverDrawn, k.String())
	}
	for _, p := range r.campaign.Config.Properties {
		share := r.tally.Properties[p]
		verdict := ""
		if r.program != "" && share.AtRisk > 0 && r.tally.Of(p).Runs == 0 {
			verdict = checker.NotSeen.String()
		}
		d.Properties = append(d.Properties, propertyDocument{p.String(), share.Judged, share.AtRisk, verdict})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
