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
case of a scenario. Then it plays every placement of up to --max-faults faults from a menu at every step of the
protocol: the second fault at each step of the run that has the first one already. It says that no schedule violates a
property, or which do, each cause as the smallest scenario that shows it; and what was covered if it had to end early.

  --max-faults K     faults in one schedule at most, 0 to 4; 1
  --faults KINDS     kinds of faults on the menu, as client-pause,delay or all,-evict; those that act at a step
  --full             short pauses, cuts and delays too, servers that are down for long, and clients that come back
  --fencing MODE     the fencing mode; none, or the scenario's first
  --style STYLE      the client style; careless, or the scenario's first
  --variant NAME     the scenario's variant
  --client FOLDER    the lock is that of a client of one's own
  --property NAMES   properties of which violations count; all but availability
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
	names, err := parseFlags(exploreFlags(o, c.env), c.args)
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
	base, err := c.base(o, names[0])
	if err != nil {
		return c.failures(err)
	}
	faults := chosen(&o.faults, search.ParseKind)
	if len(faults) == 0 {
		faults = explore.Usual(base.Scenario)
	}
	return c.explore(o, base, explore.Options{
		Faults: faults, Full: bool(o.full), Most: o.most.value,
		Properties:  chosen(&o.properties, checker.ParseProperty),
		StopAtFirst: bool(o.toFirst), Jobs: o.report.jobs.value,
	})
}

// base is the case in which the lock or the scenario is explored.
func (c *call) base(o *exploreOptions, name string) (scenarios.Case, error) {
	s, err := c.explored(o, name)
	if err != nil {
		return scenarios.Case{}, err
	}
	cases, err := o.selection().Cases(s)
	if err != nil {
		return scenarios.Case{}, err
	}
	return cases[0], nil
}

// explored is the scenario to which faults are added.
func (c *call) explored(o *exploreOptions, name string) (*scenarios.Scenario, error) {
	if err := c.bring(name); err != nil {
		return nil, err
	}
	if lock, ok := locks.Find(name); ok {
		if o.variant != "" {
			return nil, fmt.Errorf("explore: --variant is for scenarios, and %s is a lock", name)
		}
		return explore.Base(&lock), nil
	}
	return c.baseScenario(name, o.variant)
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
