package advise

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/scenarios"
)

// TestWhatCostsMoreComesLater: advice is tried in the order of what it usually takes, but what it costs in a scenario is known only
// when it was played there.
func TestWhatCostsMoreComesLater(t *testing.T) {
	piece := func(what, kind string, g Grade, left int, lease int64, changes ...scenarios.Change) Advice {
		return Advice{What: what, Kind: kind, Grade: g, Left: make([]Point, left), Lease: lease, Trial: &Trial{Changes: changes}}
	}
	a := &advisor{report: &Report{Base: &Trial{}, Lease: 8, Advice: []Advice{
		piece("leaves two", "style", Partly, 2, 8),
		piece("a longer lease", "ttl", Holds, 0, 30),
		piece("servers", "servers", Holds, 0, 8),
		piece("another lock", "lock", Holds, 0, 8, scenarios.Change{Path: "lock.algorithm", Value: "watchdog"}),
		piece("careful clients", "style", Holds, 0, 8),
		piece("compare-and-set", "fencing", Guards, 1, 8),
		piece("leaves one", "renew", Partly, 1, 30),
		piece("renewal", "renew", Holds, 0, 8),
	}}}
	a.sort()
	var order []string
	for _, x := range a.report.Advice {
		order = append(order, x.What)
	}
	require.Equal(t, []string{
		"careful clients", "renewal", "a longer lease", "another lock", "servers", "compare-and-set", "leaves one", "leaves two",
	}, order)
}

// TestACaseThatWasNeverExposedIsNotShownToHold looks at both properties, since a resource may be at risk alone.
func TestACaseThatWasNeverExposedIsNotShownToHold(t *testing.T) {
	exposed := func(p checker.Property) (c Case) {
		c.Counts[p].InDanger = 1
		return c
	}
	x := &Trial{Cases: []Case{{Variant: "failover"}, exposed(checker.MutualExclusion), exposed(checker.Resource), exposed(checker.Progress)}}
	x.Cases[3].Variant = "pause"
	require.Equal(t, []string{"failover", "pause"}, x.Unexposed())
}
