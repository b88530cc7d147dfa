package comparison

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/locksim/locksim/internal/search/compare"
)

// csvHead names the columns.
var csvHead = []string{
	"lock", "servers", "faults", "fencing", "property", "outcome", "runs", "violated", "in_danger", "undecided", "rate",
	"rate_at_least", "rate_at_most", "kind", "first_run", "example", "command", "why",
}

// CSV writes a line for each cell. Rates are shares, from 0 to 1; those of a cell without a verdict are empty.
func CSV(w io.Writer, c *compare.Comparison) error {
	out := csv.NewWriter(w)
	b := newBoard(c)
	lines := [][]string{csvHead}
	for i := range c.Cells {
		lines = append(lines, record(b, &c.Cells[i]))
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

func record(b *board, c *compare.Cell) []string {
	record := []string{c.Lock, b.servers(c.Lock), c.Faults, c.Fencing, c.Property, string(c.Outcome)}
	for _, n := range []int{c.Runs, c.Violated, c.InDanger, c.Undecided} {
		record = append(record, strconv.Itoa(n))
	}
	for _, share := range []float64{c.Rate, c.Least, c.Most} {
		text := ""
		if judged(c) {
			text = six(share)
		}
		record = append(record, text)
	}
	first, example := "", ""
	if c.First != nil {
		first = strconv.FormatUint(*c.First, 10)
	}
	if c.Example != nil {
		example = c.Example.Name
	}
	return append(record, c.Kind, first, example, c.Command, c.Why)
}
