package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/odds"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// usualOddsRuns is how many runs an estimate plays by default, and usualProgramRuns if guest programs, which are slow, take part. Other
// settings are tried beside it.
const (
	usualOddsRuns    = 20_000
	usualProgramRuns = 2000
)

// estimated is the odds of a lock or a scenario under a profile.
type estimated struct {
	name    string   // as it was asked for
	file    string   // of the profile
	files   []string // that one, and those that it names
	profile *profile.Profile
	set     []scenarios.Change
	model   odds.Model
	plan    odds.Plan
	result  *odds.Estimation
	remedy  *odds.Remedies
	inputs  []odds.Input
	percent int
	saved   map[int]string // the command that shows the smallest scenario of a part, by its place

	interrupted bool
}

// runOdds estimates the odds of a lock or a scenario under a profile.
func (c *call) runOdds(o *measureOptions, set *flag.FlagSet, names []string) int {
	r, err := c.planOdds(o, names)
	var recorded *recorded
	if err == nil {
		recorded, err = c.record(&o.record, set, slices.Concat(names, r.files))
	}
	var positioned *scenarios.Error
	switch {
	case errors.As(err, &positioned):
		return c.failures(err)
	case err != nil:
		return c.wrong(err)
	}
	r.plan.Parts = recorded.parts
	progress := c.newProgress(o.progress, uint64(r.plan.Runs)/max(o.record.shard.value.Of, 1), time.Time{})
	defer progress.close()
	r.result, err = odds.Estimate(recorded.context(c.ctx), r.model, r.plan, func(runs int) { progress.tell("estimating: runs", runs, r.plan.Runs) })
	if r.result == nil && c.ctx.Err() == nil {
		return c.wrong(errors.Join(err, recorded.close()))
	}
	if code, tell := c.finished(recorded, &o.record, err); !tell {
		return code
	}
	if err == nil {
		err = c.improve(o, r, progress)
	}
	progress.close()
	if r.interrupted = errors.Is(err, context.Canceled) || errors.Is(err, harness.ErrInterrupted); err != nil && !r.interrupted {
		return c.failures(err)
	}
	return c.reportOdds(o, r)
}

// planOdds reads the profile and makes the model.
func (c *call) planOdds(o *measureOptions, names []string) (*estimated, error) {
	switch {
	case len(names) != 1:
		return nil, errors.New("--profile is for one lock, or one scenario")
	case len(o.vary.list) > 0 || o.faults.given || bool(o.each) || o.properties.given:
		return nil, errors.New("--vary, --faults, --each and --property are not for --profile: what happens is in the profile")
	case o.draws():
		return nil, fmt.Errorf("--format %s is not for --profile; want text, json or csv", o.format.value)
	}
	r := &estimated{name: names[0], file: o.profile, set: o.set.list}
	if err := r.readProfile(); err != nil {
		return nil, err
	}
	t, ours, err := c.subject(o, names[0], r.profile)
	if err != nil {
		return nil, err
	}
	s, err := t.with(o.set.list, o.variant)
	if err == nil {
		err = c.bringOf(s)
	}
	if err != nil {
		return nil, err
	}
	one, err := o.oneCase(s)
	if err != nil {
		return nil, err
	}
	if r.model, err = odds.Of(r.profile, one, c.played(), ours); err != nil {
		return nil, err
	}
	plan, err := harness.Compile(r.model.Case, r.model.Options)
	if err != nil {
		return nil, err
	}
	r.percent, _ = strconv.Atoi(o.confidence.value)
	r.plan = odds.Plan{
		Runs: usualOddsRuns, Seed: o.from.value, Confidence: float64(r.percent) / 100, Jobs: o.jobs.value,
	}
	switch {
	case o.runs.value > 0:
		r.plan.Runs = o.runs.value
	case plan.Programs():
		r.plan.Runs = usualProgramRuns
	}
	return r, nil
}

// readProfile reads the profile; files that it names are beside it.
func (r *estimated) readProfile() error {
	text, err := readFile(r.file)
	if err != nil {
		return err
	}
	r.files = []string{r.file}
	r.profile, err = profile.Read(r.file, text, func(beside string) (io.ReadCloser, error) {
		if !filepath.IsAbs(beside) {
			beside = filepath.Join(filepath.Dir(r.file), beside)
		}
		r.files = append(r.files, beside)
		return os.Open(beside)
	})
	return err
}

// subject is the scenario whose odds are asked for; ours if it is one for a lock.
func (c *call) subject(o *measureOptions, name string, p *profile.Profile) (t scenarioText, ours bool, err error) {
	isLock := slices.Contains(lockNames(), name) || clients.Is(name) && !looksLikeScenario(name)
	if !isLock && o.isScenario(c, name) {
		t, err = readText(name)
		return t, false, err
	}
	if !isLock {
		known := slices.Concat(lockNames(), clients.Names(), scenarios.Names())
		return t, false, fmt.Errorf("there is no lock, library or scenario %q%s", name, didYouMean(name, known, "list"))
	}
	if err := c.bring(name); err != nil {
		return t, false, err
	}
	lock, _ := c.locks.Find(name)
	return scenarioText{called: "the scenario of " + name, text: odds.Scenario(&lock, p)}, true, nil
}

// oneCase is the only case that is asked for.
func (o *measureOptions) oneCase(s *scenarios.Scenario) (scenarios.Case, error) {
	selection := search.Selection{Variant: o.variant, Fencing: chosen(&o.fencing, history.ParseFencing)}
	if styles := chosen(&o.styles, history.ParseStyle); len(styles) == 1 {
		selection.Style = &styles[0]
	} else if len(styles) > 1 {
		return scenarios.Case{}, errors.New("--profile is for one client style")
	}
	cases, err := selection.Cases(s)
	if err != nil {
		return scenarios.Case{}, err
	}
	if len(cases) > 1 {
		return scenarios.Case{}, fmt.Errorf("%s has %d cases; choose one with --variant, --style and --fencing", reports.Visible(s.Name), len(cases))
	}
	return cases[0], nil
}

// improve fills in what follows from an estimate.
func (c *call) improve(o *measureOptions, r *estimated, progress *progress) (err error) {
	r.inputs = r.result.Inputs()
	if o.save != "" {
		progress.say("minimizing violations")
		if err := c.saveOdds(o.save, r); err != nil {
			return err
		}
	}
	r.remedy, err = odds.Improve(c.ctx, r.result, r.profile.Acquisitions, func(what string) { progress.say("trying " + what) })
	if r.remedy != nil {
		r.inputs = append(r.inputs, r.remedy.Inputs...)
	}
	return err
}

// mostSaved is of how many parts an example is shown.
const mostSaved = 3

// saveOdds minimizes an example of each of the largest parts, and saves it.
func (c *call) saveOdds(dir string, r *estimated) error {
	runner := harness.Runner{Stop: search.Until(c.ctx)}
	defer runner.Close()
	r.saved = make(map[int]string)
	for i := range min(len(r.result.Parts), mostSaved) {
		p := &r.result.Parts[i]
		for k := range odds.Properties {
			v, ok, err := r.result.Example(&runner, p, k)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if _, r.saved[i], err = c.saveMeasured(&runner, dir, v, true); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// reportOdds prints the odds, and returns the exit code.
func (c *call) reportOdds(o *measureOptions, r *estimated) int {
	err := c.write("", func(out *output) error {
		switch o.format.value {
		case "json":
			return r.json(out)
		case "csv":
			return r.csv(out)
		default:
			return r.text(out)
		}
	})
	if err != nil {
		return c.failures(err)
	}
	if r.interrupted {
		fmt.Fprintln(c.stderr, "locksim: "+r.mark())
		return exitInterrupted
	}
	return exitOK
}

// mark says that an estimate was interrupted.
func (r *estimated) mark() string {
	if r.result.Complete {
		return "interrupted: the estimate is complete, but not what would help"
	}
	return fmt.Sprintf("interrupted: the estimate has played %d of %d runs", r.result.Runs, r.plan.Runs)
}
