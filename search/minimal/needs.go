package minimal

import (
	"github.com/locksim/locksim/checker"
)

// Need is the boundary of one number of the scenario, found by bisection: with Least the property is violated, with
// Held it is not.
type Need struct {
	What        string // "pause of a", "rate of redis-1's clock"
	Least, Held string // "9.9s", "5025ppm"

	ids         []string // of the numbers that are turned
	least, held int64
	_           struct{}
}

// needs finds the boundaries of all numbers of which there is one: of the faults, or of what clients do if there are
// none.
func (r *reducer) needs() []Need {
	var list []Need
	together := equalRates(r.now)
	for _, k := range knobs(r.now) {
		if k.what == "" || k.fault == (len(r.now.Faults)+len(r.now.Clocks) == 0) {
			continue
		}
		ids := []string{k.id}
		if k.rate && len(together) > 1 {
			if k.id != together[0] {
				continue
			}
			ids, k.what = together, "rate of each of these clocks"
		}
		if n, ok := r.need(k, ids); ok {
			list = append(list, n)
		}
	}
	return list
}

// answer is what a run says of a property.
type answer uint8

const (
	other    answer = iota // another kind of violation, or no verdict
	violated               // as sought
	kept                   // the property is not violated
)

// ask plays the scenario with other sizes of some numbers.
func (r *reducer) ask(ids []string, size int64) answer {
	s := clone(r.now)
	if r.spent() || !turnAll(ids, size)(s) {
		return other
	}
	seen, ok := r.play(s)
	switch {
	case ok:
		return violated
	case seen.result == nil:
		return other
	}
	switch seen.result.Report.Verdicts[r.sought.Property] {
	case checker.Held, checker.Vacuous:
		return kept
	case checker.Violated, checker.Undecided, checker.NotJudged:
	}
	return other
}

// need bisects between the present size and the smallest. It returns false if that makes no difference, or if there is
// more than one boundary: saying nothing is better than something wrong.
func (r *reducer) need(k knob, ids []string) (Need, bool) {
	low, high := int64(1), k.size()
	if k.zero {
		low = 0
	}
	if high <= low || r.ask(ids, low) != kept {
		return Need{}, false
	}
	weakest, present := low, high
	for {
		middle := rounded(low+(high-low)/2, k)
		if middle <= low || middle >= high {
			break
		}
		switch r.ask(ids, middle) {
		case violated:
			high = middle
		case kept:
			low = middle
		case other:
			return Need{}, false
		}
	}
	if !r.all(violated, ids, high, present) || !r.all(kept, ids, weakest, low) {
		return Need{}, false
	}
	return Need{What: k.what, Least: k.amount(high), Held: k.amount(low), ids: ids, least: high, held: low}, true
}

// all reports whether some sizes between two all have one answer.
func (r *reducer) all(want answer, ids []string, from, to int64) bool {
	const parts = 5
	for i := range int64(parts + 1) {
		if r.ask(ids, from+(to-from)/parts*i) != want {
			return false
		}
	}
	return r.ask(ids, to) == want
}

// How many digits a boundary is told with.
const (
	durationDigits = 3
	rateDigits     = 4
)

// rounded rounds a size down to as many digits as are told of it.
func rounded(size int64, k knob) int64 {
	digits := durationDigits
	if k.rate {
		digits = rateDigits
	}
	most := int64(1)
	for range digits {
		most *= 10
	}
	unit := int64(1)
	for size/unit >= most {
		unit *= 10
	}
	return size / unit * unit
}

// others counts the other seeds with which the scenario violates the property, too.
func (r *reducer) others() int {
	n := 0
	for i := range uint64(OtherSeeds) {
		s := clone(r.now)
		s.Seed += i + 1
		if _, ok := r.play(s); ok {
			n++
		}
	}
	return n
}
