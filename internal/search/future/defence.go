package future

import (
	"errors"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/internal/search/remedy"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Defence is a change of the scenario, not of its faults, with which a property holds that was violated without it.
type Defence struct {
	What string        // "attentive clients", "fencing fenced-write", "a lease"
	Size time.Duration // of a lease, or of the time between renewals; else 0
	Runs int           // runs with the change that were played: the one that violated the property without it, and other seeds
	// Averts says that the property is not even exposed: what could have violated it does not come about.
	Averts bool
	Case   scenarios.Case
	_      struct{}
}

// others is how many other seeds a defence must withstand.
const others = 10

// mostLeases is how many times as long as the scenario's the longest lease is that is tried.
const mostLeases = 8

// defences is the work on one violation.
type defences struct {
	runner *harness.Runner
	of     scenarios.Case
	was    *harness.Result
	wants  checker.Property
	play   harness.Options
	left   int // steps that may still be played
	over   bool
	cut    bool // a run was too long to be played to its end
	found  []Defence
}

// Defences finds what would have prevented a violation: the client styles, fencing modes, leases, renewals, and settings of the servers
// with which the property is not violated. The faults that happened in the run happen with each of them, too, no fewer clients acquire
// the lock, nothing is violated that was not violated before, and other seeds do not violate the property. It is false if not all could
// be tried.
func Defences(runner *harness.Runner, c scenarios.Case, was *harness.Result, p checker.Property, o harness.Options) ([]Defence, bool) {
	d := &defences{runner: runner, of: c, was: was, wants: p, play: o, left: mostSteps}
	a, ok := o.Lock(c.Scenario)
	if !ok {
		return nil, false
	}
	slow := a.Program != nil
	list := remedy.Of(c.Scenario, &a, c.Style, c.Fencing)
	if !slow {
		d.listed(list, remedy.Style)
		d.lease()
		d.renewal(&a, list)
		d.listed(list, remedy.Persistence, remedy.MinReplicas)
	}
	d.listed(list, remedy.Mistake, remedy.Order, remedy.Fencing)
	return d.found, !d.over && !d.cut
}

// listed tries remedies of some kinds. Of settings of the servers the strongest is tried, and of what a resource compares what clients need
// a lock for.
func (d *defences) listed(list []remedy.Remedy, kinds ...remedy.Kind) {
	for _, kind := range kinds {
		for i, x := range list {
			weaker := i+1 < len(list) && x.Kind == remedy.Persistence && list[i+1].Kind == x.Kind
			modes := x.Kind == remedy.Fencing && (d.wants != checker.Resource || x.Mode == history.CompareAndSet)
			if x.Kind == kind && !weaker && !modes {
				d.try(Defence{What: x.Brief, Size: x.Size}, func(c *scenarios.Case) bool { return change(c, x.Changes) })
			}
		}
	}
}

// change makes changes of a case's scenario; false if there is no such scenario.
func change(c *scenarios.Case, changes []scenarios.Change) bool {
	s := parameter.Clone(c.Scenario)
	s.Styles, s.Resource.Fencing = []history.Style{c.Style}, []history.Fencing{c.Fencing}
	s.Expect, s.Measures, s.Variants = nil, nil, nil
	read, err := scenarios.Parse("changed.yaml", s.OrAny().YAML(), changes...)
	if err != nil {
		return false
	}
	variant := c.Variant
	*c = read.Cases()[0]
	c.Variant = variant
	return true
}

// lease looks for a longer lease: the shortest of two digits that is found by bisection below the first that suffices.
func (d *defences) lease() {
	ttl := d.of.Scenario.Lock.TTL
	with := func(size time.Duration) (Defence, func(*scenarios.Case) bool) {
		what := "a lease"
		if d.of.Scenario.Servers.Holds() == "session" {
			what = "sessions"
		}
		return Defence{What: what, Size: size}, func(c *scenarios.Case) bool {
			c.Scenario.Lock.TTL = size
			if c.Scenario.Until > 0 {
				c.Scenario.Until += size - ttl
			}
			return true
		}
	}
	short, long := ttl, ttl
	var enough *Defence
	for enough == nil && long < mostLeases*ttl {
		short, long = long, 2*long
		enough = d.withstands(with(long))
	}
	for enough != nil {
		unit := digit(long - short)
		middle := (short + long) / 2 / unit * unit
		if middle <= short || middle >= long || (long-short)*20 < long {
			d.found = append(d.found, *enough)
			return
		}
		if found := d.withstands(with(middle)); found != nil {
			long, enough = middle, found
		} else {
			short = middle
		}
	}
}

// digit is the unit of the second digit of a difference.
func digit(by time.Duration) time.Duration {
	unit := time.Microsecond
	for by >= 100*unit {
		unit *= 10
	}
	return unit
}

// renewal tries what keeps the lease alive: the lock's own renewals, or another lock that is granted alike and keeps what it holds.
func (d *defences) renewal(a *locks.Algorithm, list []remedy.Remedy) {
	d.listed(list, remedy.Renewal)
	if a.Keeps || a.Renews || a.Extends || d.play.Instead != nil {
		return
	}
	for _, other := range d.play.Locks.All() {
		keeps := other.Keeps && other.Status == locks.Usable && other.Program == nil
		if keeps && other.Backend() == a.Backend() && other.Authority == a.Authority {
			d.try(Defence{What: "the lock " + other.Name}, func(c *scenarios.Case) bool {
				c.Scenario.Lock.Algorithm = other.Name
				return true
			})
		}
	}
}

// try adds a defence to those that were found, if it is one.
func (d *defences) try(x Defence, change func(*scenarios.Case) bool) {
	if found := d.withstands(x, change); found != nil {
		d.found = append(d.found, *found)
	}
}

// withstands plays the case with a change, and returns that with the number of runs if the change is a defence; else nil.
func (d *defences) withstands(x Defence, change func(*scenarios.Case) bool) *Defence {
	c := d.of
	c.Scenario = parameter.Clone(c.Scenario)
	if !change(&c) {
		return nil
	}
	s := c.Scenario
	own := s.Bounds.Steps
	s.Bounds.Steps = min(own, max(longest*d.was.Steps, mostSteps/usual))
	refused := false
	report := func(string, string, string, ...any) { refused = true }
	if s.Servers.Backend().Check((*backend.Servers)(&s.Servers), s.Lock.Acks, report); refused {
		return nil
	}
	plan, err := harness.Compile(c, d.play)
	if err != nil {
		return nil // the servers or the lock refuse it
	}
	for n := range uint64(1 + others) {
		if d.over = d.over || d.left <= 0 || d.runner.Stopped(); d.over {
			return nil
		}
		result, err := d.runner.Run(plan, d.was.Seed+n*golden, false)
		if err != nil {
			d.over = d.over || errors.Is(err, harness.ErrInterrupted)
			return nil
		}
		d.left -= result.Steps
		d.cut = d.cut || result.Steps >= s.Bounds.Steps && s.Bounds.Steps < own
		if n == 0 && !d.saves(&result) || n > 0 && !d.keeps(&result) {
			return nil
		}
		x.Averts = x.Averts || n == 0 && result.Report.Verdicts[d.wants] == checker.Vacuous
		x.Runs++
	}
	x.Case = c
	return &x
}

// A run with a defence may be a few times as long as the run, or a small part of what all of them may take: a run whose holders stop, since
// they lose the lock, is short.
const (
	longest = 4
	usual   = 20
)

// saves reports whether a run with the seed of the one without the defence is saved by it, and not because less happens.
func (d *defences) saves(r *harness.Result) bool {
	if !d.keeps(r) || acquired(r.History) < acquired(d.was.History) {
		return false
	}
	for p, v := range r.Report.Verdicts {
		if v == checker.Violated && d.was.Report.Verdicts[p] != checker.Violated {
			return false
		}
	}
	for i, f := range d.was.History.Faults {
		if f.Fired && !r.History.Faults[i].Fired {
			return false
		}
	}
	return true
}

// acquired counts how often clients acquired the lock.
func acquired(h *history.History) (n int) {
	for i := range h.Acquisitions {
		if h.Acquisitions[i].Outcome == history.OK {
			n++
		}
	}
	return n
}

// keeps reports whether a run does not violate the property, as far as it is known.
func (d *defences) keeps(r *harness.Result) bool {
	return r.Report.Verdicts[d.wants].Kept()
}
