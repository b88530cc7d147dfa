package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/compare"
	"github.com/locksim/locksim/search/measure"
)

func measureCommand() command {
	return command{
		name: "measure", summary: "count how often locks fail, on the same schedules", usage: measureUsage, run: runMeasure,
	}
}

const measureUsage = `usage: locksim measure LOCK... [flags]
       locksim measure all|libraries [flags]

Plays a fixed number of drawn scenarios for each lock, and prints how often a property was violated, with the exact
interval of Clopper and Pearson, how often it was in danger, and how to see the first violation. Locks on servers of one
kind, deployed alike, are played on the same schedules in all styles and fencing modes, and compared schedule by schedule
by McNemar's exact test. To find violations and stop, see locksim fuzz.

  --runs N           schedules; 10000
  --from N           the number of the first one; the same number draws the same schedule
  --faults KINDS     kinds of faults, as client-pause,delay or all,-evict; none; or overrun: work that may outlast the
                     lease (default all)
  --each             each kind by itself, instead of all in the same schedules
  --fencing MODES    fencing modes, or all; none. A mode that a lock has no token for is left out
  --style STYLES     client styles, or all; careless
  --property NAMES   properties, or all; mutual-exclusion and resource
  --confidence N     of the intervals, in percent: 95 or 99
  --save DIR         makes the first violation of each line minimal, and saves it there
  --jobs N           runs at once; the output does not depend on it
  --format FORMAT    text, json or csv
  --progress         tell how far it has come even if nobody looks at a terminal

Kinds of faults: see locksim help fuzz. Work outlasts the lease of a lock that does not renew it only with overrun. If the
servers of a lock know none of the kinds that were asked for, its line says "impossible", and why.

An interrupt ends it early, with what was measured until then.

Exit codes: 0 it was measured, whatever came of it, 2 usage, 130 interrupted.
` + clientsHelp

// measureOptions are the flags of measure.
type measureOptions struct {
	runs, jobs count
	from       seedFlag
	aim
	confidence, format choice
	each, progress     boolFlag
	save               string
}

func measureFlags(o *measureOptions, e env) *flag.FlagSet {
	o.runs = count{fewRuns, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.aim = anything()
	o.faults.allowed = compare.ConditionNames()
	o.faults.chosen = o.faults.allowed
	o.properties.chosen = []string{checker.MutualExclusion.String(), checker.Resource.String()}
	o.confidence = choice{"95", []string{"95", "99"}}
	o.format = choice{"text", []string{"text", "json", "csv"}}
	flags := newFlags("measure")
	flags.Var(&o.runs, "runs", "")
	flags.Var(&o.from, "from", "")
	o.addTo(flags)
	flags.Var(&o.each, "each", "")
	flags.Var(&o.confidence, "confidence", "")
	flags.StringVar(&o.save, "save", "", "")
	flags.Var(&o.jobs, "jobs", "")
	flags.Var(&o.format, "format", "")
	flags.Var(&o.progress, "progress", "")
	return flags
}

func runMeasure(c *call) int {
	o := &measureOptions{}
	names, err := c.parse(measureFlags(o, c.env))
	if errors.Is(err, errHelp) {
		return c.help("measure")
	}
	var plan measure.Plan
	if err == nil {
		plan, err = c.planned(o, names)
	}
	if err != nil {
		return c.wrong(err)
	}
	return c.measure(o, plan)
}

// planned is what is to be measured.
func (c *call) planned(o *measureOptions, names []string) (measure.Plan, error) {
	p := measure.Plan{
		Styles:  chosen(&o.styles, history.ParseStyle),
		Fencing: chosen(&o.fencing, history.ParseFencing), Properties: chosen(&o.properties, checker.ParseProperty),
		Draws: search.Seeds{First: o.from.value, Count: o.runs.value}, Jobs: o.jobs.value,
	}
	if o.from.value > math.MaxUint64-uint64(o.runs.value) {
		return p, fmt.Errorf("--from %d: there are not so many numbers above it", o.from.value)
	}
	if len(names) == 0 {
		return p, errors.New("which locks? Name them, or all; see locksim list locks")
	}
	var err error
	if p.Locks, err = c.chosenLocks(names); err != nil {
		return p, err
	}
	if !o.properties.given {
		p.Properties = withSurvival(p.Properties, p.Locks)
	}
	if p.Conditions, err = compare.Conditions(p.Locks, o.faults.chosen, bool(o.each)); err != nil {
		return p, err
	}
	if p.Empty() {
		return p, errors.New("there is nothing to measure: these locks have no token, and these fencing modes need one")
	}
	return p, nil
}

// measure plays a plan, and reports what came of it, whether it came to its end or not.
func (c *call) measure(o *measureOptions, plan measure.Plan) int {
	progress := c.newProgress(o.progress, uint64(plan.Runs()), time.Time{})
	table, err := measure.Measure(c.ctx, plan, func(runs, violated int) {
		progress.show(uint64(runs), uint64(violated))
	})
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		progress.close()
		return c.failures(err)
	}
	percent, _ := strconv.Atoi(o.confidence.value)
	r := &measured{table: table, percent: percent, interrupted: interrupted}
	if o.save != "" {
		progress.say("making violations minimal")
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
	out, err := c.open("")
	if err != nil {
		return c.failures(err)
	}
	switch o.format.value {
	case "json":
		err = r.json(out)
	case "csv":
		err = r.csv(out)
	default:
		err = r.text(out)
	}
	if err = errors.Join(err, out.commit()); err != nil {
		return c.failures(err)
	}
	if r.interrupted {
		fmt.Fprintln(c.stderr, "locksim: interrupted")
		return exitInterrupted
	}
	return exitOK
}
