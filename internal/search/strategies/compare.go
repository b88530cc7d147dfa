package strategies

import (
	"context"
	"iter"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// Limits lists what is known to be there: every limit of what a lock promises.
func Limits() []Quarry {
	var list []Quarry
	for _, c := range claims.Limits() {
		list = append(list, Quarry{Name: c.Name, Menu: c.Menu, Property: c.Property})
	}
	return list
}

// Compare has every strategy search for a quarry, in as many series each. What it finds does not depend on how many are
// played at once.
func Compare(ctx context.Context, q *Quarry, strategies []Strategy, series, most, jobs int) (Row, error) {
	row := Row{Name: q.Name, Note: q.Note, Faults: len(q.Menu.Faults) > 0}
	var runs []int // of the cell under way
	err := search.InOrder(ctx, jobs, plays(q, strategies, series, most), func(n int) error {
		if runs = append(runs, n); len(runs) == series {
			row.Cells = append(row.Cells, cellOf(runs))
			runs = nil
		}
		return nil
	})
	return row, err
}

// plays yields all series of one strategy after those of another.
func plays(q *Quarry, strategies []Strategy, series, most int) iter.Seq[func(*harness.Runner) int] {
	return func(yield func(func(*harness.Runner) int) bool) {
		for i := range strategies {
			for k := range series {
				if !yield(func(r *harness.Runner) int { return strategies[i].First(r, q, uint64(k), most) }) {
					return
				}
			}
		}
	}
}
