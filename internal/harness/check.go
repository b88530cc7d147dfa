package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// How many seeds [Check] plays each case with: fewer of a program, whose runs take fifty times as long.
const checkSeeds, checkProgramSeeds = 20, 3

// Check lists errors in a scenario beyond its format: a lock that does not support it, fencing modes for tokens that no
// lock of the scenario issues, and faults that did not happen with any of several seeds: their trigger is misspelt, or
// the node on which they act was down. Other errors are those of [Runner.Run].
func Check(r *Runner, s *scenarios.Scenario, o Options) (scenarios.Errors, error) {
	c := checking{runner: r}
	for _, each := range s.Cases() {
		plan, err := Compile(each, o)
		var problem *scenarios.Error
		switch {
		case errors.As(err, &problem):
			c.problems = append(c.problems, problem)
			continue
		case err != nil:
			return nil, err
		}
		if err := c.play(plan); err != nil {
			return nil, err
		}
	}
	if len(c.problems) == 0 {
		c.problems = Refuse(s, o)
	}
	for _, w := range c.watched {
		c.refuseIdle(w)
	}
	return c.problems, nil
}

type checking struct {
	runner   *Runner
	problems scenarios.Errors
	watched  []*watched
}

// watched is what was seen of the faults of a scenario or a variant of it.
type watched struct {
	scenario *scenarios.Scenario
	runs     int
	faults   []watchedFault
}

type watchedFault struct {
	*sim.Fault // with a name
	fired      bool
	begin      trace.Instant // in the last run, if it has fired
	whats      []string      // what the steps were about that its trigger could mean
}

// play plays a case and notes which of its faults happened.
func (c *checking) play(p *Plan) error {
	s := p.Case.Scenario
	k := slices.IndexFunc(c.watched, func(w *watched) bool { return w.scenario == s })
	if k < 0 {
		w := &watched{scenario: s}
		for i := range p.faults {
			w.faults = append(w.faults, watchedFault{Fault: &p.faults[i]})
		}
		k, c.watched = len(c.watched), append(c.watched, w)
	}
	w, seeds := c.watched[k], uint64(checkSeeds)
	if p.programs {
		seeds = checkProgramSeeds
	}
	for n := range seeds {
		if !slices.ContainsFunc(w.faults, func(f watchedFault) bool { return !f.fired }) {
			return nil
		}
		result, err := c.runner.Run(p, s.Seed+n, true)
		if err != nil {
			return err
		}
		w.runs++
		for i := range w.faults {
			w.faults[i].note(&result)
		}
	}
	return nil
}

// note looks at one run. A fault that the engine does not report holds from the start: clients that draw alike.
func (f *watchedFault) note(r *Result) {
	k := slices.IndexFunc(r.History.Faults, func(x history.Fault) bool { return x.Name == f.Name })
	switch {
	case k < 0:
		f.fired = true
	case r.History.Faults[k].Fired:
		f.fired, f.begin = true, r.History.Faults[k].Begin
	}
	if f.Trigger.When == sim.At || f.fired {
		return
	}
	step := f.Trigger.Step
	step.What = ""
	for _, node := range []*string{&step.Node, &step.Peer} {
		if sim.IsRole(*node) {
			*node = ""
		}
	}
	for k := range r.Events {
		if e := &r.Events[k].Step; step.Matches(e, nil) {
			f.whats = append(f.whats, e.What, e.Alt)
		}
	}
	slices.Sort(f.whats)
	f.whats = slices.Compact(f.whats)
}

// Refuse lists what a scenario asks in vain of its locks: fencing modes that need a token, and intervals of renewals.
func Refuse(s *scenarios.Scenario, o Options) scenarios.Errors {
	problems, last := RefuseModes(s, o), (*scenarios.Scenario)(nil)
	for _, c := range s.Cases() {
		if c.Scenario == last {
			continue
		}
		last = c.Scenario
		problems = refuseRenewal(problems, last, &o, last.Lock, "lock")
		for i := range last.Clients {
			own := &last.Clients[i]
			if own.Lock.Renew > 0 {
				problems = refuseRenewal(problems, last, &o, last.LockOf(own), "clients."+own.Name+".lock")
			}
			problems = append(problems, refuseHabits(last, &o, own)...)
		}
	}
	return problems
}

// RefuseBeside lists what Refuse would, and locks on servers of another kind, of a scenario of which only a part could be read. What is wrong
// with the rest is known.
func RefuseBeside(s *scenarios.Scenario, o Options, known scenarios.Errors) (problems scenarios.Errors) {
	for _, c := range s.Cases() {
		if err := refuseKind(c.Scenario, &o); err != nil && known.Sound("lock.algorithm", "servers.kind") {
			problems = append(problems, err)
		}
		problems = refuseRenewal(problems, c.Scenario, &o, c.Scenario.Lock, "lock")
	}
	meant := func(e *scenarios.Error) bool { return strings.HasSuffix(e.Allowed, `did you mean "resource"?`) }
	if known.Sound("lock", "clients", "resource", "expect.resource", "variants") && !slices.ContainsFunc(known, meant) {
		problems = append(problems, Refuse(s, o)...)
	}
	return problems
}

// refuseKind refuses a lock that lives on servers of another kind; nil if it does not, or if there is no such lock.
func refuseKind(s *scenarios.Scenario, o *Options) *scenarios.Error {
	lock, known := o.Locks.Find(s.Lock.Algorithm)
	if !known || lock.Backend() == s.Servers.Kind {
		return nil
	}
	return s.Errorf("lock.algorithm", wrongKind, lock.Name, lock.Backend(), s.Servers.Kind, lock.Backend())
}

// wrongKind is said of a lock that lives on servers of another kind.
const wrongKind = "the lock %s lives on servers of the kind %s, not %s: want servers: {kind: %s}"

// refuseHabits refuses mistakes of an application that it cannot make with its lock.
func refuseHabits(s *scenarios.Scenario, o *Options, c *scenarios.Client) (problems scenarios.Errors) {
	l, at := s.LockOf(c), "clients."+c.Name+"."
	lock, known := o.Locks.Find(l.Algorithm)
	refuse := func(field, format string, args ...any) {
		problems = append(problems, s.Errorf(at+field, format, args...))
	}
	switch {
	case c.Late == 0 || !known:
	case !lock.Extends:
		refuse("renews-late", "the application does not renew the lease of %s; want a library whose leases it prolongs, such as redsync", lock.Name)
	case l.Renew == 0:
		refuse("renews-late", "nothing is renewed; want lock: {renew: …}, the interval at which the application should do so")
	}
	compares := func(f history.Fencing) bool { return f.NeedsToken() || f == history.TokenEquality }
	tokenless := known && !lock.Token && !slices.Contains(s.Resource.Fencing, history.TokenEquality)
	const needs = "%s hands out no fencing token; want a lock that does, such as %s"
	switch {
	case tokenless && c.Forgets:
		refuse("forgets-token", needs, lock.Name, tokenLock(o.Locks, lock.Backend()))
	case tokenless && c.Passes > 0:
		refuse("passes-token", needs, lock.Name, tokenLock(o.Locks, lock.Backend()))
	case c.Forgets && !slices.ContainsFunc(s.Resource.Fencing, compares):
		refuse("forgets-token", "the resource compares no tokens; want resource: {fencing: fenced-write}, or another mode that compares them")
	}
	return problems
}

// tokenLock names a lock that hands out tokens, on these servers if there is one.
func tokenLock(set locks.Set, servers string) string {
	name := ""
	for _, a := range set.All() {
		usable := a.Token && a.Status == locks.Usable
		if usable && a.Backend() == servers {
			return a.Name
		}
		if usable && name == "" {
			name = a.Name
		}
	}
	return name
}

func refuseRenewal(to scenarios.Errors, s *scenarios.Scenario, o *Options, l scenarios.Lock, at string) scenarios.Errors {
	lock, known := o.Locks.Find(l.Algorithm)
	if !known || l.Renew == 0 || lock.HeedsRenew || lock.Program != nil {
		return to
	}
	return append(to, s.Errorf(at+".renew", "%s does not renew its lease; want a lock that does, such as watchdog, or no interval", lock.Name))
}

// RefuseModes lists the fencing modes of a scenario that compare fencing tokens although its lock issues none, in any
// variant. A scenario that expects something of the resource in such a mode, if only that it is not judged, means it.
func RefuseModes(s *scenarios.Scenario, o Options) scenarios.Errors {
	var problems scenarios.Errors
	for i, mode := range s.Resource.Fencing {
		played, useful := false, false
		for _, c := range s.Cases() {
			if c.Fencing != mode {
				continue
			}
			lock, known := o.Lock(c.Scenario)
			_, meant := c.Expected(checker.Resource)
			played, useful = true, useful || !known || lock.Token || meant
		}
		if played && !useful && mode.NeedsToken() {
			problems = append(problems, s.Errorf(fmt.Sprintf("resource.fencing[%d]", i),
				"%s compares fencing tokens, and the lock issues none; want a lock that does, or a mode that needs none", mode))
		}
	}
	return problems
}

// refuseIdle refuses faults that happened in no run.
func (c *checking) refuseIdle(w *watched) {
	for i := range w.faults {
		f := &w.faults[i]
		if f.fired {
			continue
		}
		at, why := fmt.Sprintf("faults[%d]", i), w.downBy(f)
		if f.Action.Kind == sim.Delay && f.Trigger.When == sim.After && f.Trigger.Step.Does == trace.Execute {
			why = ": no message is under way after execute; want before execute, or a reply"
		}
		if f.Trigger.When != sim.At {
			at += "." + f.Trigger.When.String()
			if what := f.misspelt(); what != "" {
				at, why = at+".what", what
			}
		}
		if why == "" && f.Trigger.When == sim.At {
			why = ": they end before; want an earlier time, or longer runs"
		} else if why == "" {
			why = ": no step of them is the one that it waits for; want one that happens, or check its node, does and peer"
		}
		c.problems = append(c.problems, w.scenario.Errorf(at, "the fault happened in none of %d runs%s", w.runs, why))
	}
}

// downBy says which fault had ended the process that another one acts on or waits for; "" if none had.
func (w *watched) downBy(f *watchedFault) string {
	for i := range w.faults {
		crash := &w.faults[i]
		on := crash.Action.Node
		if !crash.fired || crash.Action.Kind != sim.Crash || on == "" {
			continue
		}
		if on == f.Action.Node || f.Trigger.When != sim.At && on == f.Trigger.Step.Node {
			return fmt.Sprintf(": %s is down from %s on (%s)", on, crash.begin, crash.Name)
		}
	}
	return ""
}

// misspelt says that no step that the trigger could mean is about what it names; "" if one is.
func (f *watchedFault) misspelt() string {
	what := f.Trigger.Step.What
	if what == "" || len(f.whats) == 0 {
		return ""
	}
	known := slices.DeleteFunc(f.whats, func(name string) bool { return name == "" })
	if slices.ContainsFunc(known, func(name string) bool { return sim.Glob(what, name) }) {
		return ""
	}
	text := fmt.Sprintf(": no such step is about %q", what)
	if len(known) > 0 {
		text += "; want " + strings.Join(known, ", ")
	}
	if near := scenarios.Nearest(what, known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}
