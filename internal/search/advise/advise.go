// Package advise says what to change in a scenario so that its lock holds. Call [For] with a [Plan]; every piece of advice in the
// [Report] that it returns has been played, with the same seeds as the scenario itself.
//
// A user's own case is a [Situation], which writes itself as a scenario with a variant for each thing that may go wrong.
package advise

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Check reports why a situation's scenario cannot be played.
func Check(text []byte, set locks.Set) error {
	s, err := scenarios.Parse("the case", text)
	if err != nil {
		return err
	}
	_, err = (&player{plan: &Plan{Locks: set}, called: "the case"}).compile(s)
	return err
}

// Plan says what advice is about, and how much is played.
type Plan struct {
	File      string             // of the scenario, as commands name it
	Text      []byte             // of the scenario
	Set       []scenarios.Change // with which it is read
	Situation *Situation         // that wrote it; nil if somebody else did
	Locks     locks.Set
	Seeds     int // with which each trial is played
	Jobs      int // runs at once
	// Other names a file for the situation with another lock.
	Other func(lock string, text []byte) (string, error)
	Say   func(what string) // may be nil: told what is tried
	_     struct{}
}

// Report is what was found.
type Report struct {
	Base    *Trial   // the scenario as it is
	Margins []Margin // by how much it holds, if nothing is violated
	Advice  []Advice // what helps, the best first
	Useless []Advice // what does not, though a reader might expect it to
	Skipped []Skip   // locks that could not be tried
	Lease   int64    // nanoseconds after which others have the lock of a dead holder; -1 if never, or if it is unknown
	_       struct{}
}

// Skip is a lock that could not be tried, and why.
type Skip struct{ Lock, Why string }

// Grade says how much a change helps.
type Grade int

// The grades.
const (
	Holds   Grade = iota // nothing is violated any more
	Guards               // what the lock protects stays consistent
	Partly               // some of what was violated is not any more
	Nothing              // what was violated is still violated, or something else is
)

// String names the grade, as documents do.
func (g Grade) String() string { return [...]string{"holds", "guards", "partly", "nothing"}[g] }

// Point is a property in a variant of the scenario.
type Point struct {
	Variant  string
	Property checker.Property
}

// Advice is a change, and what came of it when it was played.
type Advice struct {
	Kind   string // what is changed: "ttl", "work", "fencing", …
	What   string // as a sentence without its end
	Trial  *Trial
	Border *Border // of the smallest change that helps, if it is a number
	Grade  Grade
	Fixed  []Point  // what was violated, and is not any more
	Left   []Point  // what is still violated
	Broken []Point  // what was not violated, and is now, or may be
	Stuck  string   // a variant in which clients now wait forever, and did not; "" if there is none
	Reach  []Margin // how far faults may go with it; without To, as far as was tried …
	Tried  int      // … in so many runs of each variant
	Idle   bool     // faults did not happen, or nobody wanted the lock while another client had it, so that nothing follows
	Lease  int64    // as in a Report
	_      struct{}
}

// Border is where a number begins to help.
type Border struct {
	Path     string
	Kept     string // the value that helps …
	Violated string // … and the nearest one that was played and does not; "" if there is none
	Of       Point  // what it violates …
	Hits     int    // … in so many of its first runs
	Runs     int
	Far      string // the value farthest away that was played and helps, too
	Again    string // one beyond that does not; "" if there is none
	up       bool
}

// For plays a scenario and what could be changed in it. When the context is done it returns what it has found until then, with the
// error; without the scenario itself there is no report.
func For(ctx context.Context, plan Plan) (*Report, error) {
	a := &advisor{player: player{ctx: ctx, plan: &plan, called: plan.File, known: map[string]*Trial{}}}
	a.say("playing the scenario as it is")
	var err error
	if a.scenario, err = scenarios.Parse(plan.File, plan.Text, plan.Set...); err != nil {
		return nil, err
	}
	if a.lock, err = a.find(a.scenario); err != nil {
		return nil, err
	}
	base, err := a.base()
	if err != nil {
		return nil, err
	}
	a.report = &Report{Base: base, Lease: a.leaseOf(nil, nil)}
	if !base.Violated() {
		a.say("looking for margins")
		a.report.Margins = a.margins()
		return a.report, cmp.Or(a.limits(), a.ended())
	}
	for _, try := range []func() error{a.numbers, a.simple, a.locksOfKind, a.otherLocks, a.pairs, a.reach} {
		if err := cmp.Or(try(), a.ended()); err != nil {
			a.sort()
			return a.report, err
		}
	}
	a.sort()
	return a.report, nil
}

// advisor is the work.
type advisor struct {
	player
	report   *Report
	scenario *scenarios.Scenario
	lock     *locks.Algorithm
	wrong    *scenarios.Error // why the last scenario that was tried could not be played; nil if it was
}

func (a *advisor) say(what string) {
	if a.plan.Say != nil {
		a.plan.Say(what)
	}
}

// ended is the error of an interrupt.
func (a *advisor) ended() error { return a.ctx.Err() }

func (a *advisor) find(s *scenarios.Scenario) (*locks.Algorithm, error) {
	o := harness.Options{Locks: a.plan.Locks}
	found, ok := o.Lock(s)
	if !ok {
		return nil, harness.UnknownLock(s, a.plan.Locks)
	}
	return &found, nil
}

// mostLonger is how many times as many seeds as the plan says are played at most, if violations are seldom.
const mostLonger = 8

// base plays the scenario as it is, with more seeds if it violates something too seldom for advice. Guest programs are too slow for that.
func (a *advisor) base() (*Trial, error) {
	most := mostLonger * a.plan.Seeds
	if a.lock.Program != nil {
		most = a.plan.Seeds
	}
	for {
		t, err := a.play(a.plan.File, nil, nil, a.plan.Seeds, nil)
		seldom := func(c *Case, p checker.Property) bool { return c.Seldom(p) }
		if err != nil || a.plan.Seeds >= most || !t.any(seldom) {
			return t, err
		}
		a.plan.Seeds = min(2*a.plan.Seeds, most)
	}
}

// judge compares a trial with the scenario as it is.
func (a *advisor) judge(adv *Advice) {
	base := a.report.Base
	adv.Fixed, adv.Left, adv.Broken, adv.Idle, adv.Stuck = nil, nil, nil, false, ""
	damage, stuck := false, false
	for i := range adv.Trial.Cases {
		c := &adv.Trial.Cases[i]
		was := base.At(c.Variant)
		if was == nil {
			adv.Idle = true // it says nothing of this variant
			continue
		}
		adv.Idle = adv.Idle || was.happened() && !c.happened()
		if c.most("unfinished-waits") > was.most("unfinished-waits") {
			adv.Stuck = c.Variant
			stuck = true
		}
		for p := range checker.PropertyCount {
			at := Point{c.Variant, p}
			switch {
			case was.violated(p) && c.violated(p):
				adv.Left = append(adv.Left, at)
			case was.violated(p) && c.Counts[p].NotJudged > 0: // such as where tokens are compared, and the lock has none
				adv.Idle = true
			case was.violated(p) && !c.unknown(p) && was.Seldom(p): // luck
			case was.violated(p) && !c.unknown(p):
				adv.Fixed = append(adv.Fixed, at)
				adv.Idle = adv.Idle || p == checker.MutualExclusion && 4*c.Counts[p].InDanger < c.Counts[p].Runs
			case c.violated(p), c.unknown(p) && !was.unknown(p):
				adv.Broken = append(adv.Broken, at)
			}
			damage = damage || p == checker.Resource && (c.violated(p) || c.unknown(p))
		}
	}
	damaged := base.any(func(c *Case, p checker.Property) bool { return p == checker.Resource && c.violated(p) })
	switch {
	case len(adv.Fixed) == 0 || len(adv.Broken) > 0 || adv.Idle || stuck:
		adv.Grade = Nothing
	case len(adv.Left) == 0:
		adv.Grade = Holds
	case damaged && !damage:
		adv.Grade = Guards
	default:
		adv.Grade = Partly
	}
}

// try plays a change, and keeps it as advice if it helps, or else as useless. Scenarios that cannot be played are left out.
func (a *advisor) try(kind, what string, changes ...scenarios.Change) (*Advice, error) {
	return a.tryIn(a.plan.File, nil, &Advice{Kind: kind, What: what}, true, changes)
}

// tryIn does the same with another scenario, if its text is given, and keeps what is useless only if a reader might have expected it to
// help. It stops after the first runs if they fix nothing.
func (a *advisor) tryIn(file string, text []byte, adv *Advice, expected bool, changes []scenarios.Change) (*Advice, error) {
	a.say("trying: " + adv.What)
	t, err := a.play(file, text, changes, a.plan.Seeds, func(t *Trial) bool {
		adv.Trial = t
		a.judge(adv)
		return len(adv.Fixed) == 0
	})
	adv.Trial = t
	return a.keep(adv, expected, err)
}

// keep judges advice that was played.
func (a *advisor) keep(adv *Advice, expected bool, err error) (*Advice, error) {
	a.wrong = nil
	if err != nil {
		if a.ended() != nil {
			return nil, a.ended()
		}
		if errors.As(err, &a.wrong) {
			return nil, nil // there is no such scenario
		}
		return nil, err
	}
	a.judge(adv)
	text := adv.Trial.Text
	switch {
	case adv.Grade != Nothing && (text == nil || adv.Grade < Partly): // other servers are no advice if they only help in part
		adv.Lease = a.leaseOf(adv.Trial.Text, adv.Trial.Changes)
		a.report.Advice = append(a.report.Advice, *adv)
	case expected:
		a.report.Useless = append(a.report.Useless, *adv)
	}
	return adv, nil
}

// sort puts what helps most first: it leaves less violated, then takes less, then costs nothing that was measured. What is alike in all
// of that stays in the order in which it was tried.
func (a *advisor) sort() {
	r := a.report
	slices.SortStableFunc(r.Advice, func(x, y Advice) int {
		return cmp.Or(cmp.Compare(x.Grade, y.Grade), cmp.Compare(len(x.Left), len(y.Left)), cmp.Compare(x.effort(), y.effort()),
			cmp.Compare(min(len(r.Costs(&x)), 1), min(len(r.Costs(&y)), 1)))
	})
}

// effort is what advice takes: another setting or way of use, another lock on the same servers, or other servers.
func (adv *Advice) effort() int {
	switch {
	case strings.HasPrefix(adv.Kind, "servers"):
		return 2
	case slices.ContainsFunc(adv.Trial.Changes, func(c scenarios.Change) bool { return c.Path == "lock.algorithm" }):
		return 1
	}
	return 0
}
