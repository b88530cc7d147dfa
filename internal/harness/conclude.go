package harness

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Conclude completes the history of a run of the plan: in a simulation, or on real servers, where unheard says that no
// observer sees what they grant.
func (p *Plan) Conclude(r *record.Recorder, faults []sim.FaultReport, end sim.Ending, unheard bool) *history.History {
	h := r.Close()
	h.Fencing, h.Registers, h.Keeps = p.Case.Fencing, p.registers(), p.keeps
	h.Faulty = len(p.Case.Scenario.Clocks) > 0
	h.End, h.Bound, h.Quiescent = end.At, end.Bound, end.Quiescent
	for i, f := range faults {
		if f.Fired && f.Fault.Action.Kind == sim.Pause && f.End == trace.Never {
			r.Left(f.Node, f.Begin)
		}
		if f.Fault.Action.Kind == sim.SameRandom {
			h.Faulty = true
			continue
		}
		h.Faults = append(h.Faults, history.Fault{
			Name: f.Fault.Name, Text: p.texts[i], Fired: f.Fired, Begin: f.Begin, End: f.End.Add(f.Fault.Action.Demote),
			Of: p.concerns(f.Fault, f.Node), Sets: f.Fault.Action.Kind == sim.SetClock,
			Waits: f.Fault.Action.Kind == sim.Stall || f.Fault.Action.Kind == sim.Pause,
		})
	}
	p.tellLocksApart(h)
	if !end.Quiescent && end.Bound == "" {
		h.Cut = p.CutOff(h, faults, end.Working, unheard)
	}
	h.Outages = p.outages(faults)
	return h
}

// concerns returns the node that a fault concerns alone: a client, or the storage, to which no lock speaks; "" if it may concern all. A fault
// of a link concerns its client, since there is nobody else at that end.
func (p *Plan) concerns(f *sim.Fault, node string) string {
	mine := func(name string) bool {
		return name == scenarios.Storage || slices.ContainsFunc(p.clients, func(c clientPlan) bool { return c.Name == name })
	}
	if mine(node) {
		return node
	}
	for _, end := range [][]string{f.Action.Link.From, f.Action.Link.To} {
		if len(end) == 1 && end[0] != scenarios.Storage && mine(end[0]) {
			return end[0]
		}
	}
	return ""
}

// uncertainty is by how much the end of a belief may be too late: a program in real time is heard late. Its beliefs begin when it is
// heard, and end when it is told to release the lock, which no delay makes longer; a loss that it has to notice comes first.
func uncertainty(c *clientPlan, a *history.Acquisition) time.Duration {
	real, is := c.algorithm.Program.(interface{ Uncertainty() time.Duration })
	if is && (a.Noticed != trace.Never || a.HasDeadline && a.Style != history.Careless) {
		return real.Uncertainty()
	}
	return 0
}

// tellLocksApart notes of acquisitions in what their locks differ from those of other clients.
func (p *Plan) tellLocksApart(h *history.History) {
	for i := range p.clients {
		c := &p.clients[i]
		unkept, late := p.keeps && !c.keeps, c.Work.Late > 0
		for k := range h.Acquisitions {
			a := &h.Acquisitions[k]
			if a.Client != c.Name {
				continue
			}
			lease := c.options(a.Lock).TTL
			if lease == p.Case.Scenario.Lease() {
				lease = 0
			}
			if unkept || lease != 0 || late {
				a.Unkept, a.Lease, a.Late = unkept, lease, late
			}
			a.Uncertainty = uncertainty(c, a)
		}
	}
}

// judging returns what the checker judges a run of the plan by, in addition to its history.
func (p *Plan) judging(seed uint64) checker.Options {
	s := p.Case.Scenario
	o := checker.Options{
		ProgressWithin: s.Progress, Lease: s.OnSlowest(cmp.Or(s.Lease(), defaultLease)),
		Load:   checker.Load{Waiter: s.Load.Waiter, Holder: s.Load.Holder},
		Sample: seed%sampled == 0,
	}
	if p.Algorithm.Lingers {
		o.Lingers = o.Lease
	}
	return o
}

// defaultLease is the life of a lease where a scenario states none (package scenarios).
const defaultLease = 10 * time.Second
