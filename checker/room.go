package checker

import (
	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/trace"
)

// room is the memory for the lists of a check, kept from one history to the next: millions of them are checked, nearly
// all of them short, and a list that finds its place here costs no allocation.
type room struct {
	held, granted []interval
	instants      []trace.Instant
	order         []int
	steps         []step
	sections      []section
	cells         []cell
	versions      []version
	constraints   []int
	edges         []edge
	byCall        []int
	byReturn      []int
	placed        []bool
	ready         []int
	turns         []turn
	byFrom        []int
	ended         []bool
	byEnd         []int
	reported      []bool
	operations    []porcupine.Operation
	states        []uint64
}

// roomy is how long a list may be for its memory to be kept.
const roomy = 1 << 12

// sized returns a list of n zero values at its place in the room.
func sized[T any](place *[]T, n int) []T {
	if n > roomy {
		return make([]T, n)
	}
	if n > cap(*place) {
		*place = make([]T, n)
	}
	list := (*place)[:n:n]
	clear(list)
	return list
}

// indices returns the numbers from 0 to below n at their place in the room.
func indices(place *[]int, n int) []int {
	all := sized(place, n)
	for i := range all {
		all[i] = i
	}
	return all
}
