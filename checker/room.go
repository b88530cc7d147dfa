package checker

import "github.com/locksim/locksim/trace"

// room is space for the lists of a short history, which nearly all are: millions of them are checked, and a list that
// is found a place here costs no allocation.
type room struct {
	held, granted [4]interval
	instants      [8]trace.Instant
	order         [4]int
	steps         [8]step
	sections      [4]section
	cells         [8]cell
	versions      [8]version
	constraints   [24]int
	edges         [16]edge
	byCall        [4]int
	byReturn      [4]int
	ready         [4]int
	turns         [8]turn
	byFrom        [4]int
}

// sized returns a list of n values, in the room if they fit. A room is used once, so its values are zero.
func sized[T any](room []T, n int) []T {
	if n <= len(room) {
		return room[:n:n]
	}
	return make([]T, n)
}

// indices returns the numbers from 0 to below n, in the room if they fit.
func indices(room []int, n int) []int {
	all := sized(room, n)
	for i := range all {
		all[i] = i
	}
	return all
}
