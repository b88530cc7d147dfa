package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatNoMeasurementComesToIsRefused(t *testing.T) {
	whole := func() *Comparison {
		return &Comparison{
			Schema: Schema, Locks: []Lock{{Name: "redlock"}},
			Cells: []Cell{{
				Lock: "redlock", Faults: "none", Fencing: "none", Property: "resource", Outcome: Held, Runs: 5, InDanger: 5,
			}},
		}
	}
	require.NoError(t, whole().Valid())
	for problem, spoil := range map[string]func(c *Comparison){
		"its form":         func(c *Comparison) { c.Schema = "another" },
		"not among":        func(c *Comparison) { c.Locks[0].Name = "another" },
		"no outcome":       func(c *Comparison) { c.Cells[0].Outcome = "green" },
		"no such fencing":  func(c *Comparison) { c.Cells[0].Fencing = "wooden" },
		"no such property": func(c *Comparison) { c.Cells[0].Property = "beauty" },
		"which cannot be":  func(c *Comparison) { c.Cells[0].Violated = 6 },
		"of -5 runs":       func(c *Comparison) { c.Cells[0].Runs = -5 },
	} {
		c := whole()
		spoil(c)
		require.ErrorContains(t, c.Valid(), problem)
	}
}
