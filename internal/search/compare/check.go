package compare

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
)

// Sum is what the first runs of all cells of a lock counted, as a digest: enough to notice that a comparison that was
// published without its data is no longer what would be measured.
type Sum struct {
	Lock   string
	Digest uint64
}

// String is the sum as it is published.
func (s Sum) String() string { return fmt.Sprintf("%s %#016x", s.Lock, s.Digest) }

// Sums returns the sum of each lock, in their order.
func (c *Comparison) Sums() []Sum {
	var sums []Sum
	for i := range c.Locks {
		h := fnv.New64a()
		for _, cell := range slices.Concat(c.Cells, c.Guarded) {
			if cell.Lock != c.Locks[i].Name {
				continue
			}
			fmt.Fprintln(h, cell.Faults, cell.Fencing, cell.Property, cell.Outcome == Impossible)
			if cell.Sample != nil {
				fmt.Fprintln(h, *cell.Sample)
			}
		}
		sums = append(sums, Sum{c.Locks[i].Name, h.Sum64()})
	}
	return sums
}

// Check plays only the first runs of each cell of a plan, and returns what they come to: a comparison with the sums of the
// one that the whole plan comes to, and without costs, examples and advice.
func Check(ctx context.Context, p Plan) (*Comparison, error) {
	p.Draws.Count = min(p.Draws.Count, sampleOf(p.Locks))
	c := &comparer{ctx: ctx, plan: p, told: func(string, int, int) {}, columns: chosenColumns(p.Faults), late: map[*Cell]bool{}}
	if err := c.begin(); err != nil {
		return nil, err
	}
	if err := c.measure(); err != nil {
		return nil, err
	}
	return c.out.Comparison, nil
}
