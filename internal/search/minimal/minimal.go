// Package minimal makes a violation as small as it can: it takes out of the scenario whatever the violation does not
// need, makes what is left weaker, earlier, shorter and rounder, and finds by bisection how much of it is needed.
//
// Call [Reduce] for a violation, or [Sketch] to see first whether one that is known explains it. [Counterexample.Form]
// is equal for violations of one property, style and fencing mode that have one cause, [Counterexample.Cause] for all
// that have, and [File] is what to save.
//
// Everything here is a function of the violation: no clock, no randomness; a context may end the work early, and then
// it comes to what had been reached. What is tried is accepted only if the run
// shows a violation of the same property and kind in which each fault that is left has happened, and if the scenario
// has become simpler by an order that has no endless descents (see cost), so that a reduction ends, and reducing what
// it has returned changes nothing.
package minimal

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
)

// Counterexample is a minimal scenario that violates a property, and what else is known of it.
type Counterexample struct {
	search.Violation                     // of the minimal scenario: one style, one fencing mode, one expected verdict
	Scenario         *scenarios.Scenario // the same as Violation.Case.Scenario
	Digest           uint64              // of its run
	Text             string              // how the property is violated
	Needs            []Need              // how much of what is left is needed
	Others           int                 // of OtherSeeds other seeds, with how many the scenario violates the property too
	Runs             int                 // played to find it
	Blame            Blame               // whose promise was broken
	Rough            bool                // the work was ended early: Needs and Others are not known, and more could be taken out
	Again            *Again              // of a program whose runs vary: only faults and clients were taken out, and Needs and Others are not known

	form form
	_    struct{}
}

// UsualSteps bounds the steps of what makes one of many violations small. Nearly all take fewer.
const UsualSteps = 10_000_000

// Options bounds the work.
type Options struct {
	// Runs bounds how many runs are played to make the scenario smaller and to find what it needs; a few more make it
	// presentable. 0: as many as it takes.
	Runs int
	// Steps bounds how many steps these runs take together: some are as long as a thousand others. 0: any number.
	Steps int
	// Allowed says which scenarios may be tried, where a violation means something under conditions only; nil: all.
	Allowed func(*scenarios.Scenario) bool
	// Forgives says which violations are none of what is sought, whatever their kind; nil: none.
	Forgives search.Excuse
	// Context ends the work when it is done, in a run or two, which the runner may interrupt: a counterexample is then a rough one, and nothing comes of a
	// sketch. nil: never.
	Context context.Context
	_       struct{}
}

// Within allows what a promise allows that was made for a scenario: no section is longer than the longest one there,
// and disks keep as much.
func Within(s *scenarios.Scenario) func(*scenarios.Scenario) bool {
	longest, hangs := time.Duration(0), false
	for i := range s.Clients {
		longest, hangs = max(longest, s.Clients[i].Work), hangs || s.Clients[i].Hangs
	}
	persistence, disk := s.Servers.Persistence, s.Servers.Disk
	return func(t *scenarios.Scenario) bool {
		return t.Servers.Persistence == persistence && t.Servers.Disk == disk &&
			!slices.ContainsFunc(t.Clients, func(c scenarios.Client) bool { return c.Work > longest || c.Hangs && !hangs })
	}
}

// SameLocks allows what leaves each client one of the locks that the clients of a scenario have, with all of its settings: other
// settings would make it another lock, of which a finding says nothing about those that somebody has chosen.
func SameLocks(s *scenarios.Scenario) func(*scenarios.Scenario) bool {
	given := s.Locks()
	return func(t *scenarios.Scenario) bool {
		return !slices.ContainsFunc(t.Locks(), func(l scenarios.Lock) bool {
			return !slices.ContainsFunc(given, func(g scenarios.Lock) bool { return reflect.DeepEqual(l, g) })
		})
	}
}

// OtherSeeds is how many other seeds a minimal scenario is played with, to see how much hangs on luck.
const OtherSeeds = 20

// Reduce makes a violation minimal. The error says that the violation cannot be repeated, or that one of its runs, which
// are long, was interrupted.
func Reduce(r *harness.Runner, v search.Violation, o Options) (*Counterexample, error) {
	red, err := newReducer(r, v, o)
	if err != nil {
		return nil, err
	}
	c := &Counterexample{Violation: v}
	if red.varies {
		red.thinOut()
		c.Again = &Again{}
	} else {
		red.reduce()
		red.giveUp()
		c.Needs, c.Others = red.needs(), red.others()
	}
	if red.ended() != nil {
		c.Rough, c.Needs, c.Others = true, nil, 0
	}
	if err := red.finish(c); err != nil {
		return nil, err
	}
	c.Blame = red.blame(c)
	c.Runs = red.runs
	return c, nil
}

// Form is what is left of a counterexample when numbers and names are taken away: violations of one property that have
// one cause have one form.
func (c *Counterexample) Form() string { return c.form.String() }

// Cause says in a few words what goes wrong, the same for all properties, styles and fencing modes.
func (c *Counterexample) Cause() string {
	cause := c.form.cause() // its constants are compared, and speak of leases whatever the servers are
	if holds := c.form.holds; holds != "" {
		cause = strings.NewReplacer("its lease", "its "+holds, "a lease", "a "+holds).Replace(cause)
	}
	return cause
}

// Shares reports whether a counterexample has the cause of another one, and perhaps more, whatever each of them
// violates.
func (c *Counterexample) Shares(other *Counterexample) bool { return c.form.includes(&other.form) }

// Extends reports whether a counterexample has all that another one consists of, and more, which then is a coincidence:
// the cause is the other's.
func (c *Counterexample) Extends(other *Counterexample) bool { return c.form.extends(&other.form) }

// single is a violation's scenario as one that is played in one way only, with faults that have names.
func single(v *search.Violation) *scenarios.Scenario {
	s := parameter.Clone(v.Case.Scenario)
	s.Name, s.Title = "minimal", ""
	s.Story, s.Source, s.Claims, s.Finding = "", "", "", ""
	s.Styles, s.Resource.Fencing = []history.Style{v.Case.Style}, []history.Fencing{v.Case.Fencing}
	s.Variants, s.Measures, s.Seed = nil, nil, v.Seed
	s.Expect = scenarios.Expect{{Property: v.Property, Verdict: checker.Violated}}
	nameFaults(s)
	return s
}

// finish gives the minimal scenario its name and title, and plays it as its file will be read.
func (r *reducer) finish(c *Counterexample) error {
	s := parameter.Clone(r.now)
	unnameFaults(s)
	c.form = formOf(&r.sought, r.now, r.seen, c.Needs...)
	s.Name, s.Title = nameOf(s, r.sought.Property, c.Form()), titleOf(s, r.seen)
	read, err := s.Again()
	if err != nil {
		return fmt.Errorf("the minimal scenario has no file: %w", err)
	}
	seen, ok := r.playAgain(read)
	if !ok {
		return r.failed("%s is not violated by the scenario's file:\n%s", r.sought.Property, s.YAML())
	}
	read.Expect = read.Cases()[0].Waiving(&seen.result.Report)
	if read, err = read.Again(); err != nil {
		return fmt.Errorf("the minimal scenario has no file: %w", err)
	}
	c.Scenario, c.Case, c.Seed = read, read.Cases()[0], read.Seed
	c.Digest, c.Text = seen.result.Digest, seen.violation.Text
	return nil
}
