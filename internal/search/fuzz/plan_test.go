package fuzz

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbers lists the runs of some spans one by one.
func numbers(p *Plan) []uint64 {
	list := []uint64{}
	for s := range p.spans() {
		for n := s.from; n < s.to; n++ {
			list = append(list, n)
		}
	}
	return list
}

func TestShardsShareAllRunsAmongThem(t *testing.T) {
	for _, of := range []uint64{1, 2, 3, 7} {
		whole := Plan{From: 100, Runs: 3000}
		var parts []uint64
		for i := range of {
			p := whole
			p.Shard = Shard{i, of}
			parts = append(parts, numbers(&p)...)
		}
		slices.Sort(parts)
		require.Equal(t, numbers(&whole), parts)
		require.Len(t, parts, 3000)
	}
}

func TestWhatIsDoneIsNotPlannedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := Plan{From: r.Uint64N(600), Runs: r.Uint64N(5000)}
		p.Shard = Shard{0, 1 + r.Uint64N(3)}
		p.Shard.Index = r.Uint64N(p.Shard.Of)
		left, done := numbers(&p), Done{shard: p.Shard}
		everything := Plan{Runs: 6000}
		for s := range everything.spans() { // a part of each stretch, of other shards too
			if r.IntN(3) == 0 {
				continue
			}
			from := s.from + r.Uint64N(3)*10
			x := &Stretch{From: from, Tally: Tally{Runs: int(s.to-from) - r.IntN(3)*10}}
			done.add(x)
			left = slices.DeleteFunc(left, func(n uint64) bool { return n >= from && n < from+uint64(x.Runs) })
		}
		p.Done = done
		require.Equal(t, left, numbers(&p), "%+v", p)
		require.Equal(t, uint64(len(left)), p.Planned())
	}
}

func TestThePlanEndsWithTheLastNumber(t *testing.T) {
	p := Plan{From: math.MaxUint64 - 1000}
	p.Runs = Forever(p.From)
	list := numbers(&p)
	require.Len(t, list, 1000)
	require.Equal(t, uint64(math.MaxUint64-1), list[999])
}

// A campaign without gaps is one span however long it is, and so is a shard's.
func TestWhatIsDoneDoesNotGrowWithTheNumberOfRuns(t *testing.T) {
	for _, shard := range []Shard{{}, {2, 5}} {
		p, done := Plan{Runs: 10_000_000, Shard: shard}, Done{shard: shard}
		for s := range p.spans() {
			done.add(&Stretch{From: s.from, Tally: Tally{Runs: int(s.to - s.from)}})
		}
		require.Len(t, done.spans, 1)
	}
}
