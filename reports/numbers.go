package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checker"
)

// number gives the weightiest moments of all runs their numbers. What happens at the same moment on the same lane has
// the same number in every run, whatever came of it.
func (p *picture) number() {
	type slot struct {
		m  moment
		id string
	}
	id := func(m *moment) string { return m.at.String() + "|" + m.lane + "|" + m.key }
	var slots []slot
	seen := map[string]int{}
	hidden := map[string]bool{}
	for _, told := range p.runs {
		drawn := told.v.laneNames()
		for i := range told.moments {
			m := &told.moments[i]
			if m.weight == 0 || m.text == "" { // there is nothing to say of it
				continue
			}
			if !drawn[m.lane] { // there is no place to which a number could refer
				hidden[id(m)] = true
				continue
			}
			if k, ok := seen[id(m)]; ok {
				slots[k].m.weight = max(slots[k].m.weight, m.weight)
				slots[k].m.cited = slots[k].m.cited || m.cited
				continue
			}
			seen[id(m)] = len(slots)
			slots = append(slots, slot{*m, id(m)})
		}
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(cmp.Compare(b.m.priority(), a.m.priority()), cmp.Compare(b.m.weight, a.m.weight))
	})
	chosen := slots[:min(len(slots), maxNumber)]
	for len(chosen) > maxNumber/2 && chosen[len(chosen)-1].m.trivial() {
		chosen = chosen[:len(chosen)-1]
	}
	p.more = len(slots) + len(hidden) - len(chosen)
	slices.SortStableFunc(chosen, func(a, b slot) int { return compareMoments(a.m, b.m) })
	numbers := map[string]int{}
	for i := range chosen {
		numbers[chosen[i].id] = i + 1
	}
	for _, told := range p.runs {
		for i := range told.moments {
			told.moments[i].number = numbers[id(&told.moments[i])]
		}
	}
}

// cite marks the moments that are named of the run: by its explanation and of its violations.
func (t *narrative) cite() {
	mark := func(m *moment) { m.cited = true }
	t.explain(mark)
	var told [checker.PropertyCount]int
	for i := range t.v.run.Report.Violations {
		x := &t.v.run.Report.Violations[i]
		if told[x.Property]++; told[x.Property] > maxTold {
			continue
		}
		n := t.narrator(mark)
		n.violation, n.until = x, x.At
		n.claim()
		if x.Property == checker.Resource && told[x.Property] == 1 { // until then it was consistent
			n.ref(x.At, spot{laneStorage, ""})
		}
	}
}

// priority is 1 of what the explanation names.
func (m *moment) priority() int {
	if m.cited {
		return 1
	}
	return 0
}

func (m *moment) trivial() bool { return m.weight <= weightTrivia && !m.cited }
