package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/scenarios"
)

func measureCommand() command {
	return command{
		name: "measure", summary: "measure how often locks or scenarios fail", usage: measureUsage, run: runMeasure, plays: asLock,
		names: locksAndScenarios, records: true,
	}
}

const measureUsage = `usage: locksim measure LOCK... [flags]
       locksim measure all|libraries [flags]
       locksim measure SCENARIO|FILE [--vary PATH=LIST]... [flags]
       locksim measure [LOCK...|SCENARIO|FILE] [flags] -- PROGRAM [ARGUMENT...]
       locksim measure --profile PROFILE LOCK|SCENARIO|FILE [flags]

For locks, runs a fixed number of drawn scenarios for each, and prints how often each property was violated, with the
exact Clopper-Pearson interval, how often it was exposed, that is, could have been violated, and the command that shows
the first violation. Locks on the same backend and deployment run on the same schedules, in all styles and fencing modes,
and are compared schedule by schedule with McNemar's exact test. To stop at violations and minimize them, use locksim
fuzz.

For a scenario, runs each of its cases with many seeds, and prints the same for these runs, and how long holders
overlapped, clients waited and so on (median, 90 %, 99 % and maximum of the runs). --vary plays it with other values of
one or two fields, and shows the border of the region without violations. A seed draws the latencies of messages and
random choices, while work and faults are those of the file: a rate is a share of the seeds, not the odds of production.

What follows -- is a program of any language: a lock beside those that are named, or that of all clients of the scenario. Its
runs are slow and may differ, so that fewer are played by default. What was not violated is not-seen. See docs/languages.md.

With --profile, estimates how likely one acquisition is to end with two holders at once, or with damage, and how often a year
that happens: the profile, a YAML file, says how often your locks are acquired, for how long, and how often pauses, restarts and
so on happen. It prints two intervals (of sampling, and of what your data does not know), what makes up the odds, what matters
most, and which lease, style or fencing mode brings them to once in ten years. See docs/odds.md.

  --profile FILE     estimate the odds under this profile, in one style and fencing mode
  --runs N           number of schedules (default 10000), or of seeds of a scenario (default 1000); with a program 100, or
                     20 seeds; about as many runs for an estimate (default 20000, for libraries 2000), beside which other
                     settings are tried
  --from N           number of the first schedule, or the first seed (default 0); the seed of an estimate
  --vary PATH=LIST   set a field of the scenario to each of these values: a list (4s,8s), or a range (4s..16s) of times,
                     whole numbers or rates, in six steps or as many as it says (4s..16s/12). At most two fields
  --set PATH=VALUE   change a field of the scenario. Several are allowed
  --variant NAME     only this variant of the scenario
  --faults KINDS     fault kinds, such as client-pause,delay or all,-evict; none; or overrun: work that may outlast the
                     lease (default all)
  --each             measure each kind by itself, instead of all in the same schedules
  --fencing MODES    fencing modes, or all (default: the mode none; for a scenario, those that it names). A mode that
                     needs a token is skipped for a lock that issues none
  --style STYLES     client styles, or all (default careless; for a scenario, those that it names)
  --property NAMES   properties, or all (default mutual-exclusion and resource; for a library also survival; for a
                     scenario all)
  --confidence N     confidence level of the intervals in percent, 95 or 99 (default 95)
  --save DIR         minimize the first violation of each line, or one of each part of the odds, and save it in this folder
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --format FORMAT    text, json or csv; for fields that vary also svg, a heat map of one property (of mutual-exclusion
                     without --property), or html, a page with those of all that were violated (default text)
  --progress         show progress even if stderr is not a terminal
` + recordingHelp + `
A PATH names a field as it stands in the file: lock.ttl, clients.a.work, network.latency, faults.0.for, or faults.NAME.for
for a fault that has a name. Short forms are a.work for a client's field, NAME.for for a fault's, and a.pause or
redis-1.downtime for the length of the only pause or downtime of a node. A value is written as in the file; null removes
the field. Locks and versions of libraries are values, too: --vary lock.algorithm=set-nx-lua,redlock,redsync@v4.15.0.

Kinds of faults: see locksim help fuzz. Only overrun makes work outlast the lease of a lock that does not renew it. If the
backend of a lock supports none of the kinds that were asked for, its line says "impossible", and why.

After an interrupt, the results so far are printed.

Exit codes: 0 the measurement is complete, whatever its result, 2 wrong usage, 130 interrupted.
` + clientsHelp

// measureOptions are the flags of measure.
type measureOptions struct {
	runs, jobs count
	from       seedFlag
	vary       variationList
	set        changeList
	variant    string
	aim
	confidence, format choice
	each, progress     boolFlag
	save               string
	profile            string
	record             recording
}

func measureFlags(o *measureOptions, e env) *flag.FlagSet {
	o.runs = count{0, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.aim = anything()
	o.faults.allowed = compare.ConditionNames()
	o.faults.chosen = o.faults.allowed
	o.properties.chosen = []string{checker.MutualExclusion.String(), checker.Resource.String()}
	o.confidence = choice{"95", []string{"95", "99"}}
	o.format = choice{"text", []string{"text", "json", "csv", "svg", "html"}}
	flags := newFlags("measure")
	flags.Var(&o.runs, "runs", "")
	o.from.what = "the number of a run"
	flags.Var(&o.from, "from", "")
	flags.Var(&o.vary, "vary", "")
	flags.Var(&o.set, "set", "")
	flags.StringVar(&o.variant, "variant", "", "")
	o.addTo(flags)
	flags.Var(&o.each, "each", "")
	flags.Var(&o.confidence, "confidence", "")
	flags.StringVar(&o.save, "save", "", "")
	flags.Var(notEmpty{&o.profile}, "profile", "")
	flags.Var(&o.jobs, "jobs", "")
	flags.Var(&o.format, "format", "")
	flags.Var(&o.progress, "progress", "")
	o.record.addTo(flags)
	return flags
}

func runMeasure(c *call) int {
	o := &measureOptions{}
	set := measureFlags(o, c.env)
	names, err := c.parse(set)
	if errors.Is(err, errHelp) {
		return c.help("measure")
	}
	if err == nil {
		err = o.record.check()
	}
	if err != nil {
		return c.wrong(err)
	}
	if o.profile != "" && c.argv != nil {
		return c.fail("measure: --profile plays thousands of runs, too many for a program; want measure without it, or fuzz")
	}
	if o.profile != "" {
		return c.runOdds(o, set, names)
	}
	r, given := &measured{}, names
	if i := slices.IndexFunc(names, func(name string) bool { return o.isScenario(c, name) }); i >= 0 {
		err = c.planScenario(o, r, names)
	} else if names, err = c.withProgram(names); err == nil {
		err = c.planLocks(o, r, names)
	}
	if err == nil && o.from.value > math.MaxUint64-uint64(r.plan.Draws.Count) {
		err = fmt.Errorf("--from %d: --from plus --runs exceeds 2^64", o.from.value)
	}
	if err == nil {
		r.recorded, err = c.record(&o.record, set, given)
	}
	var positioned *scenarios.Error
	switch {
	case errors.As(err, &positioned):
		return c.failures(err)
	case err != nil:
		return c.wrong(err)
	}
	return c.measure(o, r)
}

// plan is what locks and scenarios are measured by.
func (o *measureOptions) plan() measure.Plan {
	return measure.Plan{
		Styles:  chosen(&o.styles, history.ParseStyle),
		Fencing: chosen(&o.fencing, history.ParseFencing), Properties: chosen(&o.properties, checker.ParseProperty),
		Draws: search.Seeds{First: o.from.value, Count: o.runs.value}, Jobs: o.jobs.value,
	}
}

// planLocks makes the plan of a measurement of locks.
func (c *call) planLocks(o *measureOptions, r *measured, names []string) error {
	p := &r.plan
	*p = o.plan()
	switch {
	case len(names) == 0:
		return errors.New("no lock given: name some, or all, or a scenario; see locksim list")
	case len(o.vary.list) > 0 || len(o.set.list) > 0 || o.variant != "":
		return fmt.Errorf("--vary, --set and --variant are for a scenario, and there is none called %q%s", names[0],
			didYouMean(names[0], scenarios.Names(), "list scenarios"))
	case o.draws():
		return fmt.Errorf("--format %s draws a scenario of which one or two fields vary: see --vary", o.format.value)
	}
	for _, name := range names {
		known := slices.Concat(lockNames(), clients.Names(), []string{"all", libraries}, scenarios.Names())
		if !slices.Contains(known, name) && !clients.Is(name) && !c.isLock(name) {
			return fmt.Errorf("there is no lock, library or scenario %q%s", name, didYouMean(name, known, "list"))
		}
	}
	var err error
	if p.Locks, err = c.chosenLocks(names); err != nil {
		return err
	}
	r.limit(fewRuns, runsOfCommand)
	if !o.properties.given {
		p.Properties = withSurvival(p.Properties, p.Locks)
	}
	if p.Conditions, err = compare.Conditions(p.Locks, o.faults.chosen, bool(o.each)); err != nil {
		return err
	}
	if p.Empty() {
		return errors.New("nothing to measure: these fencing modes need a token, and these locks issue none")
	}
	return nil
}

// limit sets the default number of runs, and that of a plan with a program.
func (r *measured) limit(runs, ofCommand int) {
	if r.plan.Varies() {
		runs = ofCommand
	}
	r.plan.Draws.Count = cmp.Or(r.plan.Draws.Count, runs)
}

// measure plays a plan, and reports the results, also after an interrupt.
func (c *call) measure(o *measureOptions, r *measured) int {
	r.recorded = cmp.Or(r.recorded, &recorded{}) // nothing
	r.plan.Parts = r.recorded.parts
	progress := c.newProgress(o.progress, uint64(r.plan.Runs())/max(o.record.shard.value.Of, 1), time.Time{})
	table, err := measure.Measure(r.recorded.context(c.ctx), r.plan, func(runs, violated int) {
		r.runs = runs
		progress.show(uint64(runs), uint64(violated))
	})
	r.table, r.interrupted = table, errors.Is(err, context.Canceled)
	if code, tell := c.finished(r.recorded, &o.record, err); !tell {
		progress.close()
		return code
	}
	r.percent, _ = strconv.Atoi(o.confidence.value)
	if o.save != "" {
		progress.say("minimizing violations")
	}
	err = c.completeMeasured(o, r)
	progress.close()
	if err != nil {
		return c.failures(err)
	}
	return c.reportMeasured(o, r)
}

// reportMeasured prints what was measured, and returns the exit code.
func (c *call) reportMeasured(o *measureOptions, r *measured) int {
	err := c.write("", func(out *output) error {
		switch o.format.value {
		case "json":
			return r.json(out)
		case "csv":
			return r.csv(out)
		case "svg":
			return r.svg(out)
		case "html":
			return r.html(out)
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
