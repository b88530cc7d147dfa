package search

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Source is where a generator's choices come from: a stream of random numbers, the bytes of a fuzzer, a shrinker.
type Source interface {
	// Below returns a number of [0, n), where n is positive. 0 is the simplest choice, so that a source that makes
	// its numbers smaller makes scenarios simpler.
	Below(n int64) int64
}

// FromRand makes a stream of random numbers a source.
func FromRand(r *rand.Rand) Source { return randomSource{r} }

// Seeded returns the source of a numbered draw: the same number makes the same choices on every machine.
func Seeded(n uint64) Source { return FromRand(rand.New(rand.NewPCG(n, 0x6c6f636b73696d))) }

type randomSource struct{ *rand.Rand }

// Below draws.
func (s randomSource) Below(n int64) int64 { return s.Int64N(n) }

// FromBytes makes bytes a source, such as a fuzzer changes: a choice of at most 256 takes one of them, so that a
// changed byte changes one choice. When they are used up every choice is the simplest.
func FromBytes(b []byte) Source { return &byteSource{b} }

type byteSource struct{ left []byte }

// Below takes as many bytes as n needs.
func (s *byteSource) Below(n int64) int64 {
	x := uint64(0)
	for most := uint64(n - 1); most > 0 && len(s.left) > 0; most >>= 8 {
		x, s.left = x<<8|uint64(s.left[0]), s.left[1:]
	}
	return int64(x % uint64(n))
}

// pick chooses one of a list, the first being the simplest.
func pick[T any](s Source, list ...T) T { return list[s.Below(int64(len(list)))] }

// upTo chooses from 0 to n.
func upTo(s Source, n int) int { return int(s.Below(int64(n) + 1)) }

// oneIn comes true once in n times, and never for the simplest choice.
func oneIn(s Source, n int64) bool { return s.Below(n) == n-1 }

// some chooses a part of a list; all of it if the choices leave nothing.
func some[T any](s Source, list []T) []T {
	var part []T
	for _, x := range list {
		if oneIn(s, 2) {
			part = append(part, x)
		}
	}
	if len(part) == 0 {
		return list
	}
	return part
}

// within returns the times that are no longer than a limit, in their order, and then the limit itself if it is not
// among them: what is just allowed is worth trying.
func within(limit time.Duration, times ...time.Duration) []time.Duration {
	times = slices.DeleteFunc(times, func(d time.Duration) bool { return d > limit })
	if limit < unlimited && !slices.Contains(times, limit) {
		times = append(times, limit)
	}
	return times
}
