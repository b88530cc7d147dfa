package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/explore"
	"github.com/locksim/locksim/scenarios"
)

func exploreCommand() command {
	return command{
		name: "explore", summary: "try every placement of a few faults in one run",
		usage: exploreUsage, run: runExplore, ends: true, plays: asLock, names: locksAndScenarios, records: true,
	}
}

const exploreUsage = `usage: locksim explore LOCK [flags]
       locksim explore SCENARIO|FILE [flags]
       locksim explore [SCENARIO|FILE] [flags] -- PROGRAM [ARGUMENT...]

Takes one base run and tries every placement of up to --max-faults faults in it: each fault of the fault model at each
step of the protocol, and a second fault at each step of the run that has the first one. The base run of a lock has two
clients that contend for it, on the servers on which it is usually deployed; the base run of a scenario is one of its
cases. For a lock, three variations of the base run are explored, too, with at most one fault: a client that tries once,
or gives up waiting, and asks again later; and a client that calls Unlock again after an error.

The result is either that no schedule violates a property, or, for each cause, the smallest scenario that violates one.
If the exploration ends early, the report says how much was covered.

What follows -- is a program of any language, which is played in place of a lock: see docs/languages.md. One fault at most is
placed, at the steps that a run without faults has taken, for times that follow from the life of its lease. The report says in
how many of 5 runs without faults it took the same steps. What was not violated is not-seen.

  --max-faults K     maximum number of faults in one schedule, 0 to 4 (default 1)
  --runs N           maximum number of schedules with one fault that are played; if there are more, these are drawn evenly
                     (default all; of a program 400)
  --faults KINDS     fault kinds, such as client-pause,delay or all,-evict: those that act at a step
  --full             also short pauses, cuts and delays, long downtimes of servers, and clients that restart
  --fencing MODE     fencing mode (default: for a lock, the mode none; for a scenario, the first that it names)
  --style STYLE      client style (default: for a lock careless; for a scenario, the first that it names)
  --variant NAME     the scenario's variant; for a lock only base, tries, gives-up or repeats, with --max-faults faults
  --client FOLDER    explore your own client of a library, whose program is in this folder
  --property NAMES   properties whose violations count (default all but availability, leak, silent-loss and load)
  --for DURATION     stop after this time, such as 30s or 1h
  --stop-at-first    stop at the first violation
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --save DIR         save findings in this folder (default findings)
  --pictures         draw each finding beside its file, as SVG and as an interactive HTML page
  --format FORMAT    text, json, or github: annotations and a step summary (default text)
  --progress         show progress even if stderr is not a terminal
` + recordingHelp + `  --width N, --ascii, --color WHEN   as for locksim run

Faults act right before or right after a step, from the first step of a client until the last client releases the lock.
Schedules that lead to the same run are played once. No fault is added to a schedule that violates a property already,
and no schedule that contains it is played. After an interrupt the exploration stops early, and its findings are
minimized, printed and saved. A second interrupt, or one that comes while findings are being minimized, saves them as
they are.

Not explored: faults between two steps, or at the heartbeats between servers; durations other than those of the fault
model, which the report prints; latencies, message orders and random numbers other than those of the base run. Unless
--faults names them: stalls (delaying a message does the same), drift and same-random (both act from the start), and the
power loss of a machine whose disk has everything that its process has written.

Exit codes: 0 no schedule violates a property, 1 a violation, 2 wrong usage, 3 no violation, but some schedules were
inconclusive or not played, such as after --for or --runs ended the exploration (fuzz exits with 0 then, since its task is to run
as much as the time allows), 130 interrupted.
` + clientsHelp

// exploreOptions are the flags of explore.
type exploreOptions struct {
	caseFlags
	report                  findingsFlags
	most, runs              count
	within                  duration
	full, toFirst, progress boolFlag
	faults, properties      names
	client                  string
	record                  recording
	recorded                *recorded
}

// mostExplored limits the faults of a schedule: with more, an exploration would never end.
const mostExplored = 4

func exploreFlags(o *exploreOptions, e env) *flag.FlagSet {
	o.most, o.runs = count{1, 0, mostExplored}, count{0, 1, maxSeeds}
	o.faults = names{what: "kind of fault", allowed: search.Names(search.Kinds())}
	o.properties = names{what: "property", allowed: checker.PropertyNames()}
	fs := newFlags("explore")
	o.report.addTo(fs, e)
	o.addTo(fs)
	fs.Var(&o.most, "max-faults", "")
	fs.Var(&o.runs, "runs", "")
	fs.Var(&o.faults, "faults", "")
	fs.Var(&o.full, "full", "")
	fs.StringVar(&o.client, "client", "", "")
	fs.Var(&o.properties, "property", "")
	fs.Var(&o.within, "for", "")
	fs.Var(&o.toFirst, "stop-at-first", "")
	fs.Var(&o.progress, "progress", "")
	o.record.addTo(fs)
	return fs
}

func runExplore(c *call) int {
	o := &exploreOptions{}
	set := exploreFlags(o, c.env)
	names, err := c.parse(set)
	if o.client != "" {
		names = append(names, ownClient(o.client))
		err = cmp.Or(err, missing(o.client))
	}
	if err == nil && !slices.ContainsFunc(names, c.isScenario) {
		names, err = c.withProgram(names)
	}
	switch {
	case errors.Is(err, errHelp):
		return c.help("explore")
	case err != nil:
	case len(names) == 0:
		err = errors.New("no lock or scenario given; see locksim list")
	case len(names) > 1:
		err = fmt.Errorf("one lock or scenario at a time, but %q was given too", names[1])
	case o.record.ledger != "" && (o.within.value > 0 || bool(o.toFirst)):
		err = errors.New("with --for or --stop-at-first an exploration ends early, so that no --ledger of it would be whole")
	default:
		err = o.record.check()
	}
	if err != nil {
		return c.wrong(err)
	}
	var bases []scenarios.Case
	if !c.promptly(func() { bases, err = c.bases(o, names[0]) }) {
		return exitInterrupted
	}
	if err == nil {
		o.recorded, err = c.record(&o.record, set, names)
	}
	if err != nil {
		return c.failures(err)
	}
	if lock, _ := c.locks.Find(bases[0].Scenario.Lock.Algorithm); lock.Varies() {
		o.runs.value = cmp.Or(o.runs.value, exploredOfCommand)
	}
	return c.explore(o, bases[0], explore.Options{
		Play: c.played(), Faults: chosen(&o.faults, search.ParseKind), Full: bool(o.full), Most: o.most.value, Runs: o.runs.value, Variations: bases[1:],
		Properties:  chosen(&o.properties, checker.ParseProperty),
		StopAtFirst: bool(o.toFirst), Jobs: o.report.jobs.value, Parts: o.recorded.parts,
	})
}

// exploredOfCommand is the default of how many schedules of a program are played: some minutes at most.
const exploredOfCommand = 400

// bases are the cases in which the lock or the scenario is explored: for a scenario one, for a lock the base first and
// then its variations, unless one of them is chosen, or the lock is that of a program whose runs are slow.
func (c *call) bases(o *exploreOptions, name string) ([]scenarios.Case, error) {
	if err := c.bring(name); err != nil {
		return nil, err
	}
	selected := o.selection()
	if lock, ok := c.locks.Find(name); ok {
		base := explore.Base(&lock)
		all := append([]scenarios.Variant{{Name: base.Name, Scenario: base}}, explore.Variations(base)...)
		if lock.Varies() {
			selected.Variant = cmp.Or(selected.Variant, base.Name)
			if err := search.Rehearse(search.Wide(&lock, nil), c.played()); err != nil {
				return nil, err
			}
		}
		return selected.Cases(&scenarios.Scenario{Name: name, Variants: all})
	}
	s, err := c.baseScenario(name, o.variant)
	if err != nil {
		return nil, err
	}
	selected.Variant = "" // it is that one already
	cases, err := selected.Cases(s)
	return cases[:min(1, len(cases))], err
}

// explore explores a base, and reports the result.
func (c *call) explore(o *exploreOptions, base scenarios.Case, options explore.Options) int {
	ctx, cancel, until := c.ctx, context.CancelFunc(func() {}), time.Time{}
	if d := o.within.value; d > 0 {
		until = time.Now().Add(d)
		ctx, cancel = context.WithDeadline(c.ctx, until)
	}
	defer cancel()
	progress := c.newProgress(o.progress, 0, until)
	options.Reducing = c.nextInterrupt
	if options.Parts != nil {
		options.Parts.Alone = o.record.ledgerOnly()
	}
	options.Progress = func(r *explore.Result) { progress.show(uint64(r.Played()), uint64(r.Violating())) }
	since := time.Now()
	result, err := explore.Explore(o.recorded.context(ctx), base, options)
	progress.close()
	if code, tell := c.finished(o.recorded, &o.record, err); !tell {
		return code
	}
	e := &explored{Result: result, took: time.Since(since), picture: bool(o.toFirst)}
	e.interrupted = result.Interrupted ||
		slices.ContainsFunc(result.Findings, func(f explore.Finding) bool { return f.Rough })
	for _, f := range result.Findings {
		run, err := completeFinding(f.Counterexample)
		if err != nil {
			return c.failures(err)
		}
		file, err := c.saveFinding(o.report.save, f.Counterexample)
		if err != nil {
			return c.failures(err)
		}
		shown := finding{cx: f.Counterexample, run: run, file: file, hits: f.Hits, first: uint64(f.First)}
		if o.report.pictures {
			if err := c.savePictures(shown); err != nil {
				return c.failures(err)
			}
		}
		e.shown = append(e.shown, shown)
	}
	return c.reportExplored(e, &o.report)
}
