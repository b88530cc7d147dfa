package fuzz

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
)

// errFirst ends a campaign that is to end with the first violation.
var errFirst = errors.New("the first violation")

// Run plays what is planned, several runs at once, and delivers what came of it stretch by stretch in the order of
// the runs' numbers. It ends early with the first error of deliver, or of the context when that is done; what has been
// delivered until then has no gap. Stretches that may have ended a process are played before the others behind them, one at a time, so
// that it is known which run does.
func (h *Campaign) Run(ctx context.Context, p Plan, deliver func(*Stretch) error) error {
	if last, any := p.Attempts.Suspected(); any {
		alone := p
		alone.Jobs = 1
		if err := h.run(ctx, alone, func(s span) bool { return s.from <= last }, deliver); err != nil {
			return orFirst(err)
		}
		return orFirst(h.run(ctx, p, func(s span) bool { return s.from > last }, deliver))
	}
	return orFirst(h.run(ctx, p, func(span) bool { return true }, deliver))
}

// orFirst is the error of a campaign that may end with the first violation.
func orFirst(err error) error {
	if errors.Is(err, errFirst) {
		return nil
	}
	return err
}

// run plays the pieces of a plan that are wanted.
func (h *Campaign) run(ctx context.Context, p Plan, wanted func(span) bool, deliver func(*Stretch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plays := func(yield func(func(*harness.Runner) Stretch) bool) {
		for s := range p.spans() {
			for s := range s.pieces(h.piece()) {
				if wanted(s) && !yield(func(r *harness.Runner) Stretch { return h.playStretch(r, s, &p) }) {
					return
				}
			}
		}
	}
	return search.InOrder(ctx, p.Jobs, iter.Seq[func(*harness.Runner) Stretch](plays), func(s Stretch) error {
		switch {
		case p.ToFirst && s.Violated > 0:
			cancel() // nobody needs to play on
			return cmp.Or(deliver(&s), errFirst)
		case s.Cut:
			return cmp.Or(deliver(&s), context.Cause(ctx)) // what it has begun with has no gap
		}
		return deliver(&s)
	})
}
