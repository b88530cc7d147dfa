package strategies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cell is what came of the series of one strategy for one quarry: how many runs a quarter, half and three quarters of
// them needed at most. Those that found nothing count as needing more than all others.
type Cell struct{ Low, Median, High int }

// cellOf sums series up.
func cellOf(runs []int) Cell {
	sorted := slices.Sorted(slices.Values(runs))
	return Cell{sorted[len(sorted)/4], sorted[len(sorted)/2], sorted[len(sorted)*3/4]}
}

// Row is one quarry with a cell for each strategy.
type Row struct {
	Name   string
	Note   string // for a reader
	Faults bool   // there are some on the menu: only then do strategies differ
	Cells  []Cell
}

// Table is what strategies are compared by.
type Table struct {
	Strategies []string
	Series     int // for each cell
	Most       int // runs in a series that finds nothing
	Rows       []Row
}

const (
	faultless   = "-" // marks the row of a quarry whose menu has no faults
	numberWidth = 7
)

// String prints the table's rows: for each strategy the median, and the quartiles behind it.
func (t *Table) String() string {
	nameWidth := 0
	for _, r := range t.Rows {
		nameWidth = max(nameWidth, len(r.Name)+2)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "series %d\nmost %d\n\n%-*s", t.Series, t.Most, nameWidth, "")
	for _, s := range t.Strategies {
		fmt.Fprintf(&b, " %*s", 3*numberWidth+1, s)
	}
	b.WriteString("\n")
	for _, r := range t.Rows {
		name := r.Name
		if !r.Faults {
			name += " " + faultless
		}
		fmt.Fprintf(&b, "%-*s", nameWidth, name)
		for _, c := range r.Cells {
			fmt.Fprintf(&b, " %*s", numberWidth, t.runs(c.Median))
			fmt.Fprintf(&b, " %*s", 2*numberWidth, t.runs(c.Low)+".."+t.runs(c.High))
		}
		if r.Note != "" {
			b.WriteString("  # " + r.Note)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// runs prints a number of runs; > says that it was not enough.
func (t *Table) runs(n int) string {
	if n > t.Most {
		return ">" + strconv.Itoa(t.Most)
	}
	return strconv.Itoa(n)
}

// ParseTable reads a table as it is printed; lines that begin with # are for readers.
func ParseTable(text string) (*Table, error) {
	t := &Table{}
	for i, line := range strings.Split(text, "\n") {
		line, note, _ := strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var err error
		switch {
		case words[0] == "series" && len(words) == 2:
			t.Series, err = strconv.Atoi(words[1])
		case words[0] == "most" && len(words) == 2:
			t.Most, err = strconv.Atoi(words[1])
		case t.Strategies == nil:
			t.Strategies = words
		default:
			err = t.addRow(words, strings.TrimSpace(note))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return t, nil
}

func (t *Table) addRow(words []string, note string) error {
	r := Row{Name: words[0], Note: note, Faults: true}
	words = words[1:]
	if len(words) > 0 && words[0] == faultless {
		r.Faults, words = false, words[1:]
	}
	if len(words) != 2*len(t.Strategies) {
		return fmt.Errorf("%s has %d numbers for %d strategies", r.Name, len(words), len(t.Strategies))
	}
	for pair := range slices.Chunk(words, 2) {
		c, err := parseCell(pair[0], pair[1])
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		r.Cells = append(r.Cells, c)
	}
	t.Rows = append(t.Rows, r)
	return nil
}

func parseCell(median, quartiles string) (Cell, error) {
	low, high, _ := strings.Cut(quartiles, "..")
	var n [3]int
	for i, text := range []string{low, median, high} {
		digits, more := strings.CutPrefix(text, ">")
		x, err := strconv.Atoi(digits)
		if err != nil {
			return Cell{}, err
		}
		if more {
			x++
		}
		n[i] = x
	}
	return Cell{n[0], n[1], n[2]}, nil
}
