package minimal

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Causes plays a run again without each of the conditions that an explanation of it may give as a reason, one at a time,
// and returns those without which the property is not violated: only these may be given as reasons. It takes one run for
// each property that the run violates, and one more for each condition that it shows. A run that reaches no verdict
// confirms nothing.
func Causes(r *harness.Runner, plan *harness.Plan, seed uint64, report *checker.Report, o Options) []checker.Cause {
	var causes []checker.Cause
	for _, p := range []checker.Property{checker.MutualExclusion, checker.Resource} {
		if x := search.FirstOf(p, report); x != nil {
			v := search.Violation{Case: plan.Case, Seed: seed, Property: p, Kind: x.Kind, Options: harness.Options{Instead: &plan.Algorithm}}
			j := &judge{runner: r, sought: v, most: o}
			causes = append(causes, j.causes()...)
		}
	}
	return causes
}

// causes are those of the first violation of the property that is sought.
func (j *judge) causes() []checker.Cause {
	s := single(&j.sought)
	plan, err := harness.Compile(s.Cases()[0], j.sought.Options)
	if err != nil {
		return nil
	}
	result, err := j.runner.Run(plan, s.Seed, true)
	if err != nil {
		return nil
	}
	x := search.FirstOf(j.sought.Property, &result.Report)
	if x == nil {
		return nil
	}
	s.Bounds.Steps = min(s.Bounds.Steps, longest*max(result.Steps, 1))
	var causes []checker.Cause
	for _, c := range counterfactuals(s, &result, x) {
		if !j.spent() && j.isRight(c.scenario) {
			causes = append(causes, c.Cause)
		}
	}
	return causes
}

// isRight reports whether a run does not violate the property that is sought.
func (j *judge) isRight(s *scenarios.Scenario) bool {
	result := j.run(s)
	return result != nil && result.Report.Verdicts[j.sought.Property].Kept()
}

// counterfactual is a scenario without one of the conditions of another.
type counterfactual struct {
	checker.Cause
	scenario *scenarios.Scenario
}

// counterfactuals lists the scenarios without each of the conditions that may be why a run violates a property.
func counterfactuals(s *scenarios.Scenario, result *harness.Result, x *checker.Violation) []counterfactual {
	var list []counterfactual
	add := func(condition checker.Condition, client string, without *scenarios.Scenario) {
		c := counterfactual{checker.Cause{Property: x.Property, Condition: condition, Client: client}, without}
		if without != nil && !slices.ContainsFunc(list, func(o counterfactual) bool { return o.Cause == c.Cause }) {
			list = append(list, c)
		}
	}
	switch x.Property {
	case checker.Resource:
		add(checker.WeakFencing, "", withStrongerFencing(s, result.History))
		for _, id := range x.Acquisitions {
			if a := result.History.Acquisition(id); a != nil {
				add(checker.LateRenewal, a.Client, withHabit(s, a.Client, inTime))
				add(checker.ForgottenToken, a.Client, withHabit(s, a.Client, func(c *scenarios.Client) bool { return unset(&c.Forgets) }))
				add(checker.PassedToken, a.Client, withHabit(s, a.Client, func(c *scenarios.Client) bool { return unset(&c.Passes) }))
			}
		}
	case checker.MutualExclusion:
		for _, id := range x.Acquisitions {
			a := result.History.Acquisition(id)
			if a == nil {
				continue
			}
			add(checker.LateRenewal, a.Client, withHabit(s, a.Client, inTime))
			add(checker.PausedHolder, a.Client, withoutPauses(s, result, a.Client, x.At))
			if a.CanLearn && a.Style == history.Careless {
				add(checker.IgnoredNotice, a.Client, withStyle(s, a.Client, history.Attentive))
			}
			if a.HasDeadline && a.Style != history.Careful {
				add(checker.IgnoredDeadline, a.Client, withStyle(s, a.Client, history.Careful))
			}
		}
	default:
	}
	return list
}

// withoutPauses is a scenario in which a client is not paused at a moment; nil if it is not paused then.
func withoutPauses(s *scenarios.Scenario, result *harness.Result, client string, at trace.Instant) *scenarios.Scenario {
	without := parameter.Clone(s)
	for i := len(without.Faults) - 1; i >= 0; i-- {
		f := &without.Faults[i]
		if f.Action.Kind != sim.Pause || !hits(result, f.Name, client) {
			continue
		}
		k := slices.IndexFunc(result.History.Faults, func(h history.Fault) bool { return h.Name == f.Name })
		if h := &result.History.Faults[k]; h.Begin <= at && at < h.End {
			dropFaults(without, i, i+1)
		}
	}
	if len(without.Faults) == len(s.Faults) {
		return nil
	}
	return without
}

// hits reports whether a fault that has happened was one of a node, which the scenario may name by a role.
func hits(result *harness.Result, fault, node string) bool {
	return slices.ContainsFunc(result.Events, func(e trace.Event) bool {
		return e.Does == trace.Begin && e.What == fault && e.Node == node
	})
}

// withStyle is a scenario in which a client has another style.
func withStyle(s *scenarios.Scenario, client string, style history.Style) *scenarios.Scenario {
	return withHabit(s, client, func(c *scenarios.Client) bool {
		c.Style = &style
		return true
	})
}

// inTime makes a client renew its lease in time.
func inTime(c *scenarios.Client) bool { return unset(&c.Late) }

// withHabit is a scenario in which a client does something in another way; nil if there is nothing to change.
func withHabit(s *scenarios.Scenario, client string, change func(*scenarios.Client) bool) *scenarios.Scenario {
	other := parameter.Clone(s)
	i := slices.IndexFunc(other.Clients, func(c scenarios.Client) bool { return slices.Contains(c.Names(), client) })
	if i < 0 || !change(&other.Clients[i]) {
		return nil
	}
	return other
}

// withStrongerFencing is a scenario whose resource compares what it does not compare now; nil if there is no such mode.
func withStrongerFencing(s *scenarios.Scenario, h *history.History) *scenarios.Scenario {
	var stronger history.Fencing
	switch {
	case s.Resource.Guarded:
		return nil
	case h.Fencing == history.Unfenced && h.HasTokens, h.Fencing == history.FencedWrite:
		stronger = history.FencedReadWrite
	case h.Fencing == history.Unfenced:
		stronger = history.CompareAndSet
	case h.Fencing == history.CheckThenWrite:
		stronger = history.FencedWrite
	default:
		return nil
	}
	other := parameter.Clone(s)
	other.Resource.Fencing = []history.Fencing{stronger}
	return other
}
