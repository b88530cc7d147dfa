// Package replay plays a scenario on real servers, with real client processes and staged faults. The checker that
// judges simulations judges the history.
//
// Call [Play] with a case of a scenario. Servers are child processes on loopback (package real), and so are clients:
// this program again, which runs [Client] there and plays the workload with the lock's own code over internal/live. Every
// client waits at every step until the stage lets it continue, and every message passes a proxy that can read it, so
// that a fault that a step triggers acts at that step, as in a simulation. All moments are read from one clock.
//
// [PlayOnce] plays client programs of any language in the same way, compared with nothing: the client's process starts its program,
// and reports what that says.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/scenarios"
)

// Options configures [Play].
type Options struct {
	// Program starts a client process: a command whose process calls Client.
	Program []string
	// Speed is the factor by which the scenario is played faster; 0: chosen for the scenario.
	Speed float64
	// Play says which lock each case is played with; on real servers, locks of the catalogue alone.
	Play harness.Options
	// Attempts is the maximum number of runs of a case; 0: DefaultAttempts.
	Attempts int
	// Instead changes the servers that are started, but not the simulated ones, so that a test can check that the
	// comparison notices. It may be nil.
	Instead func(*scenarios.Servers)
	_       struct{}
}

// DefaultAttempts is the default maximum number of runs of a case.
const DefaultAttempts = 8

// Attempt is one run on real servers.
type Attempt struct {
	Speed   float64
	Took    time.Duration // including the start of the servers
	History *history.History
	Report  checker.Report
	// Invalid is why the run is inconclusive: a fault that did not act, or a process that was late; "" if it is
	// valid.
	Invalid string
	// Differs lists the properties on which the run and the simulation differ.
	Differs []checker.Property
}

// Outcome is the result of comparing a case.
type Outcome uint8

// The outcomes.
const (
	Agrees       Outcome = iota // real servers and the simulation agree
	Differs                     // they differ
	Inconclusive                // every attempt was inconclusive
	Refused                     // the case cannot be staged
)

// Result is a case, simulated and played on real servers.
type Result struct {
	Case      scenarios.Case
	Outcome   Outcome
	Refusal   error // why it cannot be staged
	Simulated checker.Report
	Faults    []history.Fault // as they happened in the simulation
	Compared  []checker.Property
	Attempts  []Attempt // the last one decides
}

// Play plays a case on real servers until its verdicts are those of the simulation, or the attempts are used up. A
// single run shows that a violation is possible; a single valid run that violates a property which the simulation holds
// to be safe shows that the simulation is wrong.
func Play(ctx context.Context, c scenarios.Case, o *Options) (Result, error) {
	if len(o.Program) == 0 {
		return Result{}, errors.New("replay: no program is named that plays a client")
	}
	runner := &harness.Runner{Stop: func() bool { return ctx.Err() != nil }}
	defer runner.Close()
	r, err := prepare(runner, c, o)
	if ctx.Err() != nil {
		return r.result, ctx.Err()
	}
	if err != nil || r.result.Outcome == Refused {
		return r.result, err
	}
	for range cmp.Or(o.Attempts, DefaultAttempts) {
		a, err := r.once(ctx, o)
		var missing *real.Missing
		switch {
		case ctx.Err() != nil:
			return r.result, ctx.Err()
		case errors.As(err, &missing):
			r.result.Outcome, r.result.Refusal = Refused, missing
			return r.result, nil
		case err != nil:
			a.Invalid, a.History = "the stage failed: "+err.Error(), cmp.Or(a.History, &history.History{})
		}
		r.result.Attempts = append(r.result.Attempts, a)
		switch {
		case a.Invalid != "":
			r.slowDown()
			continue
		case len(a.Differs) == 0:
			r.result.Outcome = Agrees
			return r.result, nil
		}
		r.result.Outcome = Differs
		if r.unsafe(&a) {
			return r.result, nil
		}
	}
	return r.result, nil
}

// unsafe reports whether a run violates what is safe in the simulation.
func (r *rehearsed) unsafe(a *Attempt) bool {
	return slices.ContainsFunc(a.Differs, func(p checker.Property) bool {
		return violated(a.Report.Verdicts[p]) && p != checker.Progress && p != checker.Availability
	})
}

// rehearsed is a case that is ready to be played.
type rehearsed struct {
	result   Result
	original scenarios.Case
	play     harness.Options
	runner   *harness.Runner
	plan     *harness.Plan // scaled
	speed    float64
}

// once plays it once.
func (r *rehearsed) once(ctx context.Context, o *Options) (a Attempt, err error) {
	began := time.Now()
	a.Speed = r.speed
	s, err := newStage(ctx, r.staged(o), o.Program, r.patience())
	if err != nil {
		return a, err
	}
	defer func() {
		err = errors.Join(err, s.close())
		a.Took = time.Since(began)
	}()
	err = s.play()
	a.History = s.history()
	if err != nil {
		return a, err
	}
	a.Report = checker.Check(a.History, checker.Options{ProgressWithin: s.scenario.Progress})
	judgeTokens(a.History, &a.Report)
	r.compare(&a, s.lateness())
	return a, nil
}

// compare says in what an attempt differs from the simulation, and whether it says anything.
func (r *rehearsed) compare(a *Attempt, lateness string) {
	unknown := ""
	for _, p := range r.result.Compared {
		switch r.result.agreement(a, p) {
		case Opposite:
			a.Differs = append(a.Differs, p)
		case Unknown:
			unknown = fmt.Sprintf("%s is unknown: %s", p, a.Report.Reasons[p])
		case Same, ExposedOnce:
		}
	}
	a.Invalid = r.notFired(a.History)
	if len(a.Differs) > 0 {
		a.Invalid = cmp.Or(a.Invalid, lateness)
	}
	if !r.unsafe(a) {
		a.Invalid = cmp.Or(a.Invalid, unknown)
	}
}

// staged is what is played on real servers.
func (r *rehearsed) staged(o *Options) *harness.Plan {
	if o.Instead == nil {
		return r.plan
	}
	plan, scenario := *r.plan, *r.plan.Case.Scenario
	o.Instead(&scenario.Servers)
	plan.Case.Scenario = &scenario
	return &plan
}

// notFired names a fault that acted in the simulation, and did not here.
func (r *rehearsed) notFired(h *history.History) string {
	for i, f := range r.result.Faults {
		if f.Fired && !h.Faults[i].Fired {
			return fmt.Sprintf("the fault %s did not act", f.Name)
		}
	}
	return ""
}

func violated(v checker.Verdict) bool { return v == checker.Violated }
