package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

func runCommand() command {
	return command{name: "run", summary: "simulate scenarios, and show what happens", usage: runUsage(), run: runRun, plays: inScenario, names: scenarios.Names}
}

func runUsage() string {
	return `usage: locksim run NAME|FILE... [flags]
       locksim run NAME|FILE... [flags] -- PROGRAM [ARGUMENT...]
       locksim run --all [flags]

Simulates each scenario in every variant, client style and fencing mode that it names, all with the same seed, and
prints the verdicts beside the expected ones, a timeline, the key events, an explanation, and the command that replays
the run. With --all or --seeds it prints a table instead, with the seeds whose verdicts are not as expected. A property
that the scenario's expectations do not mention must not be violated.

With a program after --, each client is a process of that program, in any language, whose clocks show virtual time, or real time
after -- --time=real: see
docs/languages.md. With --real it is played on real servers of this machine: see docs/real-servers.md.

  --all              every named scenario
  --fencing MODE     only this fencing mode, which the scenario need not name, or all modes
  --style STYLE      only this client style: careless, attentive or careful
  --variant NAME     only this variant
  --lock NAME        use this lock, which needs the same backend, instead of the scenario's; it must not violate any
                     property
  --versions LIST    play these versions of the library whose lock the scenario has, such as v0.9.3,v0.9.4, or all that
                     locksim list locks names, and print which show the violations that the scenario expects
  --set PATH=VALUE   change a field of the scenario, such as lock.ttl=4s, a.work=2s or a.pause=3s (see locksim help
                     measure); no property may be violated then. Several are allowed
  --expect any       properties that the expectations do not mention may be violated
  --no-margin        play no further runs: not to find the smallest changes of lengths that violate what held, nor from
                     when on a violation was inevitable, nor what prevents it
  --real             play the program behind -- on redis-server, ZooKeeper or etcd, in real time, with the faults of replay;
                     --seeds N plays N times
  --seed S           the seed, such as 42 or 0x2a (default the scenario's own)
  --seeds N          run N consecutive seeds, beginning with that one (default 1)
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --format FORMAT    one of these (default text)
` + formatHelp() + `  -o FILE            write to this file, which is replaced when all runs are complete
  -o FOLDER/         write a file for each picture into this folder (svg, slide, png, html, mermaid, log)
  --lanes NAMES      slide and png: the lanes of these nodes, or of these names, such as a,b,storage (default all)
  --width N          width in columns, at least 72 (default: the variable COLUMNS, the width of the terminal, or 100;
                     for svg and html ` + fmt.Sprint(imageColumns) + `)
  --ascii            use ASCII characters only
  --color WHEN       auto, always or never (default auto, which honours NO_COLOR)

After an interrupt or SIGTERM, the report covers the runs so far and is marked as interrupted; -o FILE is then written to
FILE.partial.

Exit codes: 0 as expected, 1 not as expected, or an unexpected violation, 2 wrong usage or invalid scenario,
3 inconclusive, or not possible on real servers, 130 interrupted.
` + clientsHelp
}

// runOptions are the flags of run.
type runOptions struct {
	caseFlags
	set         changeList
	all         boolFlag
	lock, out   string
	versions    string
	lanes       string
	format      choice
	look        look
	expect      choice
	noMargin    boolFlag
	real        boolFlag
	seed        seedFlag
	seeds, jobs count
	names       []string
	play        harness.Options // with the lock of --lock
}

// batch is the jobs to run, with the files of their scenarios.
type batch struct {
	jobs  []search.Job
	files []string // of each job; "" if the scenario is a named one
}

// planned is the number of planned runs.
func (p *batch) planned() int {
	n := 0
	for _, job := range p.jobs {
		n += job.Seeds.Count
	}
	return n
}

const (
	maxSeeds = 1_000_000_000
	maxJobs  = 1024
	minWidth = 72
	maxWidth = 1000
)

func runFlags(o *runOptions, e env) *flag.FlagSet {
	o.format = choice{"text", formatNames()}
	o.expect = choice{"", []string{"any"}}
	o.seeds = count{1, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	fs := newFlags("run")
	o.addTo(fs)
	o.fencing.allowed = append(o.fencing.allowed, everyMode)
	fs.Var(&o.all, "all", "")
	fs.Var(notEmpty{&o.lock}, "lock", "")
	fs.Var(notEmpty{&o.versions}, "versions", "")
	fs.Var(&o.set, "set", "")
	fs.Var(&o.expect, "expect", "")
	fs.Var(&o.noMargin, "no-margin", "")
	fs.Var(&o.real, "real", "")
	fs.Var(&o.seed, "seed", "")
	fs.Var(&o.seeds, "seeds", "")
	fs.Var(&o.jobs, "jobs", "")
	fs.Var(&o.format, "format", "")
	fs.StringVar(&o.out, "o", "", "")
	fs.StringVar(&o.lanes, "lanes", "", "")
	o.look.addTo(fs)
	return fs
}

func runRun(c *call) int {
	o := &runOptions{}
	names, err := c.parse(runFlags(o, c.env))
	if errors.Is(err, errHelp) {
		return c.help("run")
	}
	if err == nil {
		err = o.wrongWithVersions(c)
	}
	switch {
	case err != nil:
	case bool(o.all) && len(o.set.list) > 0:
		err = errors.New("--set changes the scenarios that are named, and --all names none")
	case bool(o.all) && len(names) > 0:
		err = fmt.Errorf("--all takes no names, but %q was given", names[0])
	case o.lanes != "" && o.format.value != "slide" && o.format.value != "png":
		err = errors.New("--lanes is for --format slide and png")
	case bool(o.real) && c.argv == nil:
		err = errors.New("--real plays a program on real servers: want one behind --, such as -- node client.js; for a lock of the catalogue there is locksim replay")
	case bool(o.real) && (o.format.value == "junit" || o.format.value == "github"):
		err = fmt.Errorf("--format %s plays what is not as expected again, in a simulation: not with --real", o.format.value)
	case !bool(o.all) && len(names) == 0:
		err = errors.New("no scenario given: name one, or a file, or --all; see locksim list scenarios")
	}
	if err != nil {
		return c.wrong(err)
	}
	o.names = names
	if o.versions != "" {
		return c.runVersions(o)
	}
	c.real = bool(o.real)
	if err := c.playProgram(&o.lock); err != nil {
		return c.wrong(err)
	}
	list, err := c.load(o)
	if err != nil {
		return c.failures(err)
	}
	if c.argv != nil && !slices.ContainsFunc(list, func(l loaded) bool { return !slices.Contains(l.scenario.Algorithms(), o.lock) }) {
		o.lock = "" // they are scenarios of that program
	}
	if err := c.findLock(o); err != nil {
		return c.wrong(err)
	}
	p, err := o.compile(list)
	if err != nil {
		return c.failures(err)
	}
	return c.play(o, p)
}

// findLock finds the lock that is played: that of --lock, if it is set.
func (c *call) findLock(o *runOptions) error {
	if o.lock == "" {
		o.play = c.played()
		return nil
	}
	if err := c.bring(o.lock); err != nil {
		return err
	}
	found, ok := c.locks.Find(o.lock)
	if !ok {
		return fmt.Errorf("there is no lock %q%s", o.lock, didYouMean(o.lock, append(lockNames(), clients.Names()...), "list locks"))
	}
	o.play = harness.Options{Locks: c.locks, Instead: &found}
	return nil
}

// compile makes a job of each case of some scenarios.
func (o *runOptions) compile(list []loaded) (*batch, error) {
	p, chosen := &batch{}, o.selection()
	for _, l := range list {
		if o.expect.value != "" {
			l.scenario = l.scenario.OrAny()
		}
		if idle := harness.Refuse(l.scenario, o.play); o.play.Instead == nil && len(idle) > 0 {
			return nil, idle
		}
		cases, err := chosen.Cases(l.scenario)
		if err != nil && bool(o.all) {
			continue // few scenarios have a given variant
		}
		if err != nil {
			return nil, err
		}
		seeds, err := o.seedsOf(l.scenario)
		if err != nil {
			return nil, err
		}
		for _, each := range cases {
			if err := o.fits(each.Scenario); err != nil {
				if bool(o.all) {
					continue
				}
				return nil, err
			}
			plan, err := harness.Compile(each, o.play)
			if err != nil {
				return nil, err
			}
			p.jobs = append(p.jobs, search.Job{Plan: plan, Seeds: seeds})
			p.files = append(p.files, l.file)
		}
	}
	if len(p.jobs) == 0 {
		return nil, o.nothing()
	}
	return p, nil
}

// fits refuses a lock that does not live on the scenario's servers.
func (o *runOptions) fits(s *scenarios.Scenario) error {
	if o.play.Instead == nil || o.play.Instead.Backend() == s.Servers.Kind {
		return nil
	}
	return fmt.Errorf("the lock %s needs %s, but the servers of %s are %s; see locksim list locks", o.play.Instead.Name,
		titleOf(o.play.Instead.Backend()), s.Name, s.Servers.Title())
}

// nothing says why no case is left to be played.
func (o *runOptions) nothing() error {
	switch {
	case o.play.Instead == nil:
		return fmt.Errorf("no scenario has a variant %q", o.variant)
	case o.variant == "":
		return fmt.Errorf("no scenario runs on %s", titleOf(o.play.Instead.Backend()))
	}
	return fmt.Errorf("no scenario on %[2]s has a variant %[1]q", o.variant,
		titleOf(o.play.Instead.Backend()))
}

// seedsOf is the seeds that a scenario is played with. They do not begin again at 0 after the last one.
func (o *runOptions) seedsOf(s *scenarios.Scenario) (search.Seeds, error) {
	seeds := search.Seeds{First: s.Seed, Count: o.seeds.value}
	if o.seed.set {
		seeds.First = o.seed.value
	}
	if left := math.MaxUint64 - seeds.First; uint64(seeds.Count-1) > left {
		return search.Seeds{}, fmt.Errorf("run: --seeds %d from %#x on: there are only %d up to the last seed, %#x",
			seeds.Count, seeds.First, left+1, uint64(math.MaxUint64))
	}
	return seeds, nil
}

// loaded is a scenario and where it is from.
type loaded struct {
	scenario *scenarios.Scenario
	file     string // "" if it is a named one
}

func (c *call) load(o *runOptions) ([]loaded, error) {
	var list []loaded
	if o.all {
		all, err := scenarios.All()
		for _, s := range all {
			list = append(list, loaded{scenario: s})
		}
		return list, err
	}
	for _, name := range o.names {
		t, err := readText(name)
		if err != nil {
			return nil, err
		}
		s, err := t.with(o.set.list, o.variant)
		if err == nil {
			err = c.bringOf(s)
		} else if len(o.set.list) == 0 {
			err = c.withUnknownLocks(s, err)
		}
		if err != nil {
			return nil, err
		}
		l := loaded{scenario: s}
		if t.isFile {
			l.file = name
		}
		if strings.HasPrefix(l.file, "-") { // so that it can be played again without "--"
			l.file = "./" + l.file
		}
		list = append(list, l)
	}
	return list, nil
}

// play plays the jobs and reports.
func (c *call) play(o *runOptions, p *batch) int {
	r, out, err := c.reporter(o, p)
	if err != nil {
		return c.wrong(err)
	}
	played := 0
	add := func(job int, run reports.Run) error {
		played++
		run.File = p.files[job]
		return r.add(job, run)
	}
	if bool(o.real) {
		err = c.onRealServers(p, add)
	} else {
		err = search.Many(c.ctx, p.jobs, search.Options{Jobs: o.jobs.value, Keep: r.keeps()}, func(x search.Outcome) error {
			return add(x.Job, account.Of(p.jobs[x.Job].Plan, x.Result))
		})
	}
	cut := 0 // runs there should have been
	if errors.Is(err, context.Canceled) {
		err = nil
		if n := p.planned(); played < n {
			cut = n
		}
	}
	if err != nil {
		code := c.failures(errors.Join(err, out.discard()))
		if replay.IsRefusal(err) {
			return exitInconclusive
		}
		return code
	}
	if err := r.close(cut); err != nil {
		return c.failures(errors.Join(err, out.discard()))
	}
	if cut > 0 {
		path, err := out.commitPart()
		fmt.Fprintf(c.stderr, "locksim: interrupted; the first %d of %d runs are in %s\n", played, cut, orStandard(path))
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
