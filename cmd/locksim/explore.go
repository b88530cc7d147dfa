package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/explore"
)

func exploreCommand() command {
	return command{
		name: "explore", summary: "play every placement of a few faults in one run",
		usage: exploreUsage, run: runExplore, ends: true,
	}
}

const exploreUsage = `usage: locksim explore LOCK [flags]
       locksim explore SCENARIO|FILE [flags]

Pins a base run: two clients that contend for a lock of the catalogue, on servers as it is usually deployed on; or one
case of a scenario. Of a lock it pins variations, too, with at most one fault: a client that tries or gives up, lives on
and comes back later; and one that calls Unlock again after an error. Then it plays every placement of up to --max-faults faults from a menu at every step of the
protocol: the second fault at each step of the run that has the first one already. It says that no schedule violates a
property, or which do, each cause as the smallest scenario that shows it; and what was covered if it had to end early.

  --max-faults K     faults in one schedule at most, 0 to 4; 1
  --faults KINDS     kinds of faults on the menu, as client-pause,delay or all,-evict; those that act at a step
  --full             short pauses, cuts and delays too, servers that are down for long, and clients that come back
  --fencing MODE     the fencing mode; none, or the scenario's first
  --style STYLE      the client style; careless, or the scenario's first
  --variant NAME     the scenario's variant; of a lock base, tries, gives-up or repeats alone, with --max-faults faults
  --client FOLDER    the lock is that of a client of one's own
  --property NAMES   properties of which violations count; all but availability, leak, silent-loss and load
  --for DURATION     stop after that time, as 30s or 1h
  --stop-at-first    stop at the first violation
  --jobs N           runs at once; the output does not depend on it
  --save DIR         where findings are saved; the current directory
  --pictures         draws each finding beside its file, as SVG and as a page to step through
  --format FORMAT    text, json, or github: annotations, and the step's summary
  --progress         tell how far it has come even if nobody looks at a terminal
  --width N, --ascii, --color WHEN   as for locksim run

Faults act right before or after a step, from a client's first step until the last client lets go: after that nobody
is left to be harmed. Schedules that are the same run are played once. One that violates is not extended, and one that
contains it is not played. An interrupt ends the exploration early: what was found until then is made minimal, printed
and saved. Another one, or one that comes when the exploration is over, has it saved as it is.

What it does not place: faults at times between two steps, or at the heartbeats by which servers know of each other;
other magnitudes than those of the menu that it prints; other latencies, orders and random numbers than the base's.
Nor, unless --faults names them: stalls (the delay of a message does the same), drift and same-random (they are there
from the start on), the loss of a machine's power if its disk has all that its process has written.

Exit codes: 0 no violation in all schedules, 1 a violation, 2 usage, 3 no violation, but of some schedules nothing can
be said, as when --for ended it early: it was asked about all of them. (fuzz then says 0: it was asked for as many runs
as there is time for.) 130 interrupted.
` + clientsHelp

// exploreOptions are the flags of explore.
type exploreOptions struct {
	caseFlags
	report                  huntReport
	most                    count
	within                  duration
	full, toFirst, progress boolFlag
	faults, properties      names
	client                  string
}

// mostExplored is how many faults a schedule may have: with more there is no end to it.
const mostExplored = 4

func exploreFlags(o *exploreOptions, e env) *flag.FlagSet {
	o.most = count{1, 0, mostExplored}
	o.faults = names{what: "kind of fault", allowed: kindNames(search.Kinds())}
	o.properties = names{what: "property", allowed: checker.PropertyNames()}
	fs := newFlags("explore")
	o.report.addTo(fs, e)
	o.addTo(fs)
	fs.Var(&o.most, "max-faults", "")
	fs.Var(&o.faults, "faults", "")
	fs.Var(&o.full, "full", "")
	fs.StringVar(&o.client, "client", "", "")
	fs.Var(&o.properties, "property", "")
	fs.Var(&o.within, "for", "")
	fs.Var(&o.toFirst, "stop-at-first", "")
	fs.Var(&o.progress, "progress", "")
	return fs
}

func runExplore(c *call) int {
	o := &exploreOptions{}
	names, err := c.parse(exploreFlags(o, c.env))
	if o.client != "" {
		names = append(names, ownClient(o.client))
	}
	switch {
	case errors.Is(err, errHelp):
		return c.help("explore")
	case err != nil:
	case len(names) == 0:
		err = errors.New("which lock, or which scenario? See locksim list")
	case len(names) > 1:
		err = fmt.Errorf("one lock or scenario at a time, but %q was given too", names[1])
	}
	if err != nil {
		return c.wrong(err)
	}
	bases, err := c.bases(o, names[0])
	if err != nil {
		return c.failures(err)
	}
	return c.explore(o, bases[0], explore.Options{
		Faults: chosen(&o.faults, search.ParseKind), Full: bool(o.full), Most: o.most.value, Variations: bases[1:],
		Properties:  chosen(&o.properties, checker.ParseProperty),
		StopAtFirst: bool(o.toFirst), Jobs: o.report.jobs.value,
	})
}

// bases are the cases in which the lock or the scenario is explored: for a scenario one, for a lock the base first and
// then its variations, unless one of them is chosen.
func (c *call) bases(o *exploreOptions, name string) ([]scenarios.Case, error) {
	if err := c.bring(name); err != nil {
		return nil, err
	}
	selected := o.selection()
	if lock, ok := locks.Find(name); ok {
		base := explore.Base(&lock)
		all := append([]scenarios.Variant{{Name: base.Name, Scenario: base}}, explore.Variations(base)...)
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

// explore explores a base, and reports what came of it.
func (c *call) explore(o *exploreOptions, base scenarios.Case, options explore.Options) int {
	ctx, cancel, until := c.ctx, context.CancelFunc(func() {}), time.Time{}
	if d := o.within.value; d > 0 {
		until = time.Now().Add(d)
		ctx, cancel = context.WithDeadline(c.ctx, until)
	}
	defer cancel()
	progress := c.newProgress(o.progress, 0, until)
	options.Reducing = c.nextInterrupt
	options.Progress = func(r *explore.Result) { progress.show(uint64(r.Played()), uint64(r.Violating())) }
	since := time.Now()
	result, err := explore.Explore(ctx, base, options)
	progress.close()
	if err != nil {
		return c.failures(err)
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
