package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports/comparison"
)

func compareCommand() command {
	return command{
		name: "compare", summary: "compare locks: what breaks each of them, and what each costs", usage: compareUsage,
		run: runCompare, plays: asLock, records: true, names: func() []string { return append(allLocks(), "all", "libraries") },
	}
}

const compareUsage = `usage: locksim compare [LOCK...|all|libraries] [flags]
       locksim compare [LOCK...] [flags] -- PROGRAM [ARGUMENT...]
       locksim compare --from-json FILE [flags]

Measures how often each lock is violated under each kind of fault and in each fencing mode, with exact intervals; locks on
the same backend run on the same schedules. For every cell with a violation it finds a minimal counterexample. It also
measures what each lock costs in virtual time, and recommends locks for each purpose. With default settings it takes up to
ten minutes on two cores. A property that was exposed in fewer than 100 runs of a cell is marked "seldom" instead of held.

What follows -- is a program of any language, which is a lock beside those that are named: see docs/languages.md. Its runs are
slow and may differ: what was not violated is marked "not-seen", and never a reason for advice.

  --runs N           schedules of each cell (default 3500; 200 if there is a library, whose runs take fifty times as long, and
                     20 if there is a program)
  --from N           number of the first one (default 0); the same number always draws the same schedule
  --faults COLUMNS   fault kinds, none, overrun (work outlasts the lease), together (default all)
  --fencing MODES    fencing modes of the resource (default all). Beliefs are judged in the first of them
  --style STYLE      client style: careless, attentive or careful (default careless)
  --property NAMES   properties, or all (default mutual-exclusion, resource, leak and silent-loss; for a library also
                     survival)
  --confidence N     confidence level of the intervals in percent, 95 or 99 (default 95)
  --rates-only       no costs, no advice
  --save DIR         folder for index.html, index.md, comparison.json, and the counterexamples with their pictures
  --pictures WHICH   pictures of the counterexamples: all, svg, or none, which saves much space (default all)
  --from-json FILE   run nothing, but print a saved comparison in another format
  --format FORMAT    text, markdown, html, json or csv (default text)
  -o FILE            write to this file, which is replaced when the comparison is complete
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --progress         show progress even if stderr is not a terminal
` + recordingHelp + `  --width N, --ascii, --color WHEN   as for locksim run

After an interrupt, the results so far are printed.

Exit codes: 0 the comparison is complete, whatever its result, 2 wrong usage, 130 interrupted.
` + clientsHelp

// compareOptions are the flags of compare.
type compareOptions struct {
	runs, jobs                  count
	from                        seedFlag
	faults, fencing, properties names
	style, confidence, format   choice
	pictures                    choice
	save, saved, out            string
	progress, ratesOnly         boolFlag
	runsGiven                   bool // by the user
	look                        look
	plan                        compare.Plan
	record                      recording
	recorded                    *recorded
}

// How many schedules are played for each cell by default, and if there are guest programs among the locks, or programs of the
// operating system.
const runsOfCell, runsOfPrograms, runsOfCommands = 3_500, 200, 20

func compareFlags(o *compareOptions, e env) *flag.FlagSet {
	all := anything()
	o.runs = count{runsOfCell, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.faults = names{what: "column", allowed: compare.ColumnNames(), chosen: compare.ColumnNames()}
	o.fencing, o.properties = all.fencing, all.properties
	o.fencing.chosen = o.fencing.allowed
	o.properties.chosen = []string{
		checker.MutualExclusion.String(), checker.Resource.String(), checker.Leak.String(), checker.SilentLoss.String(),
	}
	o.style = choice{history.Careless.String(), history.StyleNames()}
	o.confidence = choice{"95", []string{"95", "99"}}
	o.pictures = choice{"all", []string{"all", "svg", "none"}}
	o.format = choice{"text", []string{"text", "markdown", "html", "json", "csv"}}
	fs := newFlags("compare")
	fs.Var(&o.runs, "runs", "")
	o.from.what = "the number of a run"
	fs.Var(&o.from, "from", "")
	fs.Var(&o.faults, "faults", "")
	fs.Var(&o.fencing, "fencing", "")
	fs.Var(&o.style, "style", "")
	fs.Var(&o.properties, "property", "")
	fs.Var(&o.confidence, "confidence", "")
	fs.Var(&o.ratesOnly, "rates-only", "")
	fs.StringVar(&o.save, "save", "", "")
	fs.Var(&o.pictures, "pictures", "")
	fs.StringVar(&o.saved, "from-json", "", "")
	fs.Var(&o.format, "format", "")
	fs.StringVar(&o.out, "o", "", "")
	fs.Var(&o.jobs, "jobs", "")
	fs.Var(&o.progress, "progress", "")
	o.record.addTo(fs)
	o.look.addTo(fs)
	return fs
}

func runCompare(c *call) int {
	o := &compareOptions{}
	fs := compareFlags(o, c.env)
	names, err := c.parse(fs)
	if errors.Is(err, errHelp) {
		return c.help("compare")
	}
	if err == nil {
		err = o.record.check()
	}
	if err == nil {
		names, err = c.withProgram(names)
	}
	if err == nil {
		fs.Visit(func(f *flag.Flag) { o.runsGiven = o.runsGiven || f.Name == "runs" })
		err = c.checkComparison(o, names)
	}
	if err == nil && o.saved == "" {
		o.recorded, err = c.record(&o.record, fs, nil)
	}
	if err != nil {
		return c.wrong(err)
	}
	if o.saved != "" {
		return c.showAgain(o)
	}
	o.plan.Parts = o.recorded.parts
	if o.plan.Parts.Partial() || o.record.ledgerOnly() {
		return c.recordComparison(o)
	}
	return c.compare(o)
}

// checkComparison refuses flags that contradict each other, and makes a plan.
func (c *call) checkComparison(o *compareOptions, names []string) error {
	switch {
	case o.saved != "" && len(names) > 0:
		return fmt.Errorf("--from-json runs nothing, but %q was given", names[0])
	case o.saved != "" && o.save != "":
		return errors.New("--from-json runs nothing, so that --save has nothing to save; see -o")
	case o.from.value > math.MaxUint64-uint64(o.runs.value):
		return fmt.Errorf("--from %d: --from plus --runs exceeds 2^64", o.from.value)
	}
	style, _ := history.ParseStyle(o.style.value)
	percent, _ := strconv.Atoi(o.confidence.value)
	o.plan = compare.Plan{
		Faults: o.faults.chosen, Fencing: chosen(&o.fencing, history.ParseFencing), Style: style,
		Properties: chosen(&o.properties, checker.ParseProperty),
		Draws:      search.Seeds{First: o.from.value, Count: o.runs.value}, Confidence: percent, Folder: o.save,
		RatesOnly: bool(o.ratesOnly), Jobs: o.jobs.value,
	}
	var err error
	if o.plan.Locks, err = c.chosenLocks(names); err != nil {
		return err
	}
	o.plan.Locks = besideEachOther(o.plan.Locks, names)
	if !o.properties.given {
		o.plan.Properties = withSurvival(o.plan.Properties, o.plan.Locks)
	}
	if !o.runsGiven && slices.ContainsFunc(o.plan.Locks, func(l locks.Algorithm) bool { return l.Program != nil }) {
		o.plan.Draws.Count = runsOfPrograms
	}
	if !o.runsGiven && slices.ContainsFunc(o.plan.Locks, func(l locks.Algorithm) bool { return l.Varies() }) {
		o.plan.Draws.Count = runsOfCommands
	}
	return nil
}

// besideEachOther orders locks as they were named, so that a library can be next to the algorithm that it implements. Locks
// that are named by a word for several keep their order.
func besideEachOther(list []locks.Algorithm, names []string) []locks.Algorithm {
	if !slices.Contains(names, "all") && !slices.Contains(names, libraries) {
		slices.SortStableFunc(list, func(a, b locks.Algorithm) int {
			return slices.Index(names, a.Name) - slices.Index(names, b.Name)
		})
	}
	return list
}

// compare plays a plan, and reports the results, also after an interrupt.
func (c *call) compare(o *compareOptions) int {
	out, err := c.open(o.out) // first, since the results must have a destination
	if err != nil {
		return c.wrong(err)
	}
	if o.save != "" {
		if err := os.MkdirAll(filepath.Join(o.save, compare.ExampleFolder), 0o755); err != nil {
			return c.failures(errors.Join(err, out.discard()))
		}
	}
	progress := c.newProgress(o.progress, 0, time.Time{})
	result, err := compare.Compare(c.ctx, o.plan, func(doing string, done, of int) {
		progress.tell(doing, done, of)
	})
	progress.close()
	interrupted := errors.Is(err, context.Canceled)
	if code, tell := c.finished(o.recorded, &o.record, err); !tell {
		if err := out.discard(); err != nil {
			return c.failures(err)
		}
		return code
	}
	if err := tellStories(result); err != nil {
		return c.failures(errors.Join(err, out.discard()))
	}
	var saving error
	if o.save != "" {
		saving = c.saveCompared(o.save, o.pictures.value, result)
	}
	if err := errors.Join(saving, c.writeCompared(o, out, result.Comparison)); err != nil {
		return c.failures(err)
	}
	if interrupted {
		fmt.Fprintln(c.stderr, "locksim: interrupted")
		return exitInterrupted
	}
	return exitOK
}

// recordComparison plays a shard of a plan, or all of it, and writes its ledger only.
func (c *call) recordComparison(o *compareOptions) int {
	o.plan.Parts.Alone = true
	progress := c.newProgress(o.progress, 0, time.Time{})
	_, err := compare.Compare(o.recorded.context(c.ctx), o.plan, func(doing string, done, of int) { progress.tell(doing, done, of) })
	progress.close()
	code, _ := c.finished(o.recorded, &o.record, err)
	return code
}

// showAgain writes a saved comparison in another format.
func (c *call) showAgain(o *compareOptions) int {
	text, err := os.ReadFile(o.saved)
	if err != nil {
		return c.failures(err)
	}
	var saved compare.Comparison
	if err := json.Unmarshal(text, &saved); err != nil {
		return c.fail("compare: %s is not a comparison: %v", o.saved, err)
	}
	if err := saved.Valid(); err != nil {
		return c.fail("compare: %s is not a comparison: %v", o.saved, err)
	}
	out, err := c.open(o.out)
	if err != nil {
		return c.wrong(err)
	}
	if err := c.writeCompared(o, out, &saved); err != nil {
		return c.failures(err)
	}
	return exitOK
}

// writeCompared writes a comparison in the format that was asked for.
func (c *call) writeCompared(o *compareOptions, out *output, x *compare.Comparison) error {
	var err error
	switch o.format.value {
	case "markdown":
		err = comparison.Markdown(out, x, comparison.Links{})
	case "html":
		err = comparison.HTML(out, x, comparison.Links{})
	case "json":
		err = comparison.JSON(out, x)
	case "csv":
		err = comparison.CSV(out, x)
	default:
		text := o.look.on(out, c.env)
		err = comparison.Text(out, x, comparison.TextOptions{Width: text.Width, Color: text.Color, ASCII: text.ASCII})
	}
	if err != nil {
		return errors.Join(err, out.discard())
	}
	return out.commit()
}
