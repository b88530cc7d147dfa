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
	n         int64
	largest   largest
	buckets   map[int32]int64
	unordered bool // the values do not come in the order in which they were measured
}

// maxLargest is how many of the largest values are kept as they are, more than a tail is ever fitted to.
const maxLargest = 1 << 13

// atom is a value that occurs several times.
type atom struct {
	x     float64
	count int64
	at    int64 // which value of the sample it is, from 1
}

// add adds a value, in nanoseconds.
func (s *sample) add(x float64, count int64) {
	s.n += count
	if len(s.largest) == maxLargest && x <= s.largest[0].x {
		s.bucket(x, count)
		return
	}
	heap.Push(&s.largest, atom{x, count, s.n})
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
		atoms = append(atoms, atom{x: valueOf(b), count: count})
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

// bursts is the extremal index of the values above a threshold: they come in as many bursts as there are of them times this. It is
// 1 if they are independent of each other. The estimate is that of intervals between them (Ferro and Segers, "Inference for
// clusters of extreme values", JRSS B 65, 2003).
func (s *sample) bursts(threshold float64) float64 {
	var places []float64
	for _, a := range s.largest {
		if a.x > threshold {
			places = append(places, float64(a.at))
		}
	}
	if s.unordered || len(places) < 3 {
		return 1
	}
	slices.Sort(places)
	longest, sum, squares, less, products := 0., 0., 0., 0., 0.
	for i := range places[1:] {
		gap := places[i+1] - places[i]
		longest = max(longest, gap)
		sum += gap
		squares += gap * gap
		less += gap - 1
		products += (gap - 1) * (gap - 2)
	}
	gaps := float64(len(places) - 1)
	if longest <= 2 {
		return min(1, 2*sum*sum/(gaps*squares))
	}
	return min(1, 2*less*less/(gaps*products))
}

// largest is a heap with the least of the largest values on top.
type largest []atom

func (l largest) Len() int           { return len(l) }
func (l largest) Less(i, j int) bool { return l[i].x < l[j].x }
func (l largest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push implements [heap.Interface].
func (l *largest) Push(a any) { *l = append(*l, a.(atom)) }

// Pop implements [heap.Interface].
func (l *largest) Pop() any {
	last := len(*l) - 1
	a := (*l)[last]
	*l = (*l)[:last]
	return a
}
