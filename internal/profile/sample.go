package profile

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"
)

// sample keeps what it takes to fit a law to any number of values in bounded memory: the largest of them as they are, and of the
// others how many there are in intervals of less than a hundredth of their length.
type sample struct {
	n       int64
	largest largest
	buckets map[int32]int64
}

// maxLargest is how many of the largest values are kept as they are, more than a tail is ever fitted to.
const maxLargest = 1 << 13

// atom is a value that occurs several times.
type atom struct {
	x     float64
	count int64
}

// add adds a value, in nanoseconds.
func (s *sample) add(x float64, count int64) {
	s.n += count
	if len(s.largest) == maxLargest && x <= s.largest[0].x {
		s.bucket(x, count)
		return
	}
	heap.Push(&s.largest, atom{x, count})
	if len(s.largest) > maxLargest {
		least := heap.Pop(&s.largest).(atom)
		s.bucket(least.x, least.count)
	}
}

// bucket counts a value in an interval of 1/128 of a power of two.
func (s *sample) bucket(x float64, count int64) {
	if s.buckets == nil {
		s.buckets = map[int32]int64{}
	}
	s.buckets[bucketOf(uint64(x))] += count
}

func bucketOf(x uint64) int32 {
	if x < 128 {
		return int32(x)
	}
	shift := bits.Len64(x) - 8
	return int32(shift<<7) + int32(x>>shift)
}

// valueOf is the middle of a bucket.
func valueOf(bucket int32) float64 {
	if bucket < 256 {
		return float64(bucket)
	}
	shift := bucket>>7 - 1
	return math.Ldexp(float64(bucket-shift<<7)+.5, int(shift))
}

// atoms returns the values in ascending order, equal ones once.
func (s *sample) atoms() []atom {
	var atoms []atom
	for b, count := range s.buckets {
		atoms = append(atoms, atom{valueOf(b), count})
	}
	atoms = append(atoms, s.largest...)
	slices.SortFunc(atoms, func(a, b atom) int { return compare(a.x, b.x) })
	merged := atoms[:0]
	for _, a := range atoms {
		if last := len(merged) - 1; last >= 0 && merged[last].x == a.x {
			merged[last].count += a.count
			continue
		}
		merged = append(merged, a)
	}
	return merged
}

// largest is a heap with the least of the largest values on top.
type largest []atom

func (l largest) Len() int           { return len(l) }
func (l largest) Less(i, j int) bool { return l[i].x < l[j].x }
func (l largest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *largest) Push(a any)        { *l = append(*l, a.(atom)) }
func (l *largest) Pop() any {
	last := len(*l) - 1
	a := (*l)[last]
	*l = (*l)[:last]
	return a
}
