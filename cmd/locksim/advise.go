package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/advise"
	"github.com/locksim/locksim/scenarios"
)

func adviseCommand() command {
	return command{
		name: "advise", summary: "say what to change so that your lock holds", usage: adviseUsage, run: runAdvise,
	}
}

const adviseUsage = `usage: locksim advise --lock LOCK --ttl T --work T --pause T [flags]
       locksim advise FILE|SCENARIO [flags]

Writes your own case as a scenario file, runs it, and says what to change so that it holds: shorter work, a longer lease,
renewal, fencing, other options of the servers, or another lock. Each piece of advice has been played with the same seeds
as your case, stands with the command that plays it, and says what it costs. On a terminal, what is needed and missing is
asked for. Of a scenario that exists, it says the same.

What you use:
  --lock LOCK        the lock: see locksim list locks
  --ttl T            the time to live of its lease, or the time-out of its session
  --renew T          how often the holder renews it (default: the lock's own)
  --work T           the longest time that a critical section takes
  --cpu-bound        the work keeps the processor busy, so that pauses make it last longer
  --clients N        how many clients want the lock (default 2)
  --latency DELAY    the latency of a message, as the scenario's field network.latency, such as 5ms or [1ms, 20ms]
  --style STYLE      when a client stops: careless (default), attentive: also if it is notified of its loss, careful: also at
                     the deadline of its lease
  --fencing MODE     what the protected resource compares: none (default), check-then-write, fenced-write,
                     fenced-read-write, token-equality or compare-and-set

How Redis is deployed (default one server):
  --servers N        independent servers, for Redlock and its like
  --replicas N       replicas of one master
  --sentinel         Sentinels watch the master; two replicas unless --replicas says otherwise
  --cluster          a Redis Cluster; two replicas of each master unless --replicas says otherwise
  --persistence P    none, rdb, lazy, everysec or always

What may happen, each by itself, at its worst moment:
  --pause T          the holder's process stops for as long; 0s if that cannot happen
  --cut T            the holder cannot reach the lock's servers for as long
  --restart T        a server crashes, and is back after this time
  --failover T       a server is lost, and is replaced after this time: down-after-milliseconds of Sentinel,
                     cluster-node-timeout, or what an operator takes
  --clock-step T     the clock of a server jumps; it may be negative
  --drift RATE       the clocks of the servers run faster, such as 1% or 500ppm

  -o FILE            write the scenario to this file (default my-case.yaml, or the next free number)
  --set PATH=VALUE   change a field of the scenario FILE. Several are allowed
  --runs N           seeds for each change that is tried (default 200, or 40 for a library); up to eight times as many, but of a
                     library, if something is violated in fewer than five runs, too few to tell help from luck
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --format FORMAT    text or json (default text)
  --progress         show progress even if stderr is not a terminal

Scenarios of locks on other servers are written into a folder beside the file: my-case-locks. With what nothing is violated
is played with longer pauses, too, and stands with how long they may be; not so for libraries.

A lock that is a published mistake, superseded or unavailable is never advised. After an interrupt, what was found so far
is printed.

Exit codes: 0 nothing is violated as it is, 1 something is, 2 wrong usage or invalid scenario, 3 inconclusive, 130
interrupted.
` + clientsHelp

// adviseOptions are the flags of advise.
type adviseOptions struct {
	lock                      string
	ttl, renew, work          length
	pause, cut, restart       length
	failover, step            length
	cpu, sentinel, cluster    boolFlag
	clients, servers, copies  count
	latency, drift, out       string
	style, fencing, persisted choice
	set                       changeList
	runs, jobs                count
	format                    choice
	progress                  boolFlag

	given map[string]bool // the flags that describe a case
}

// length is a duration with a unit, within bounds.
type length struct{ value, least time.Duration }

// longest is the longest duration that a scenario's file takes.
const longest = 1000 * time.Hour

// String returns the duration.
func (s *length) String() string { return scenarios.Brief(s.value) }

// Set reads the duration.
func (s *length) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < s.least || d > longest {
		return fmt.Errorf("want a duration with its unit, such as 250ms or 10s, from %s to %s", scenarios.Brief(s.least), scenarios.Brief(longest))
	}
	s.value = d
	return nil
}

// seeds for each trial.
const adviseSeeds, adviseProgramSeeds = 200, 40

func adviseFlags(o *adviseOptions, e env) *flag.FlagSet {
	o.ttl.least, o.renew.least, o.restart.least, o.failover.least = time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond
	o.step.least = -longest
	o.clients, o.servers, o.copies = count{0, 2, 1000}, count{0, 1, 99}, count{0, 1, 20}
	o.runs, o.jobs = count{0, 1, 1_000_000}, count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.style = choice{"", history.StyleNames()}
	o.fencing = choice{"", history.FencingNames()}
	o.persisted = choice{"", []string{"none", "rdb", "lazy", "everysec", "always"}}
	o.format = choice{"text", []string{"text", "json"}}
	flags := newFlags("advise")
	flags.Var(notEmpty{&o.lock}, "lock", "")
	for name, value := range map[string]*length{
		"ttl": &o.ttl, "renew": &o.renew, "work": &o.work, "pause": &o.pause, "cut": &o.cut, "restart": &o.restart, "failover": &o.failover,
		"clock-step": &o.step,
	} {
		flags.Var(value, name, "")
	}
	flags.Var(&o.cpu, "cpu-bound", "")
	flags.Var(&o.clients, "clients", "")
	flags.Var(notEmpty{&o.latency}, "latency", "")
	flags.Var(&o.style, "style", "")
	flags.Var(&o.fencing, "fencing", "")
	flags.Var(&o.servers, "servers", "")
	flags.Var(&o.copies, "replicas", "")
	flags.Var(&o.sentinel, "sentinel", "")
	flags.Var(&o.cluster, "cluster", "")
	flags.Var(&o.persisted, "persistence", "")
	flags.Var(notEmpty{&o.drift}, "drift", "")
	flags.StringVar(&o.out, "o", "", "")
	flags.Var(&o.set, "set", "")
	flags.Var(&o.runs, "runs", "")
	flags.Var(&o.jobs, "jobs", "")
	flags.Var(&o.format, "format", "")
	flags.Var(&o.progress, "progress", "")
	return flags
}

// forFiles are the flags that a scenario that exists allows.
var forFiles = []string{"set", "runs", "jobs", "format", "progress", "style", "fencing"}

func runAdvise(c *call) int {
	o := &adviseOptions{given: map[string]bool{}}
	flags := adviseFlags(o, c.env)
	names, err := c.parse(flags)
	if errors.Is(err, errHelp) {
		return c.help("advise")
	}
	if err != nil {
		return c.wrong(err)
	}
	flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	var a *advised
	if len(names) > 0 {
		a, err = c.adviseFile(o, names)
	} else {
		a, err = c.adviseCase(o)
	}
	if err != nil {
		return c.adviseFailed(err)
	}
	return c.advise(o, a)
}

// adviseFailed prints errors in a scenario like those of a compiler, and others as those of the subcommand.
func (c *call) adviseFailed(err error) int {
	var positioned *scenarios.Error
	if errors.As(err, &positioned) {
		return c.failures(err)
	}
	return c.wrong(err)
}

// adviseFile reads a scenario that exists.
func (c *call) adviseFile(o *adviseOptions, names []string) (*advised, error) {
	if len(names) > 1 {
		return nil, fmt.Errorf("one scenario at a time, but %q was given too", names[1])
	}
	for name := range o.given {
		if !slices.Contains(forFiles, name) {
			return nil, fmt.Errorf("%s describes a case, but %s is one already; change it with --set", dashed(name), names[0])
		}
	}
	t, err := readText(names[0])
	if err != nil {
		return nil, err
	}
	set := slices.Clone(o.set.list)
	for i := range set {
		if set[i].Path, err = t.path(set[i].Path, ""); err != nil {
			return nil, err
		}
	}
	if o.style.value != "" {
		set = append(set, scenarios.Change{Path: "styles", Value: o.style.value})
	}
	if o.fencing.value != "" {
		set = append(set, scenarios.Change{Path: "resource.fencing", Value: o.fencing.value})
	}
	s, err := t.changed(set)
	if err == nil {
		err = c.bringOf(s)
	}
	if err != nil {
		return nil, err
	}
	return &advised{plan: advise.Plan{File: names[0], Text: t.text, Set: set}, called: t.called, title: s.Title}, nil
}

// adviseCase writes the scenario that flags and answers describe.
func (c *call) adviseCase(o *adviseOptions) (*advised, error) {
	if o.given["set"] {
		return nil, errors.New("--set changes a scenario that exists, but none was named")
	}
	if err := c.ask(o); err != nil {
		return nil, err
	}
	s, err := c.situation(o)
	if err != nil {
		return nil, err
	}
	name := "my-case"
	text := s.File(name)
	if err := advise.Check(text, c.locks); err != nil {
		return nil, asSaid(err)
	}
	file := o.out
	if file == "" {
		if file, err = unused(name, text); err != nil {
			return nil, err
		}
	}
	if err := c.writeFile(file, text); err != nil {
		return nil, err
	}
	return &advised{plan: advise.Plan{File: file, Text: text, Situation: s}, called: file, title: s.Title(), assumed: s.Assumptions()}, nil
}

// asSaid leaves out where in the scenario's text a mistake is, which nobody has seen yet.
func asSaid(err error) error {
	var wrong *scenarios.Error
	if !errors.As(err, &wrong) {
		return err
	}
	text := wrong.Problem
	if wrong.Allowed != "" {
		text += "; want " + wrong.Allowed
	}
	return errors.New("what is said of the case does not go together: " + text)
}

// situation is what the flags say.
func (c *call) situation(o *adviseOptions) (*advise.Situation, error) {
	if err := c.bring(o.lock); err != nil {
		return nil, err
	}
	lock, ok := c.locks.Find(o.lock)
	if !ok {
		return nil, fmt.Errorf("there is no lock %q%s", o.lock, didYouMean(o.lock, append(lockNames(), clients.Names()...), "list locks"))
	}
	s := &advise.Situation{
		Lock: lock, TTL: o.ttl.value, Renew: o.renew.value, Work: o.work.value, CPU: bool(o.cpu), Clients: o.clients.value,
		Latency: o.latency, Style: o.style.value, Fencing: o.fencing.value, Servers: o.servers.value, Replicas: o.copies.value,
		Sentinel: bool(o.sentinel), Cluster: bool(o.cluster), Persistence: o.persisted.value, Pause: o.pause.value, Cut: o.cut.value,
		Restart: o.restart.value, Failover: o.failover.value, Step: o.step.value, Drift: o.drift,
	}
	return s, s.Check()
}

// unused is the first name of a file that is not there, or has this text already.
func unused(name string, text []byte) (string, error) {
	const most = 1000
	for n := 1; n < most; n++ {
		file := name + ".yaml"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.yaml", name, n)
		}
		old, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && string(old) == string(text) {
			return file, nil
		}
	}
	return "", fmt.Errorf("there are files %s.yaml to %s-%d.yaml already; want another name with -o", name, name, most-1)
}

// advised is a case that advice is asked for, and what was found.
type advised struct {
	plan        advise.Plan
	called      string
	title       string
	assumed     []string
	report      *advise.Report
	interrupted bool
	written     []string // files of other locks
}

// advise plays what is to be played, and reports it.
func (c *call) advise(o *adviseOptions, a *advised) int {
	p := &a.plan
	p.Locks, p.Jobs = c.locks, o.jobs.value
	p.Other = func(lock string, text []byte) (string, error) {
		return unused(filepath.Join(strings.TrimSuffix(p.File, ".yaml")+"-locks", lock), text)
	}
	usual := adviseSeeds
	if a.slow(c) {
		usual = adviseProgramSeeds
	}
	p.Seeds = cmp.Or(o.runs.value, usual)
	progress := c.newProgress(o.progress, 0, time.Time{})
	p.Say = progress.say
	var err error
	a.report, err = advise.For(c.ctx, *p)
	progress.close()
	a.interrupted = errors.Is(err, context.Canceled)
	switch {
	case a.report == nil && a.interrupted:
		return c.wrong(err)
	case err != nil && !a.interrupted:
		return c.adviseFailed(err)
	}
	if err := c.writeOthers(a); err != nil {
		return c.failures(err)
	}
	return c.reportAdvice(o, a)
}

// slow reports whether the lock is a guest program, whose runs take fifty times as long.
func (a *advised) slow(c *call) bool {
	s, err := scenarios.Parse(a.called, a.plan.Text, a.plan.Set...)
	if err != nil {
		return false
	}
	lock, ok := c.locks.Find(s.Lock.Algorithm)
	return ok && lock.Program != nil
}

// writeOthers writes the scenarios of other locks that are advised, so that their commands can be played.
func (c *call) writeOthers(a *advised) error {
	for i := range a.report.Advice {
		t := a.report.Advice[i].Trial
		if t.Text == nil || slices.Contains(a.written, t.File) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(t.File), 0o755); err != nil {
			return err
		}
		if err := c.writeFile(t.File, t.Text); err != nil {
			return err
		}
		a.written = append(a.written, t.File)
	}
	return nil
}

// reportAdvice prints what was found, and returns the exit code.
func (c *call) reportAdvice(o *adviseOptions, a *advised) int {
	err := c.write("", func(out *output) error {
		if o.format.value == "json" {
			return a.json(out)
		}
		a.text(out)
		return nil
	})
	switch {
	case err != nil:
		return c.failures(err)
	case a.interrupted:
		fmt.Fprintln(c.stderr, "locksim: interrupted; not everything was tried")
		return exitInterrupted
	case a.report.Base.Violated():
		return exitDiffers
	case a.report.Base.Unknown():
		return exitInconclusive
	}
	return exitOK
}
