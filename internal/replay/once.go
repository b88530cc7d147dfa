package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
)

// Once is one run on real servers that is compared with nothing: of client programs, by the times that the scenario states.
type Once struct {
	harness.Result
	Servers string        // what they are, with their version
	Late    time.Duration // by how much the latest thing came late that this process or a client's was to do
}

// atOnce is how late something may be before a reader is told.
const atOnce = 100 * time.Millisecond

// PlayOnce plays the plan once. Program is the command whose process calls [Client]. The error is a [*Refusal] or a [*real.Missing]
// if the plan cannot be staged, and a [*harness.Unborn] if the programs cannot set up their locks.
func PlayOnce(ctx context.Context, p *harness.Plan, program []string) (o Once, err error) {
	if err := Refuse(p); err != nil {
		return o, err
	}
	defer func() {
		if ctx.Err() != nil { // whatever that has led to
			err = ctx.Err()
		}
	}()
	s, err := newStage(ctx, p, program, atOnce)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	o.Servers = s.servers.version()
	if err := s.play(); err != nil {
		return o, err
	}
	h := s.history()
	if x := s.unborn(h); x != nil {
		return o, x
	}
	o.Late = s.latest().by
	for i := range h.Acquisitions {
		if a := &h.Acquisitions[i]; a.Uncertainty > 0 { // its program may have been heard as late as that
			a.Uncertainty = max(a.Uncertainty, o.Late)
		}
	}
	h.HasTokens = h.HasTokens || slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool { return a.Token > 0 })
	report := checker.Check(h, checker.Options{ProgressWithin: s.scenario.Progress})
	judgeTokens(h, &report)
	o.Result = harness.Result{
		Seed: s.scenario.Seed, Messages: int(s.messages), Steps: len(s.events), Virtual: h.End, History: h, Events: s.events,
		Report: report.OfProgram(),
	}
	return o, nil
}

// Refuse says by name what of a plan cannot be staged at the scenario's own times; nil if all can.
func Refuse(p *harness.Plan) error {
	if err := refuse(p); err != nil {
		return err
	}
	s := *p.Case.Scenario
	s.Clients = slices.Clone(s.Clients)
	if stagingOf(&s).rounds(&s); s.Lock.TTL != p.Case.Scenario.Lock.TTL {
		return &Refusal{"lock.ttl", fmt.Sprintf("%s grants nothing for %v; want %v", s.Servers.Title(), p.Case.Scenario.Lock.TTL, s.Lock.TTL)}
	}
	return nil
}

// IsRefusal reports whether an error says that a plan cannot be staged: because of what it is, or for want of the servers' programs.
func IsRefusal(err error) bool {
	var refusal *Refusal
	var missing *real.Missing
	return errors.As(err, &refusal) || errors.As(err, &missing)
}

// unborn is the end of a program without which nobody has asked for the lock, though no fault had acted before; nil if there is none.
func (s *stage) unborn(h *history.History) *harness.Unborn {
	if len(h.Exits) == 0 || len(h.Acquisitions) > 0 {
		return nil
	}
	before := func(f sim.FaultReport) bool { return f.Fired && f.Begin <= h.Exits[0].At }
	if slices.ContainsFunc(s.injector.Reports(), before) {
		return nil
	}
	return &harness.Unborn{Exit: h.Exits[0]}
}
