package replay

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// Named returns the named scenarios that have a variant on servers that are found in most places, with these variants only.
func Named() ([]*scenarios.Scenario, error) {
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	var list []*scenarios.Scenario
	for _, s := range all {
		if len(s.Variants) == 0 {
			if onCommon(s) {
				list = append(list, s)
			}
			continue
		}
		some := *s
		some.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v scenarios.Variant) bool {
			return !onCommon(v.Scenario)
		})
		if len(some.Variants) > 0 {
			list = append(list, &some)
		}
	}
	return list, nil
}

func onCommon(s *scenarios.Scenario) bool {
	kind := stagingOf(s)
	return kind != nil && kind.common()
}
