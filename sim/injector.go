package sim

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// Injector decides when faults begin and end, and keeps a record of that: it counts the steps that they wait for, and
// announces beginnings and ends as steps, for which other faults may wait. What a fault does is up to the [FaultHost].
// Every engine has an injector; code that runs clients outside of an engine makes one with [NewInjector]. An injector
// has no lock of its own: its host calls it from one goroutine at a time.
type Injector struct {
	host    FaultHost
	spare   *pool[armed]
	faults  []*armed
	watched [32]bool // which steps some fault waits for, by trace.Does
	begun   bool
	healing int // faults that are going to heal
}

// FaultHost is the world that an [Injector] acts on.
type FaultHost interface {
	// Now returns true time.
	Now() trace.Instant
	// After calls f after d of true time.
	After(d time.Duration, f func())
	// RoleOf returns the node that has a role; "" if none has.
	RoleOf(role string) string
	// Act carries out the action of a fault that no message triggers.
	Act(f *Fault, node string) (did bool, heal func())
	// Announce passes the beginning or the end of a fault back to Step, before it is taken and after that.
	Announce(when When, s trace.Step, f *Fault)
}

// Act carries out a fault's action on a node, if it can be done there. Heal undoes it; nil if there is nothing to undo.
type Act func(f *Fault, node string) (did bool, heal func())

// FaultReport is the outcome of a fault.
type FaultReport struct {
	Fault      *Fault        // its name filled in
	Node       string        // the node that it affected; "" if no single one
	Fired      bool          // its trigger came, and its target existed: a live process, a node with the role
	Begin, End trace.Instant // Never if it has not begun, or does not heal; a run may end before the End
}

// armed is a fault on its way to happen.
type armed struct {
	Fault
	matches    int  // of the trigger's step
	triggered  bool // and not again
	begin, end trace.Instant
	node       string // the node that it affected
}

// NewInjector returns an injector without faults.
func NewInjector(host FaultHost) *Injector { return &Injector{host: host, spare: &pool[armed]{}} }

// Arm adds a fault. Its scenario has been checked.
func (i *Injector) Arm(f Fault) {
	a := i.spare.take()
	f.Name = f.NameAt(len(i.faults))
	a.Fault, a.begin, a.end = f, trace.Never, trace.Never
	i.faults = append(i.faults, a)
	switch {
	case f.Trigger.When != At:
		i.watched[f.Trigger.Step.Does] = true
	case i.begun:
		i.wait(a)
	}
}

// Begin begins the faults at 0s, and waits for the moments of others. It is called once, at the start of the run.
func (i *Injector) Begin() {
	i.begun = true
	for _, a := range i.faults {
		if a.Trigger.When == At && a.Trigger.At > 0 {
			i.wait(a)
		}
	}
	for _, a := range i.faults {
		if a.Trigger.When == At && a.Trigger.At == 0 {
			i.fire(a, i.host.Act)
		}
	}
}

// wait fires a fault at its moment.
func (i *Injector) wait(a *armed) {
	i.host.After(trace.Instant(a.Trigger.At).Sub(i.host.Now()), func() { i.fire(a, i.host.Act) })
}

// Step fires the faults that wait for a step: before it is taken, or after that. Now is how a fault acts on the step's
// message at once, later returns how one does that acts when the message has moved on.
func (i *Injector) Step(when When, s *trace.Step, now Act, later func() Act) {
	if !i.watched[s.Does] {
		return
	}
	for _, a := range i.faults {
		if a.triggered || a.Trigger.When != when || !a.Trigger.Step.Matches(s, i.host.RoleOf) {
			continue
		}
		a.matches++
		if a.matches < a.Trigger.Nth {
			continue
		}
		a.triggered = true
		if a.Trigger.Plus == 0 {
			i.fire(a, now)
			continue
		}
		then := later()
		i.host.After(a.Trigger.Plus, func() { i.fire(a, then) })
	}
}

// Reports returns the outcomes of the faults, in the order in which they were armed.
func (i *Injector) Reports() []FaultReport {
	reports := make([]FaultReport, len(i.faults))
	for n, a := range i.faults {
		reports[n] = FaultReport{Fault: &a.Fault, Node: a.node, Fired: a.begin != trace.Never, Begin: a.begin, End: a.end}
	}
	return reports
}

// fire begins a fault.
func (i *Injector) fire(a *armed, act Act) {
	node := a.Action.Node
	if IsRole(node) {
		node = i.host.RoleOf(node)
	}
	step := trace.Step{Node: node, Does: trace.Begin, What: a.Name}
	i.host.Announce(Before, step, &a.Fault)
	did, heal := act(&a.Fault, node)
	if !did {
		return
	}
	a.begin, a.node = i.host.Now(), node
	i.host.Announce(After, step, &a.Fault)
	lasts := a.Lasts()
	switch {
	case heal == nil: // it was over at once, or when the message that it delays goes on
		a.end = a.begin.Add(a.Action.By)
	case lasts > 0:
		a.end = a.begin.Add(lasts) // also if the run does not live to see it
		i.healing++
		i.host.After(lasts, func() { i.mend(a, heal) })
	}
}

// mend ends a fault.
func (i *Injector) mend(a *armed, heal func()) {
	step := trace.Step{Node: a.node, Does: trace.End, What: a.Name}
	i.host.Announce(Before, step, &a.Fault)
	i.healing--
	heal()
	a.end = i.host.Now()
	i.host.Announce(After, step, &a.Fault)
}
