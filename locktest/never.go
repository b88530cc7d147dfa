package locktest

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// never says which kinds of faults that the lock's servers know are on no promise's fault model, which promises were never at risk, and whether a
// method of the lock is not called; "" if there is nothing of these.
func (s *subject) never(list []pledge, tallies []tally) string {
	servers := scenarios.Servers{Kind: s.Kind(), Masters: 1}
	if len(s.Masters) > 0 {
		servers.Masters = s.Masters[0]
	}
	if len(s.Replicas) > 0 {
		servers.Replicas = s.Replicas[0]
	}
	var kinds, promises, parts []string
	for _, k := range search.Kinds() {
		on := func(p pledge) bool { return slices.Contains(p.Model.Faults, k) }
		if k.CanHit(&servers) && !slices.ContainsFunc(list, on) {
			kinds = append(kinds, k.String())
		}
	}
	for i := range list {
		if tallies[i].runs > 0 && tallies[i].dangers == 0 {
			promises = append(promises, string(list[i].Name))
		}
	}
	if len(kinds) > 0 {
		parts = append(parts, "never drawn: "+strings.Join(kinds, ", "))
	}
	if len(promises) > 0 {
		parts = append(parts, "never exposed: "+strings.Join(promises, ", "))
	}
	if s.verifies && !slices.ContainsFunc(list, func(p pledge) bool { return slices.Contains(p.Model.Styles, history.Careful) }) {
		parts = append(parts, "never called: Verify (it is called where leases state a deadline or have a notice of loss)")
	}
	return strings.Join(parts, "; ")
}
