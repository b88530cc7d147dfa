package explore

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// keyOf condenses what a further fault finds in a faulted run: what happened and when but for the faults' own steps,
// what the faults did and when, and what was promised until when. Two runs with one key are the same run: their faults
// hang on two names of one moment, as after a step of a client and before its next one.
//
// A digest of the steps alone would not do. Between the two steps a client may have looked at its clock, and have
// another deadline in its mind if it was paused before that rather than after it, though with one fault nothing comes
// of it. And a cut during which nothing is sent leaves no trace, but a second fault may have something sent then; so
// its moments count, too.
func keyOf(r *harness.Result) uint64 {
	var d trace.Digest
	happened(&d, r.Events)
	for i := range r.History.Faults {
		f := &r.History.Faults[i]
		d.String(f.Text)
		d.Uint64(uint64(f.Begin))
		d.Uint64(uint64(f.End))
	}
	promised(&d, r.History)
	return d.Sum()
}

// happened adds all steps but those of faults.
func happened(d *trace.Digest, events []trace.Event) {
	for i := range events {
		e := &events[i]
		if e.Does == trace.Begin || e.Does == trace.End {
			continue
		}
		d.Uint64(uint64(e.At))
		d.Uint64(uint64(e.Does) ^ e.Msg<<8)
		d.String(e.Node)
		d.String(e.What)
		d.String(e.Peer)
		d.Uint64(e.Sum)
	}
}

// promised adds the times that somebody keeps in mind without showing them.
func promised(d *trace.Digest, h *history.History) {
	for i := range h.Acquisitions {
		d.Uint64(uint64(h.Acquisitions[i].Deadline))
	}
	for i := range h.Copies {
		d.Uint64(uint64(h.Copies[i].Expires))
	}
	for i := range h.Grants {
		d.Uint64(uint64(h.Grants[i].To))
	}
}

// leaveNothing reports whether faults that are over leave nothing behind that a run could hide from its key: a clock
// that was set stays so, a snapshot and what a disk had are read when their server restarts, and a client that was
// paused before rather than after it looked at its clock gives up later.
func leaveNothing(faults []sim.Fault, base *scenarios.Scenario) bool {
	return !slices.ContainsFunc(faults, func(f sim.Fault) bool {
		client := slices.IndexFunc(base.Clients, func(c scenarios.Client) bool {
			return slices.Contains(c.Names(), f.Action.Node)
		})
		switch f.Action.Kind {
		case sim.SetClock, sim.Snapshot, sim.SameRandom:
			return true
		case sim.Crash:
			return client < 0
		case sim.Pause:
			return client >= 0 && base.Clients[client].Wait != locks.Forever && base.Clients[client].Wait != locks.Try
		default:
			return false
		}
	})
}
