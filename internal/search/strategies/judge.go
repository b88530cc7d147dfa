package strategies

import (
	"fmt"
	"math"
	"strings"
)

// A guided search has to earn its place: it must never be worse than the baseline by more than noise, and several
// times better wherever the baseline needs more than a bound of runs.
const (
	muchBetter = 5
	manyRuns   = 1_000
)

// Judgement is what a table says of its strategies, compared with the first, on the rows that have faults.
type Judgement struct {
	Ratios        []float64 // how many times as many runs as the first each needs: geometric means of the medians' ratios
	Better, Worse []int     // rows in which each is so by more than noise
	Hard          []string  // rows in which the first needs many runs
	Relieved      []int     // those of them in which each is much better
}

// Earned reports whether a strategy should be offered beside the first.
func (j *Judgement) Earned(strategy int) bool {
	return j.Worse[strategy] == 0 && len(j.Hard) > 0 && j.Relieved[strategy] == len(j.Hard)
}

// Judge judges a table.
func Judge(t *Table) *Judgement {
	n := len(t.Strategies)
	j := &Judgement{Ratios: make([]float64, n), Better: make([]int, n), Worse: make([]int, n), Relieved: make([]int, n)}
	rows := 0
	for _, r := range t.Rows {
		if !r.Faults {
			continue
		}
		rows++
		base := r.Cells[0]
		if base.Median > manyRuns {
			j.Hard = append(j.Hard, r.Name)
		}
		for i, c := range r.Cells {
			j.Ratios[i] += math.Log(float64(c.Median) / float64(base.Median))
			// Quartiles that do not even touch are not noise: of thirty series of each, equals are that far apart once in
			// thousands of rows.
			switch {
			case c.High < base.Low:
				j.Better[i]++
			case c.Low > base.High:
				j.Worse[i]++
			}
			if base.Median > manyRuns && muchBetter*c.Median <= base.Median {
				j.Relieved[i]++
			}
		}
	}
	for i := range j.Ratios {
		j.Ratios[i] = math.Exp(j.Ratios[i] / float64(rows))
	}
	return j
}

// Text says it in sentences, as the foot of the table.
func (j *Judgement) Text(t *Table) string {
	var b strings.Builder
	base, last := t.Strategies[0], len(t.Strategies)-1
	b.WriteString("# Of the rows with faults (where nothing was found, the factor is at least as large as is said):\n")
	for i, name := range t.Strategies {
		if i > 0 {
			fmt.Fprintf(&b, "# %s needs %.2f times as many runs as %s, by the geometric mean of the medians;\n"+
				"#   its quartiles are below those of %s in %d rows, above them in %d.\n",
				name, j.Ratios[i], base, base, j.Better[i], j.Worse[i])
		}
	}
	fmt.Fprintf(&b, "# %s needs more than %d runs in %d rows, and %s is %d times better in %d of them.\n",
		base, manyRuns, len(j.Hard), t.Strategies[last], muchBetter, j.Relieved[last])
	if j.Earned(last) {
		fmt.Fprintf(&b, "# So %s has earned its place.\n", t.Strategies[last])
	} else {
		fmt.Fprintf(&b, "# So %s has not earned its place, and is left out of the product.\n", t.Strategies[last])
	}
	return b.String()
}
