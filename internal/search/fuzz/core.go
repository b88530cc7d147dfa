package fuzz

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Core is what hits have in common that are likely to be one finding.
type Core struct {
	Property checker.Property
	Kind     string // of the violation
	Style    history.Style
	Fencing  history.Fencing
	Sum      uint64 // the digest of what minimal.Core says; 0 if it takes none of the faults that were drawn
}

// cores says what is left of the violations of some properties in one case.
func (h *Campaign) cores(
	r *harness.Runner, c scenarios.Case, result *harness.Result, broken []checker.Property,
) []Core {
	list := make([]Core, len(broken))
	hit := minimal.Hit{Result: result, AsDrawn: h.varies}
	if base := h.Config.Base; base != nil {
		hit.Faults, hit.Clocks = len(base.Faults), len(base.Clocks)
	}
	var asked []int // for which of them the core has to be found out
	for i, p := range broken {
		v := h.violation(c, search.FirstOf(p, &result.Report))
		list[i] = Core{Property: p, Kind: v.Kind, Style: c.Style, Fencing: c.Fencing}
		if !slices.Contains(h.given, list[i]) {
			hit.Violations, asked = append(hit.Violations, v), append(asked, i)
		}
	}
	for i, text := range hit.Cores(r) {
		if text != "" {
			var core trace.Digest
			core.String(text)
			list[asked[i]].Sum = core.Sum()
		}
	}
	return list
}

// hit returns the violation by which a run met a core. That of a program whose runs vary is not played for it.
func (h *Campaign) hit(r *harness.Runner, core Core, n uint64) (*search.Violation, error) {
	var v *search.Violation
	if h.varies {
		for _, c := range h.Draw(n).Cases() {
			if c.Style == core.Style && c.Fencing == core.Fencing {
				found := h.violation(c, &checker.Violation{Property: core.Property, Kind: core.Kind})
				return &found, nil
			}
		}
	}
	search.Play(r, h.Draw(n), h.options, func(c scenarios.Case, result *harness.Result, err error) bool {
		if c.Style != core.Style || c.Fencing != core.Fencing || err != nil {
			return true
		}
		if first := search.FirstOf(core.Property, &result.Report); first != nil && first.Kind == core.Kind {
			found := h.violation(c, first)
			v = &found
		}
		return false
	})
	if r.Cut() {
		return nil, harness.ErrInterrupted
	}
	if v == nil {
		return nil, fmt.Errorf("run %d does not violate %s again, as it did: %s", n, core.Property, core.Kind)
	}
	return v, nil
}

func (h *Campaign) violation(c scenarios.Case, v *checker.Violation) search.Violation {
	return search.Violation{Case: c, Seed: c.Scenario.Seed, Property: v.Property, Kind: v.Kind, Options: h.options}
}

// fewSeeds is with how many seeds a scenario to which faults are added is played without them.
const fewSeeds = 8

// givenCores lists what the scenario to which faults are added violates by itself whatever the seed is: that takes none
// of the faults that are drawn.
func (h *Campaign) givenCores() []Core {
	if h.Config.Base == nil {
		return nil
	}
	var r harness.Runner
	defer r.Close()
	bare := h.model
	bare.Faults = nil
	var always []Core
	for seed := range uint64(fewSeeds) {
		var now []Core
		search.Play(&r, search.Generate(search.Seeded(seed), bare), h.options,
			func(c scenarios.Case, result *harness.Result, err error) bool {
				for _, p := range h.Config.Properties {
					if v := search.FirstOf(p, &result.Report); err == nil && v != nil {
						now = append(now, Core{Property: p, Kind: v.Kind, Style: c.Style, Fencing: c.Fencing})
					}
				}
				return true
			})
		if seed == 0 {
			always = now
		}
		always = slices.DeleteFunc(always, func(c Core) bool { return !slices.Contains(now, c) })
	}
	return always
}
