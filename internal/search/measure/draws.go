package measure

import (
	"iter"
	"math/bits"
)

// draws is a set of draws, by their places among those that were played: a bit for each. Behind its end it is empty.
type draws []uint64

const wordSize = 64

// put adds a draw.
func (d *draws) put(k int) {
	for len(*d) <= k/wordSize {
		*d = append(*d, 0)
	}
	(*d)[k/wordSize] |= 1 << (k % wordSize)
}

// add adds another set's draws, counted from a place on.
func (d *draws) add(other *draws, from int) {
	for k := range other.all() {
		d.put(from + k)
	}
}

// all yields the draws, in order.
func (d *draws) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range *d {
			for ; word != 0; word &= word - 1 {
				if !yield(i*wordSize + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// has reports whether a draw is in the set.
func (d *draws) has(k int) bool {
	return k/wordSize < len(*d) && (*d)[k/wordSize]>>(k%wordSize)&1 == 1
}
