package replay

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// kinds are the servers that are found in most places; of the others few people have one at hand.
var kinds = []string{"redis", "zookeeper"}

// Named returns the named scenarios that have a variant on Redis or ZooKeeper, with these variants only.
func Named() ([]*scenarios.Scenario, error) {
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	var list []*scenarios.Scenario
	for _, s := range all {
		if len(s.Variants) == 0 {
			if slices.Contains(kinds, s.Servers.Kind) {
				list = append(list, s)
			}
			continue
		}
		some := *s
		some.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v scenarios.Variant) bool {
			return !slices.Contains(kinds, v.Scenario.Servers.Kind)
		})
		if len(some.Variants) > 0 {
			list = append(list, &some)
		}
	}
	return list, nil
}
