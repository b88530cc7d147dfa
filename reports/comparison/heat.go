package comparison

import "math"

// Heat is the rate of violations over two numbers of a scenario.
type Heat struct {
	Name     string
	Title    string
	Lock     string
	Fencing  string
	Property string
	Across   string   // what the columns are
	Down     string   // what the rows are
	Columns  []string // their values, from small to large
	Rows     []string
	Runs     int     // of each field
	Violated [][]int // by row and column
	InDanger [][]int
	// Border is the sides between fields with a violation and exposed ones without: each from one corner to the next, across and
	// down, counted in fields.
	Border  [][4]int
	Never   string  // what exposed fields without a violation mean, if it does not follow from Runs
	Note    string  // what else there is to say
	Played  [][]int // the runs of each field, if they differ
	Unknown [][]int // of these runs nothing is known
	// Commands show the first violation of each field.
	Commands [][]string
}

// field is one of a heat map.
type field struct{ violated, inDanger, runs, unknown int }

func fieldOf(h *Heat, row, column int) field {
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
