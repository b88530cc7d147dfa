package comparison

import (
	"fmt"
	"math"

	"github.com/locksim/locksim/internal/search/compare"
)

// field is one of a heat map.
type field struct{ violated, inDanger, runs, unknown int }

func fieldOf(h *compare.Heat, row, column int) field {
	f := field{runs: h.Runs}
	for _, part := range []struct {
		to   *int
		from [][]int
	}{{&f.violated, h.Violated}, {&f.inDanger, h.InDanger}, {&f.runs, h.Played}, {&f.unknown, h.Unknown}} {
		if row < len(part.from) && column < len(part.from[row]) {
			*part.to = part.from[row][column]
		}
	}
	return f
}

// text is the rate in percent; a ring if nothing was to be seen, and a question mark if nothing is known.
func (f field) text() string {
	switch {
	case f.violated == 0 && (f.unknown > 0 || f.runs == 0):
		return "?"
	case f.violated == 0 && f.inDanger == 0:
		return "○"
	}
	return percent(share(f.violated, f.runs), 2, nearest)
}

// tone is what a field means.
func (f field) tone(property string) tone {
	switch {
	case f.violated > 0 && property == resource:
		return red
	case f.violated > 0:
		return amber
	case f.inDanger > 0 && f.unknown == 0:
		return green
	}
	return grey
}

// unseen is the upper end of the exact interval of Clopper and Pearson for what was never seen in this many runs: the
// probability with which that would happen by chance as rarely as the confidence, in percent, leaves on one side.
func unseen(runs, confidence int) float64 {
	if runs == 0 {
		return 1
	}
	return 1 - math.Pow(float64(100-confidence)/200, 1/float64(runs))
}

// heatTable is a heat map in numbers. Where violations are expected, fields have a mark.
func heatTable(h *compare.Heat) table {
	t := table{
		id: "heat-" + h.Name, title: h.Title, corner: h.Down + " \\ " + h.Across,
		notes: []string{fmt.Sprintf("%s, fencing %s: %s violated, in percent of %s for each field. ○: never exposed.",
			h.Lock, h.Fencing, h.Property, plural(h.Runs, "run"))},
	}
	if h.Line != nil {
		t.notes = append(t.notes, "To the right of ▏ it is expected: "+sentence(h.LineText))
	}
	for _, text := range h.Columns {
		t.heads = append(t.heads, head{text: text, right: true})
	}
	for y, text := range h.Rows {
		r := row{head: text}
		for x := range h.Columns {
			e := said(fieldOf(h, y, x).text())
			if y < len(h.Line) && x == h.Line[y] {
				e.text = "▏" + e.text
			}
			r.entries = append(r.entries, e)
		}
		t.rows = append(t.rows, r)
	}
	return t
}
