package fuzz

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/minimal"
	"github.com/locksim/locksim/trace"
)

// Cause is what hits have in common that are likely to be one finding.
type Cause struct {
	Property checker.Property
	Kind     string // of the violation
	Style    history.Style
	Fencing  history.Fencing
	Core     uint64 // the digest of what minimal.Core says; 0 if it takes none of the faults that were drawn
}

// causes says what the violations of some properties in one case come from.
func (h *Hunt) causes(
	r *harness.Runner, c scenarios.Case, result *harness.Result, broken []checker.Property,
) []Cause {
	list := make([]Cause, len(broken))
	hit := minimal.Hit{Result: result}
	if base := h.Config.Base; base != nil {
		hit.Faults, hit.Clocks = len(base.Faults), len(base.Clocks)
	}
	var asked []int // for which of them the core has to be found out
	for i, p := range broken {
		v := h.violation(c, search.FirstOf(p, &result.Report))
		list[i] = Cause{Property: p, Kind: v.Kind, Style: c.Style, Fencing: c.Fencing}
		if !slices.Contains(h.given, list[i]) {
			hit.Violations, asked = append(hit.Violations, v), append(asked, i)
		}
	}
	for i, text := range hit.Cores(r) {
		if text != "" {
			var core trace.Digest
			core.String(text)
			list[asked[i]].Core = core.Sum()
		}
	}
	return list
}

func (h *Hunt) violation(c scenarios.Case, v *checker.Violation) search.Violation {
	return search.Violation{Case: c, Seed: c.Scenario.Seed, Property: v.Property, Kind: v.Kind, Lock: h.lock}
}

// fewSeeds is with how many seeds a scenario to which faults are added is played without them.
const fewSeeds = 8

// givenCauses lists what the scenario to which faults are added violates by itself whatever the seed is: that takes none
// of the faults that are drawn.
func (h *Hunt) givenCauses() []Cause {
	if h.Config.Base == nil {
		return nil
	}
	var r harness.Runner
	defer r.Close()
	bare := h.menu
	bare.Faults = nil
	var always []Cause
	for seed := range uint64(fewSeeds) {
		var now []Cause
		search.Play(&r, search.Generate(search.Seeded(seed), bare), h.lock,
			func(c scenarios.Case, result *harness.Result, err error) bool {
				for _, p := range h.Config.Properties {
					if v := search.FirstOf(p, &result.Report); err == nil && v != nil {
						now = append(now, Cause{Property: p, Kind: v.Kind, Style: c.Style, Fencing: c.Fencing})
					}
				}
				return true
			})
		if seed == 0 {
			always = now
		}
		always = slices.DeleteFunc(always, func(c Cause) bool { return !slices.Contains(now, c) })
	}
	return always
}
