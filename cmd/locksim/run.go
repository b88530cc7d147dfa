package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

func runCommand() command {
	return command{name: "run", summary: "play scenarios, and show what happens", usage: runUsage, run: runRun}
}

const runUsage = `usage: locksim run NAME|FILE... [flags]
       locksim run --all [flags]

Plays each scenario under every variant, client style and fencing mode that it names, all with the same seed, and
prints the verdicts beside the expected ones, a timeline, the events that matter, and the command that plays it again.
With --all or --seeds it prints a table instead.

  --all              every named scenario
  --fencing MODE     this fencing mode only, or all; also one that the scenario does not name
  --style STYLE      this client style only: careless, attentive or careful
  --variant NAME     this variant only
  --lock NAME        another lock in the place of the scenario's; then nothing is expected
  --seed S           the seed, as 42 or 0x2a; otherwise the scenario's own
  --seeds N          N seeds from that one on
  --jobs N           runs at once; the output does not depend on it
  --format FORMAT    text or json
  -o FILE            write to a file; it is replaced when all is done
  --width N          columns of the text, from 72 on; otherwise COLUMNS, or 100
  --ascii            no character outside of ASCII
  --color WHEN       auto, always or never; auto honours NO_COLOR

Exit codes: 0 as expected, 1 not as expected, 2 usage or bad scenario, 3 inconclusive.
`

// runOptions are the flags of run.
type runOptions struct {
	all                bool
	lock, variant, out string
	fencing, style     choice
	format, color      choice
	seed               seedFlag
	seeds, jobs, width int
	ascii              bool
	names              []string
	algorithm          *locks.Algorithm
	selection          search.Selection
	files              map[string]string
}

const (
	maxJobs  = 1024
	minWidth = 72
	maxWidth = 1000
)

func runFlags(o *runOptions, e env) *flag.FlagSet {
	o.fencing.allowed = append(history.FencingNames(), "all")
	o.style.allowed = history.StyleNames()
	o.format = choice{"text", []string{"text", "json"}}
	o.color = choice{"auto", []string{"auto", "always", "never"}}
	fs := newFlags("run")
	fs.BoolVar(&o.all, "all", false, "")
	fs.StringVar(&o.lock, "lock", "", "")
	fs.Var(&o.fencing, "fencing", "")
	fs.Var(&o.style, "style", "")
	fs.StringVar(&o.variant, "variant", "", "")
	fs.Var(&o.seed, "seed", "")
	fs.IntVar(&o.seeds, "seeds", 1, "")
	fs.IntVar(&o.jobs, "jobs", max(e.jobs, 1), "")
	fs.Var(&o.format, "format", "")
	fs.StringVar(&o.out, "o", "", "")
	fs.IntVar(&o.width, "width", 0, "")
	fs.BoolVar(&o.ascii, "ascii", false, "")
	fs.Var(&o.color, "color", "")
	return fs
}

func runRun(c *call) int {
	o := &runOptions{files: map[string]string{}}
	names, err := parseFlags(runFlags(o, c.env), c.args)
	if errors.Is(err, errHelp) {
		return c.help("run")
	}
	if err == nil {
		o.names = names
		err = o.check()
	}
	if err != nil {
		return c.fail("run: %v", err)
	}
	jobs, err := c.compile(o)
	if err != nil {
		return c.failures(err)
	}
	return c.play(o, jobs)
}

// check refuses what makes no sense, and looks names up.
func (o *runOptions) check() error {
	switch {
	case o.all && len(o.names) > 0:
		return fmt.Errorf("--all takes no names, but %q was given", o.names[0])
	case !o.all && len(o.names) == 0:
		return errors.New("which scenario? Name one, or a file, or --all; see locksim list")
	case o.seeds < 1:
		return fmt.Errorf("--seeds %d: at least 1", o.seeds)
	case o.jobs < 1 || o.jobs > maxJobs:
		return fmt.Errorf("--jobs %d: from 1 to %d", o.jobs, maxJobs)
	case o.width != 0 && (o.width < minWidth || o.width > maxWidth):
		return fmt.Errorf("--width %d: from %d to %d", o.width, minWidth, maxWidth)
	}
	if o.lock != "" {
		found, ok := locks.Find(o.lock)
		if !ok {
			return fmt.Errorf("there is no lock %q%s", o.lock, didYouMean(o.lock, lockNames()))
		}
		o.algorithm = &found
	}
	o.selection.Variant = o.variant
	if style, ok := history.ParseStyle(o.style.value); ok {
		o.selection.Style = &style
	}
	for _, name := range history.FencingNames() {
		if o.fencing.value == name || o.fencing.value == "all" {
			mode, _ := history.ParseFencing(name)
			o.selection.Fencing = append(o.selection.Fencing, mode)
		}
	}
	return nil
}

// compile reads the scenarios and makes a job of each case.
func (c *call) compile(o *runOptions) ([]search.Job, error) {
	list, err := o.load()
	if err != nil {
		return nil, err
	}
	var jobs []search.Job
	for _, s := range list {
		cases, err := o.selection.Cases(s)
		if err != nil && o.all {
			continue // a variant is of few scenarios
		}
		if err != nil {
			return nil, err
		}
		for _, each := range cases {
			plan, err := harness.Compile(each, o.algorithm)
			if err != nil {
				return nil, err
			}
			seeds := search.Seeds{First: s.Seed, Count: o.seeds}
			if o.seed.set {
				seeds.First = o.seed.value
			}
			jobs = append(jobs, search.Job{Plan: plan, Seeds: seeds})
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("no scenario has a variant %q", o.variant)
	}
	return jobs, nil
}

func (o *runOptions) load() ([]*scenarios.Scenario, error) {
	if o.all {
		return scenarios.All()
	}
	var list []*scenarios.Scenario
	for _, name := range o.names {
		s, file, err := find(name)
		if err != nil {
			return nil, err
		}
		if file {
			o.files[s.Name] = name
		}
		list = append(list, s)
	}
	return list, nil
}

// play plays the jobs and reports.
func (c *call) play(o *runOptions, jobs []search.Job) int {
	out, err := c.open(o.out)
	if err != nil {
		return c.fail("run: %v", err)
	}
	r := c.reporter(o, out)
	err = search.Many(c.ctx, jobs, search.Options{Jobs: o.jobs, Keep: r.keeps()}, func(x search.Outcome) error {
		return r.add(runOf(jobs[x.Job].Plan, x.Result))
	})
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return c.failures(errors.Join(err, out.discard()))
	}
	if err := r.close(); err != nil {
		return c.failures(errors.Join(err, out.discard()))
	}
	if interrupted {
		path, err := out.commitPart()
		fmt.Fprintln(c.stderr, "locksim: interrupted; what was done until then is in "+orStandard(path))
		if err != nil {
			return c.failures(err)
		}
		return exitInterrupted
	}
	if err := out.commit(); err != nil {
		return c.failures(err)
	}
	return exitCode(r.status())
}

func orStandard(path string) string {
	if path == "" {
		return "the output"
	}
	return path
}

func runOf(p *harness.Plan, r harness.Result) reports.Run {
	return reports.Run{
		Case: p.Case, Lock: p.Algorithm.Name, Seed: r.Seed, Digest: r.Digest, Steps: r.Steps, Messages: r.Messages,
		Virtual: r.Virtual, History: r.History, Events: r.Events, Report: r.Report,
	}
}

func exitCode(s reports.Status) int {
	switch s {
	case reports.Unexpected:
		return exitDiffers
	case reports.Inconclusive:
		return exitInconclusive
	case reports.AsExpected:
	}
	return exitOK
}
