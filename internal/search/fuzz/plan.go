package fuzz

import (
	"iter"
	"math"
	"slices"

	"github.com/locksim/locksim/internal/search/ledger"
)

// Plan says which runs are to be played: the numbers from From on, as many as Runs says. Of several machines each plays
// the stretches of its shard.
type Plan struct {
	From, Runs uint64
	Shard      Shard
	Done       Done             // what needs not be played any more
	Attempts   *ledger.Attempts // nil: nothing is noted of what is being played
	ToFirst    bool             // until the first violation, in the order of the numbers
	Jobs       int              // runs at once; what is found does not depend on it
	_          struct{}
}

// Forever is as many runs as there are from a number on.
func Forever(from uint64) uint64 { return math.MaxUint64 - from }

// Shard is the part of a campaign that one of several machines plays: of a number of stretches that follow one another the
// one with this index. The zero value is all of it.
type Shard struct{ Index, Of uint64 }

func (s Shard) of() uint64 { return max(s.Of, 1) }

// has reports whether a run belongs to the shard.
func (s Shard) has(n uint64) bool { return n/stretchSize%s.of() == s.Index }

// Planned is how many runs are to be played at most.
func (p *Plan) Planned() uint64 {
	runs := uint64(0)
	for s := range p.spans() {
		runs += s.to - s.from
	}
	return runs
}

// spans cuts the runs that are still to be played into stretches.
func (p *Plan) spans() iter.Seq[span] {
	return func(yield func(span) bool) {
		end := p.From + p.Runs
		for from := p.From; from < end; {
			to := end
			if next := from - from%stretchSize; end-next > stretchSize {
				to = next + stretchSize
			}
			if p.Shard.has(from) {
				for s := range p.Done.missing(span{from, to}) {
					if !yield(s) {
						return
					}
				}
			}
			from = to
		}
	}
}

// span is a range of runs, from a first one up to another that is not in it any more.
type span struct{ from, to uint64 }

// pieces cuts a span into such of some runs, of which the last may have fewer.
func (s span) pieces(runs uint64) iter.Seq[span] {
	return func(yield func(span) bool) {
		for from := s.from; from < s.to; from += min(runs, s.to-from) {
			if !yield(span{from, from + min(runs, s.to-from)}) {
				return
			}
		}
	}
}

// Done is a set of runs that have been played.
type Done struct {
	shard Shard
	spans []span // in order, not touching each other; of a shard's runs, counted as if there were no others
}

// place counts a shard's runs as if there were no others, so that those of a shard that has no gaps are one span.
func (d *Done) place(n uint64) uint64 {
	return n/stretchSize/d.shard.of()*stretchSize + n%stretchSize
}

// add notes a stretch. They come in order.
func (d *Done) add(s *Stretch) {
	if !d.shard.has(s.From) {
		return
	}
	x := span{from: d.place(s.From)}
	x.to = x.from + uint64(s.Runs)
	if i := len(d.spans) - 1; i >= 0 && d.spans[i].to == x.from {
		d.spans[i].to = x.to
		return
	}
	d.spans = append(d.spans, x)
}

// missing yields what of a stretch of the shard is not in the set.
func (d *Done) missing(s span) iter.Seq[span] {
	return func(yield func(span) bool) {
		from, shift := d.place(s.from), s.from-d.place(s.from)
		to := from + s.to - s.from
		for _, done := range d.after(from) {
			if done.from >= to {
				break
			}
			if from < done.from && !yield(span{from + shift, done.from + shift}) {
				return
			}
			from = max(from, done.to)
		}
		if from < to {
			yield(span{from + shift, to + shift})
		}
	}
}

// after returns the spans that end behind a run.
func (d *Done) after(n uint64) []span {
	i, _ := slices.BinarySearchFunc(d.spans, n, func(s span, n uint64) int {
		if s.to > n {
			return 1
		}
		return -1
	})
	return d.spans[i:]
}
