package strategies

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// A guided search only draws in its first warmUp runs, and later once in freshEvery. Its pool keeps poolSize scenarios, each
// until patience children in a row are not nearer.
const (
	warmUp     = 128
	freshEvery = 4
	poolSize   = 16
	patience   = 64
)

// near is a scenario that came near to a violation.
type near struct {
	choices  choices
	distance float64
	children int
}

// guided searches among the likes of the scenarios that came nearest to a violation, and by fresh draws.
func guided(h *hunter, series uint64, most int) int {
	var pool []near
	dice := number(series, most) // the fresh draws have the numbers before
	for n := range most {
		t := &taped{fresh: number(series, n)}
		parent := -1
		if n >= warmUp && len(pool) > 0 && dice.Below(freshEvery) > 0 {
			parent = int(dice.Below(int64(len(pool))))
			t.tape = mutate(dice, pool[parent].choices, pool[dice.Below(int64(len(pool)))].choices)
		}
		s := search.Generate(t, h.quarry.Menu)
		distance := far
		if h.play(s, func(run *history.History) { distance = min(distance, Distance(h.quarry.Property, run, s)) }) {
			return n + 1
		}
		pool = keep(pool, parent, near{choices: t.drawn, distance: distance})
	}
	return most + 1
}

// keep puts a scenario in its place among the nearest. A parent whose children are no nearer than it for too long makes
// room for others.
func keep(pool []near, parent int, child near) []near {
	if parent >= 0 {
		p := &pool[parent]
		p.children++
		if child.distance < p.distance {
			p.children = 0
		} else if p.children > patience {
			pool = slices.Delete(pool, parent, parent+1)
		}
	}
	if child.distance >= far {
		return pool
	}
	at, _ := slices.BinarySearchFunc(pool, child.distance, func(n near, d float64) int {
		if n.distance < d {
			return -1
		}
		return 1
	})
	pool = slices.Insert(pool, at, child)
	return pool[:min(len(pool), poolSize)]
}
