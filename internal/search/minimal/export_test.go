package minimal

import (
	"strings"

	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
)

// Tried says whether the property is violated with some sizes of what is needed, if what is told of it is true: far below
// the boundaries, closely below, between them, closely above and far above. The sizes are others than those that the
// boundaries were found with.
func (n *Need) Tried(ttl int64) map[int64]bool {
	sizes := map[int64]bool{n.held: false, n.least: true}
	top := max(10*n.least, n.least+2*ttl)
	if strings.HasSuffix(n.Least, "ppm") {
		top = min(10*n.least, stands-1)
	}
	if n.most != 0 {
		top = n.most
		sizes[n.most], sizes[n.over] = true, false
	}
	const parts = 11
	for i := range int64(parts) {
		part := 997 * i * i * i / (parts * parts * parts) // per mille, more of them close by
		sizes[n.held-n.held*part/1000] = false
		sizes[n.least+(top-n.least)*part/1000] = true
		if n.most != 0 {
			sizes[n.over+8*n.least*part/1000] = false
		}
	}
	return sizes
}

// Turn gives what is needed another size in a scenario.
func (n *Need) Turn(s *scenarios.Scenario, size int64) bool {
	turned := false
	for _, k := range parameter.Of(s) {
		if k.What == n.What || n.What == eachRate && k.Rate {
			k.Set(size)
			turned = true
		}
	}
	return turned
}
