package minimal

import (
	"slices"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// How exotic moments are that no step says the sense of.
const (
	fromTheStart = 2
	atSomeTime   = 6
)

// exoticism is how much a reader must know of the protocol to understand when a fault acts.
func exoticism(f *sim.Fault) int64 {
	t := &f.Trigger
	switch {
	case t.When == sim.At && t.At == 0:
		return fromTheStart
	case t.When == sim.At:
		return atSomeTime
	}
	n := count(t.Nth > 1, t.Plus > 0, t.When == sim.Before) + manyNodes(t.Step.Node) + manyNodes(t.Step.Peer)
	n += count(t.Step.Peer != "", isMessage(t) && isGlob(t.Step.What))
	if t.Step.Node == "" {
		n++
	}
	switch d := t.Step.Does; {
	case d == trace.Acquired:
	case d >= trace.Start && d <= trace.Done:
		n++
	case d <= trace.Reply:
		n += 4
	case d == trace.Begin || d == trace.End:
		n += 8
	default:
		n += 6
	}
	return n
}

func isMessage(t *sim.Trigger) bool {
	return t.When != sim.At && t.Step.Does >= trace.Send && t.Step.Does <= trace.Reply
}

// plainerTriggers hangs faults on steps that are easier to understand.
func (r *reducer) plainerTriggers() {
	for i := range r.now.Faults {
		f := &r.now.Faults[i]
		if f.Action.Kind == sim.SameRandom {
			continue
		}
		if hitsMessage(f) {
			r.plainerMessage(i)
			continue
		}
		for _, t := range r.plainTriggers(f) {
			r.try(func(s *scenarios.Scenario) bool { s.Faults[i].Trigger = t; return true })
		}
		r.plainerMessage(i)
	}
}

// hitsMessage reports whether a fault is about the message that it hangs on.
func hitsMessage(f *sim.Fault) bool {
	return f.Action.Kind == sim.Delay || f.Action.Kind == sim.Error || f.Action.Kind == sim.Break && f.Action.This
}

// plainTriggers are moments for a fault, the plainest first.
func (r *reducer) plainTriggers(f *sim.Fault) []sim.Trigger {
	var list []sim.Trigger
	add := func(when sim.When, does trace.Does, what string) {
		for _, name := range involved(r.now, f) {
			list = append(list, sim.Trigger{When: when, Step: sim.Pattern{Node: name, Does: does, What: what}})
		}
	}
	add(sim.After, trace.Acquired, "")
	add(sim.After, trace.Release, "")
	add(sim.After, trace.Released, "")
	add(sim.After, trace.Access, "read")
	add(sim.After, trace.Access, "write")
	add(sim.After, trace.Check, "")
	add(sim.After, trace.Start, "")
	add(sim.Before, trace.Access, "write")
	add(sim.Before, trace.Release, "")
	list = append(list, sim.Trigger{When: sim.At})
	if t := f.Trigger; isOfFault(&t) {
		for k := range r.now.Faults {
			if other := &r.now.Faults[k]; hangsOn(&t, other.Name) && other.Name != f.Name {
				list = append(list, inherited(other, &t))
			}
		}
	}
	for _, seen := range r.seen.result.History.Faults {
		if seen.Name == f.Name && seen.Begin != trace.Never {
			list = append(list, sim.Trigger{When: sim.At, At: time.Duration(seen.Begin)})
		}
	}
	return list
}

// involved lists the clients that a fault may hang on: first the one that it hits.
func involved(s *scenarios.Scenario, f *sim.Fault) []string {
	names := clientNames(s)
	for _, name := range []string{f.Trigger.Step.Node, f.Action.Node} {
		if i := slices.Index(names, name); i > 0 {
			names = slices.Insert(slices.Delete(names, i, i+1), 0, name)
		}
	}
	const most = 4
	return names[:min(len(names), most)]
}

// plainerMessage makes the pattern of a trigger simpler.
func (r *reducer) plainerMessage(i int) {
	of := func(s *scenarios.Scenario) *sim.Trigger { return &s.Faults[i].Trigger }
	for _, change := range []func(t *sim.Trigger) bool{
		func(t *sim.Trigger) bool { t.Nth, t.Plus = 0, 0; return true },
		func(t *sim.Trigger) bool { return unset(&t.Nth) },
		func(t *sim.Trigger) bool { return unset(&t.Plus) },
		func(t *sim.Trigger) bool { return unset(&t.Step.Peer) },
		func(t *sim.Trigger) bool { was := t.When; t.When = sim.After; return was == sim.Before },
	} {
		r.try(func(s *scenarios.Scenario) bool { return of(s).When != sim.At && change(of(s)) })
	}
	if of(r.now).When == sim.At {
		return
	}
	r.lower(func(s *scenarios.Scenario) *int { return &of(s).Nth }, 0)
	r.nameOne(func(s *scenarios.Scenario, name string) { of(s).Step.Node = name }, of(r.now).Step.Node)
	r.nameOne(func(s *scenarios.Scenario, name string) { of(s).Step.Peer = name }, of(r.now).Step.Peer)
	for _, name := range involved(r.now, &r.now.Faults[i]) {
		if of(r.now).Step.Node != "" {
			break
		}
		r.try(func(s *scenarios.Scenario) bool { of(s).Step.Node = name; return true })
	}
}
