package sim

import "math/rand/v2"

// Rand is one stream of random numbers. Every (seed, purpose, node) has a stream of its own, so that an additional
// draw in one place changes no other.
type Rand struct {
	*rand.Rand
	numbers rand.Rand
	source  rand.PCG
	name    uint64 // the hash of purpose and names
}

// NewRand returns the stream of a seed, a purpose and names. The algorithm is PCG, whose output is the same in all
// versions of the Go library.
func NewRand(seed uint64, purpose string, names ...string) *Rand {
	r := &Rand{}
	r.begin(seed, purpose, names...)
	return r
}

// begin makes it that stream from its beginning. Its parts lie within it, since a run has one for every link.
func (r *Rand) begin(seed uint64, purpose string, names ...string) {
	h := hash(fnvOffset, purpose)
	for _, name := range names {
		h = hash(h, name)
	}
	r.name = h
	r.source.Seed(seed, h)
	r.numbers = *rand.New(&r.source)
	r.Rand = &r.numbers
}

const fnvOffset, fnvPrime = 0xcbf29ce484222325, 0x100000001b3

// hash continues FNV-1a with a string and a zero byte after it, so that ("ab", "c") and ("a", "bc") differ.
func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h * fnvPrime
}
