package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// Selection narrows the cases of a scenario down, or has it played in modes and styles that it does not name.
type Selection struct {
	Variant string            // "" means all
	Style   *history.Style    // nil means those that the scenario names
	Fencing []history.Fencing // empty means those that the scenario names
	_       struct{}
}

// Cases returns the selected cases: by variant, within each by style, within each by fencing mode.
func (s Selection) Cases(of *scenarios.Scenario) ([]scenarios.Case, error) {
	var cases []scenarios.Case
	variants := of.Variants
	if len(variants) == 0 {
		variants = []scenarios.Variant{{Scenario: of}}
	}
	for _, v := range variants {
		if s.Variant != "" && v.Name != s.Variant {
			continue
		}
		for _, c := range (&scenarios.Scenario{Styles: s.styles(v.Scenario), Resource: s.resource(v.Scenario)}).Cases() {
			cases = append(cases, scenarios.Case{Scenario: v.Scenario, Variant: v.Name, Style: c.Style, Fencing: c.Fencing})
		}
	}
	if len(cases) == 0 {
		return nil, s.noVariant(of)
	}
	return cases, nil
}

func (s Selection) styles(of *scenarios.Scenario) []history.Style {
	if s.Style != nil {
		return []history.Style{*s.Style}
	}
	return of.Styles
}

func (s Selection) resource(of *scenarios.Scenario) scenarios.Resource {
	r := of.Resource
	if len(s.Fencing) > 0 {
		r.Fencing = s.Fencing
	}
	return r
}

func (s Selection) noVariant(of *scenarios.Scenario) error {
	if len(of.Variants) == 0 {
		return fmt.Errorf("%s has no variants, so none called %q", of.Name, s.Variant)
	}
	var names []string
	for _, v := range of.Variants {
		names = append(names, v.Name)
	}
	if near := scenarios.Nearest(strings.ToLower(s.Variant), names); near != "" && !slices.Contains(names, s.Variant) {
		return fmt.Errorf("%s has no variant %q; did you mean %q?", of.Name, s.Variant, near)
	}
	return fmt.Errorf("%s has no variant %q; it has %s", of.Name, s.Variant, strings.Join(names, ", "))
}
