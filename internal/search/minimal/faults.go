package minimal

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// fewerFaults takes out faults, and clocks that are wrong.
func (r *reducer) fewerFaults() { r.thinFaults(r.doWithout) }

// thinFaults takes faults and clocks out as far as an attempt says that they are not needed.
func (r *reducer) thinFaults(attempt func(edit) bool) {
	thin(attempt, func() int { return len(r.now.Faults) }, dropFaults)
	thin(attempt, func() int { return len(r.now.Clocks) }, func(s *scenarios.Scenario, from, to int) {
		s.Clocks = slices.Delete(s.Clocks, from, to)
	})
}

// thin takes entries out of a list: all of it, then halves, quarters and so on down to single entries (delta
// debugging: Zeller and Hildebrandt 2002).
func thin(attempt func(edit) bool, length func() int, drop func(s *scenarios.Scenario, from, to int)) {
	for size := length(); size > 0; size /= 2 {
		for from := 0; from < length(); {
			to := min(from+size, length())
			if !attempt(func(s *scenarios.Scenario) bool { drop(s, from, to); return true }) {
				from = to
			}
		}
	}
}

// dropFaults takes out the faults of [from, to). One that hangs on such a fault takes over when that happens.
func dropFaults(s *scenarios.Scenario, from, to int) {
	for i := to - 1; i >= from; i-- {
		gone := s.Faults[i]
		s.Faults = slices.Delete(s.Faults, i, i+1)
		for k := range s.Faults {
			if t := &s.Faults[k].Trigger; hangsOn(t, gone.Name) {
				*t = inherited(&gone, t)
			}
		}
	}
}

// hangsOn reports whether a trigger is the beginning or the end of the fault of that name.
func hangsOn(t *sim.Trigger, name string) bool { return isOfFault(t) && t.Step.What == name }

func isOfFault(t *sim.Trigger) bool {
	return t.When != sim.At && (t.Step.Does == trace.Begin || t.Step.Does == trace.End)
}

// inherited is a trigger for what hung on a fault that is gone.
func inherited(gone *sim.Fault, of *sim.Trigger) sim.Trigger {
	later := of.Plus
	if of.Step.Does == trace.End {
		later += gone.Lasts()
	}
	t := gone.Trigger
	switch {
	case t.When == sim.At:
		t.At += later
	case later > 0:
		t.When, t.Plus = sim.After, t.Plus+later
	}
	return t
}

// nameFaults gives each fault the name that it has by default, so that it keeps it when others are gone.
func nameFaults(s *scenarios.Scenario) {
	for i := range s.Faults {
		s.Faults[i].Name = s.Faults[i].NameAt(i)
	}
}

// unnameFaults takes all names away. If a fault hangs on others by a pattern they are all needed.
func unnameFaults(s *scenarios.Scenario) {
	names := make([]string, len(s.Faults))
	for i := range s.Faults {
		names[i] = s.Faults[i].Name
	}
	for i := range s.Faults {
		if t := &s.Faults[i].Trigger; isOfFault(t) && t.Step.What != "" && !slices.Contains(names, t.Step.What) {
			return
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		f.Name = ""
		if isOfFault(&f.Trigger) && f.Trigger.Step.What != "" {
			f.Trigger.Step.What = sim.Fault{}.NameAt(slices.Index(names, f.Trigger.Step.What))
		}
	}
}
