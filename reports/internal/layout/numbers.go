package layout

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
)

// number gives the weightiest moments of all runs their numbers. What happens at the same moment on the same lane has
// the same number in every run, whatever came of it.
func (p *Picture) number() {
	type slot struct {
		m  moments.Moment
		id string
	}
	id := func(m *moments.Moment) string { return m.At.String() + "|" + m.Lane + "|" + m.Key }
	var slots []slot
	seen := map[string]int{}
	hidden := map[string]bool{}
	for _, told := range p.Runs {
		drawn := laneNames(told.View)
		for i := range told.Moments {
			m := &told.Moments[i]
			if m.Weight == 0 || m.Text == "" { // there is nothing to say of it
				continue
			}
			if !drawn[m.Lane] { // there is no place to which a number could refer
				hidden[id(m)] = true
				continue
			}
			if k, ok := seen[id(m)]; ok {
				slots[k].m.Weight = max(slots[k].m.Weight, m.Weight)
				slots[k].m.Cited = slots[k].m.Cited || m.Cited
				continue
			}
			seen[id(m)] = len(slots)
			slots = append(slots, slot{*m, id(m)})
		}
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(cmp.Compare(b.m.Priority(), a.m.Priority()), cmp.Compare(b.m.Weight, a.m.Weight))
	})
	chosen := slots[:min(len(slots), paint.MaxNumber)]
	for len(chosen) > paint.MaxNumber/2 && chosen[len(chosen)-1].m.Trivial() {
		chosen = chosen[:len(chosen)-1]
	}
	p.More = len(slots) + len(hidden) - len(chosen)
	slices.SortStableFunc(chosen, func(a, b slot) int { return moments.Compare(a.m, b.m) })
	numbers := map[string]int{}
	for i := range chosen {
		numbers[chosen[i].id] = i + 1
	}
	for _, told := range p.Runs {
		for i := range told.Moments {
			told.Moments[i].Number = numbers[id(&told.Moments[i])]
		}
	}
}
