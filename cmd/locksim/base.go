package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// baseScenario is a scenario to which faults are to be added, in one of its variants.
func (c *call) baseScenario(name, variant string) (*scenarios.Scenario, error) {
	all := scenarios.Names()
	if !slices.Contains(all, name) && !looksLikeFile(name) && !isFile(name) {
		near := didYouMean(name, slices.Concat(lockNames(), clients.Names(), all), "list")
		return nil, fmt.Errorf("there is no lock, library or scenario %q%s", name, near)
	}
	s, err := c.scenarioOfProgram(name)
	if err != nil {
		return nil, err
	}
	cases, err := search.Selection{Variant: variant}.Cases(s)
	if err != nil {
		return nil, err
	}
	if variant == "" && len(s.Variants) > 0 {
		var variants []string
		for _, v := range s.Variants {
			variants = append(variants, v.Name)
		}
		list := strings.Join(variants, ", ")
		return nil, fmt.Errorf("%s has variants: choose one with --variant: %s", s.Name, list)
	}
	return cases[0].Scenario, nil
}
