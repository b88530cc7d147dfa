package minimal

import (
	"slices"

	"github.com/locksim/locksim/internal/search/parameter"
)

// rounderNumbers makes numbers zero, or rounder, or as round and smaller: those of the faults first.
func (r *reducer) rounderNumbers() {
	var ids []string
	for _, k := range parameter.Of(r.now) {
		if !k.Rate {
			ids = append(ids, k.ID)
		}
	}
	for _, id := range ids {
		if k, ok := parameter.Find(r.now, id); ok {
			r.roundOff(k)
		}
	}
}

// turn tries another size of a number.
func (r *reducer) turn(id string, size int64) bool { return r.try(turnAll([]string{id}, size)) }

// maxRoughness is that of the roughest numbers that are sought: those of three digits.
const maxRoughness = 4

// roundOff looks for the roundest number that will do, and for the smallest of those.
func (r *reducer) roundOff(k parameter.Parameter) {
	if k.Zero && r.turn(k.ID, 0) {
		return
	}
	for rough := int64(1); rough <= min(roughness(k.Size()), maxRoughness); rough++ {
		if r.smallest(k, rough) {
			return
		}
	}
}

// smallest looks for the smallest number of a roughness by bisection, as if all above one that will do would do, too.
// If there is none below the present one, the next above may be rounder.
func (r *reducer) smallest(k parameter.Parameter, rough int64) bool {
	now := k.Size()
	list := numbersOf(rough, min(k.Finest, now), now)
	above := list[len(list)-1]
	if above >= now {
		list = list[:len(list)-1]
	}
	found := false
	for low, high := 0, len(list); low < high; {
		middle := (low + high) / 2
		if r.turn(k.ID, list[middle]) {
			high, found = middle, true
		} else {
			low = middle + 1
		}
	}
	return found || above > now && r.turn(k.ID, above)
}

// numbersOf lists the numbers of a roughness from about a smallest one up to the first that is not below a bound.
func numbersOf(rough, from, bound int64) []int64 {
	var digits []int64
	first := int64(1)
	for range rough - 2 {
		first *= 10
	}
	for m := first; m < 10*first; m++ {
		if roughness(m) == rough {
			digits = append(digits, m)
		}
	}
	power := int64(1)
	for power*10*first <= from {
		power *= 10
	}
	var list []int64
	for ; ; power *= 10 {
		for _, m := range digits {
			list = append(list, m*power)
			if m*power >= bound {
				slices.Sort(list)
				return list
			}
		}
	}
}
