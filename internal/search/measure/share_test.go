package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/locks"
)

// TestModesThatShareRunsSayWhatTheyWouldSayAlone measures all modes at once, where one run may stand for several modes, and
// each mode by itself, where it cannot.
func TestModesThatShareRunsSayWhatTheyWouldSayAlone(t *testing.T) {
	t.Parallel()
	var modes []history.Fencing
	for _, name := range history.FencingNames() {
		mode, _ := history.ParseFencing(name)
		modes = append(modes, mode)
	}
	p := measure.Plan{
		Locks: locks.Catalogue().All(), Conditions: []measure.Condition{{
			Name: "all", Model: func(lock *locks.Algorithm) search.FaultModel { return search.Wide(lock, search.Kinds()) },
		}}, Fencing: modes,
		Draws: search.Seeds{First: 7, Count: 8}, Jobs: 2,
	}
	for property := range checker.PropertyCount {
		p.Properties = append(p.Properties, property)
	}
	together := table(t, p)
	refused := 0
	for _, mode := range modes {
		p.Fencing = []history.Fencing{mode}
		for _, alone := range table(t, p).Cells {
			for _, shared := range together.Cells {
				if shared.Lock != alone.Lock || shared.Fencing != mode || shared.Property != alone.Property {
					continue
				}
				require.Equal(t, alone.Counts, shared.Counts, "%s of %s, fencing %s", alone.Property, alone.Lock, mode)
				require.Equal(t, alone.First, shared.First)
				require.Equal(t, alone.Kind, shared.Kind)
				if alone.Property == checker.Resource && mode == history.Unfenced {
					refused += alone.Violated
				}
			}
		}
	}
	require.Greater(t, refused, 15, "there was something to refuse")
}
