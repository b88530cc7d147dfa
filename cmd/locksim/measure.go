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
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/internal/search/measure"
)

func measureCommand() command {
	return command{
		name: "measure", summary: "measure how often locks fail, on the same schedules", usage: measureUsage, run: runMeasure,
	}
}

const measureUsage = `usage: locksim measure LOCK... [flags]
       locksim measure all|libraries [flags]

Runs a fixed number of drawn scenarios for each lock, and prints how often each property was violated, with the exact
Clopper-Pearson interval, how often it was exposed, that is, could have been violated, and the command that shows the
first violation. Locks on the same backend and deployment run on the same schedules, in all styles and fencing modes, and
are compared schedule by schedule with McNemar's exact test. To stop at violations and minimize them, use locksim fuzz.

  --runs N           number of schedules (default 10000)
  --from N           number of the first one (default 0); the same number always draws the same schedule
  --faults KINDS     fault kinds, such as client-pause,delay or all,-evict; none; or overrun: work that may outlast the
                     lease (default all)
  --each             measure each kind by itself, instead of all in the same schedules
  --fencing MODES    fencing modes, or all (default: the mode none). A mode that needs a token is skipped for a lock
                     that issues none
  --style STYLES     client styles, or all (default careless)
  --property NAMES   properties, or all (default mutual-exclusion and resource; for a library also survival)
  --confidence N     confidence level of the intervals in percent, 95 or 99 (default 95)
  --save DIR         minimize the first violation of each line, and save it in this folder
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --format FORMAT    text, json or csv (default text)
  --progress         show progress even if stderr is not a terminal

Kinds of faults: see locksim help fuzz. Only overrun makes work outlast the lease of a lock that does not renew it. If the
backend of a lock supports none of the kinds that were asked for, its line says "impossible", and why.

After an interrupt, the results so far are printed.

Exit codes: 0 the measurement is complete, whatever its result, 2 wrong usage, 130 interrupted.
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
	o.from.what = "the number of a run"
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

// planned makes the plan of a measurement.
func (c *call) planned(o *measureOptions, names []string) (measure.Plan, error) {
	p := measure.Plan{
		Styles:  chosen(&o.styles, history.ParseStyle),
		Fencing: chosen(&o.fencing, history.ParseFencing), Properties: chosen(&o.properties, checker.ParseProperty),
		Draws: search.Seeds{First: o.from.value, Count: o.runs.value}, Jobs: o.jobs.value,
	}
	if o.from.value > math.MaxUint64-uint64(o.runs.value) {
		return p, fmt.Errorf("--from %d: --from plus --runs exceeds 2^64", o.from.value)
	}
	if len(names) == 0 {
		return p, errors.New("no lock given: name some, or all; see locksim list locks")
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
		return p, errors.New("nothing to measure: these fencing modes need a token, and these locks issue none")
	}
	return p, nil
}

// measure plays a plan, and reports the results, also after an interrupt.
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
