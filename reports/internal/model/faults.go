package model

import (
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Unlisted is the kind of a fault that the scenario does not have.
const Unlisted sim.ActionKind = math.MaxUint8

// Fault is an injected fault, with what the scenario says of it.
type Fault struct {
	Name  string
	Kind  sim.ActionKind // Unlisted if the scenario does not have it
	Node  string         // the node that it affected; "" if it affected a link
	Text  string         // as the history has it
	Fired bool
	Begin trace.Instant
	End   trace.Instant
	Of    *sim.Fault // nil if the scenario does not have it
}

// faultsOf joins the faults of a history with the scenario's. A history has those that were injected, in the order of
// the scenario.
func faultsOf(r *Run) []Fault {
	list := make([]Fault, len(r.History.Faults))
	next := 0 // of the scenario's faults
	for i := range list {
		h, f := &r.History.Faults[i], &list[i]
		*f = Fault{Name: h.Name, Kind: Unlisted, Text: h.Text, Fired: h.Fired, Begin: h.Begin, End: h.End}
		k := indexOfFault(r.Case.Scenario, h, next)
		if k < 0 {
			continue
		}
		next = k + 1
		f.Of = &r.Case.Scenario.Faults[k]
		f.Kind = f.Of.Action.Kind
		if name := f.Of.Action.Node; name != "" {
			f.Node = hitBy(r, f, name)
		}
	}
	return list
}

// indexOfFault finds a fault by its name, or one without a name by what it does; -1 if there is none.
func indexOfFault(s *scenarios.Scenario, h *history.Fault, from int) int {
	for i := from; i < len(s.Faults); i++ {
		f := &s.Faults[i]
		if f.Name == h.Name || f.Name == "" && f.Action.String() == h.Text {
			return i
		}
	}
	return -1
}

// IsClient reports whether a name is that of a client of the scenario, or of whichever holds the lock.
func IsClient(s *scenarios.Scenario, name string) bool {
	return name == "holder" || slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool {
		return slices.Contains(c.Names(), name)
	})
}

// hitBy returns the node that a fault hit: by the trace, or where none was kept by the scenario, which may name a role.
func hitBy(r *Run, f *Fault, name string) string {
	for i := range r.Events {
		if e := &r.Events[i]; e.Does == trace.Begin && e.What == f.Name && e.Node != "" {
			return e.Node
		}
	}
	if name != "holder" {
		return name
	}
	for _, b := range r.History.Beliefs() {
		if b.From <= f.Begin && f.Begin < b.To {
			return b.Acquisition.Client
		}
	}
	return name
}

// Concerns reports whether a fault hit the client behind a name.
func (f *Fault) Concerns(who string) bool {
	who = ClientOf(who)
	return f.Node != "" && (who == f.Node || strings.HasPrefix(who, f.Node+"/"))
}

// Span is the time for which the fault lasted within the run.
func (f *Fault) Span(h *history.History) (from, to trace.Instant) {
	return f.Begin, min(f.End, h.End)
}
