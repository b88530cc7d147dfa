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
		moment
		id string
	}
	id := func(m *moment) string { return m.at.String() + "|" + m.lane + "|" + m.key }
	var slots []slot
	seen := map[string]int{}
	hidden := map[string]bool{}
	for run, tale := range p.tales {
		drawn := p.views[run].laneNames()
		for i := range tale {
			m := &tale[i]
			if m.weight == 0 || m.text == "" { // there is nothing to say of it
				continue
			}
			if !drawn[m.lane] { // there is no place to which a number could refer
				hidden[id(m)] = true
				continue
			}
			if k, ok := seen[id(m)]; ok {
				slots[k].weight = max(slots[k].weight, m.weight)
				slots[k].cited = slots[k].cited || m.cited
				continue
			}
			seen[id(m)] = len(slots)
			slots = append(slots, slot{*m, id(m)})
		}
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(cmp.Compare(b.priority(), a.priority()), cmp.Compare(b.weight, a.weight))
	})
	chosen := slots[:min(len(slots), maxNumber)]
	for len(chosen) > maxNumber/2 && chosen[len(chosen)-1].trivial() {
		chosen = chosen[:len(chosen)-1]
	}
	p.more = len(slots) + len(hidden) - len(chosen)
	slices.SortStableFunc(chosen, func(a, b slot) int { return compareMoments(a.moment, b.moment) })
	numbers := map[string]int{}
	for i := range chosen {
		numbers[chosen[i].id] = i + 1
	}
	for _, tale := range p.tales {
		for i := range tale {
			tale[i].number = numbers[id(&tale[i])]
		}
	}
}

// cite marks the moments that are named of the first run: its explanation and its violations.
func (p *picture) cite() {
	mark := func(m *moment) { m.cited = true }
	p.explain(0, mark)
	var told [checker.PropertyCount]int
	for i := range p.views[0].run.Report.Violations {
		x := &p.views[0].run.Report.Violations[i]
		if told[x.Property]++; told[x.Property] > maxTold {
			continue
		}
		n := p.narrator(0, mark)
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
