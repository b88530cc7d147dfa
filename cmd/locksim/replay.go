package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/scenarios"
)

func replayCommand() command {
	return command{
		name: "replay", summary: "replay scenarios on real servers, and compare with the simulation", usage: replayUsage,
		run: runReplay, ends: true, names: scenarios.Names,
	}
}

const replayUsage = `usage: locksim replay --live NAME|FILE... [flags]
       locksim replay --live --all [flags]

Replays scenarios or counterexamples on real servers: starts the servers on loopback and a process for each client,
injects the faults (SIGSTOP, kill -9, proxies, libfaketime, REPLICAOF), judges the history with the same checker, and
prints which verdicts are those of the simulation. Scenarios that cannot be replayed are refused with the reason. A run
is repeated if a fault did not act, a process was late, or the run was cut off. The verdicts "held" and "vacuous" side by
side are not a difference, but not an agreement either, since one of the runs did not expose the property; the totals
count such pairs separately.

  --live             on real servers (required; there is no other mode yet)
  --all              every named scenario on Redis and ZooKeeper
  --variant NAME     only this variant
  --style STYLE      only this client style: careless, attentive or careful
  --fencing MODE     only this fencing mode
  --speed N          replay N times as fast as the scenario says (default the fastest at which the simulation still gives
                     the same verdicts, at most 20)
  --attempts N       maximum number of runs of one case (default 8)
  --format FORMAT    text or json (default text)

Needs redis-server, or ZooKeeper and Java, or etcd; for wrong clocks of servers also libfaketime. No process or file is
left behind.

Exit codes: 0 the verdicts agree, 1 they differ, 2 wrong usage or invalid scenario, 3 nothing could be compared: the
scenario cannot be replayed, a program is missing, or no run was valid, 130 interrupted.
`

// replayOptions are the flags of replay.
type replayOptions struct {
	caseFlags
	live, all boolFlag
	format    choice
	speed     speedFlag
	attempts  count
}

func replayFlags(o *replayOptions) *flag.FlagSet {
	o.format = choice{"text", []string{"text", "json"}}
	o.attempts = count{replay.DefaultAttempts, 1, 1000}
	fs := newFlags("replay")
	o.addTo(fs)
	fs.Var(&o.live, "live", "")
	fs.Var(&o.all, "all", "")
	fs.Var(&o.speed, "speed", "")
	fs.Var(&o.attempts, "attempts", "")
	fs.Var(&o.format, "format", "")
	return fs
}

// speedFlag is how much faster than it says a scenario is played.
type speedFlag float64

// String returns the speed.
func (s *speedFlag) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Set reads the speed.
func (s *speedFlag) Set(text string) error {
	speed, err := strconv.ParseFloat(text, 64)
	if err != nil || !(speed >= 0.01 && speed <= 1000) {
		return errors.New("not a number from 0.01 to 1000")
	}
	*s = speedFlag(speed)
	return nil
}

func runReplay(c *call) int {
	o := &replayOptions{}
	names, err := c.parse(replayFlags(o))
	if errors.Is(err, errHelp) {
		return c.help("replay")
	}
	if err == nil {
		err = o.check(names)
	}
	if err != nil {
		return c.wrong(err)
	}
	cases, err := c.replayed(o, names)
	if err != nil {
		return c.failures(err)
	}
	return c.replay(o, cases)
}

func (o *replayOptions) check(names []string) error {
	switch {
	case !bool(o.live):
		return errors.New("--live is required; to simulate, use locksim run")
	case bool(o.all) && len(names) > 0:
		return fmt.Errorf("--all takes no names, but %q was given", names[0])
	case !bool(o.all) && len(names) == 0:
		return errors.New("no scenario given: name one, or a file, or --all; see locksim list scenarios")
	}
	return nil
}

// replayed lists the cases that were asked for.
func (c *call) replayed(o *replayOptions, names []string) (cases []scenarios.Case, err error) {
	var list []*scenarios.Scenario
	if o.all {
		if list, err = replay.Named(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		s, err := c.find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	selection := o.selection()
	for _, s := range list {
		some, err := selection.Cases(s)
		if err != nil && bool(o.all) {
			continue // few scenarios have a given variant
		}
		if err != nil {
			return nil, err
		}
		cases = append(cases, some...)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("replay: no scenario has a variant %q", o.variant)
	}
	return cases, nil
}

// replay plays the cases one after another, and reports each when it has been.
func (c *call) replay(o *replayOptions, cases []scenarios.Case) int {
	self, err := os.Executable()
	if err != nil {
		return c.failures(err)
	}
	options := &replay.Options{
		Program: []string{self}, Speed: float64(o.speed), Play: c.played(), Attempts: o.attempts.value,
	}
	report := replayReport(o.format.value, c.stdout)
	for _, each := range cases {
		r, err := replay.Play(c.ctx, each, options)
		switch {
		case c.ctx.Err() != nil:
			return c.replayEnds(report, exitInterrupted)
		case err != nil:
			return c.failures(err)
		}
		if err := report.Add(&r); err != nil {
			return c.failures(err)
		}
	}
	return c.replayEnds(report, replayCodes[report.Worst()])
}

// replayCodes are the exit codes by the gravest outcome.
var replayCodes = map[replay.Outcome]int{
	replay.Agrees: exitOK, replay.Differs: exitDiffers, replay.Inconclusive: exitInconclusive, replay.Refused: exitInconclusive,
}

func (c *call) replayEnds(report replay.Reporter, code int) int {
	if err := report.Close(code == exitInterrupted); err != nil {
		return c.failures(err)
	}
	if code == exitInterrupted {
		fmt.Fprintln(c.stderr, "locksim: interrupted")
	}
	return code
}

func replayReport(format string, w io.Writer) replay.Reporter {
	if format == "json" {
		return replay.NewJSON(w)
	}
	return replay.NewTable(w)
}

// playClient has this process be a client of a replay.
func playClient() int {
	if err := replay.Client(os.Stdin, os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		return exitDiffers
	}
	return exitOK
}
