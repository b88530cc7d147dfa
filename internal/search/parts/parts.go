// Package parts cuts work that has an order into numbered parts, so that several machines can share it, and keeps what came of them in
// ledgers. Begin with [Parts].
package parts

import "fmt"

// Parts are what work is cut into, so that several machines can play them, in the order in which one machine does: a few runs each. They
// are numbered throughout all that share them.
type Parts struct {
	Index, Of uint64 // those that are played here have this remainder; Of 0: all
	// Known returns what a ledger has of a part; nil if it has none. It is asked in order. It may be nil.
	Known func(number uint64) ([]byte, error)
	// Record is given what was played of a part, in order. It may be nil.
	Record func(number uint64, text []byte) error
	// Whole says that a part that is neither known nor to be played is an error: what comes of all of them is wanted.
	Whole bool
	// Alone says that nothing but the record is wanted, even if all is played here.
	Alone bool

	next uint64
}

// Partial reports whether some parts are left to others, so that nothing comes of the work as a whole.
func (p *Parts) Partial() bool { return p != nil && (p.Of > 1 || p.Alone) && !p.Whole }

// Missing says that a part is in no ledger.
type Missing struct{ Part uint64 }

func (m *Missing) Error() string { return fmt.Sprintf("part %d is missing", m.Part) }

// Part is what is known of a part.
type Part struct {
	number uint64
	known  []byte
	mine   bool
	whole  bool
	err    error
}

// Take numbers the next part. A nil p has none.
func (p *Parts) Take() Part {
	if p == nil {
		return Part{mine: true, whole: true}
	}
	x := Part{number: p.next, whole: !p.Partial()}
	p.next++
	if p.Known != nil {
		x.known, x.err = p.Known(x.number)
	}
	x.mine = !p.Whole && (p.Of <= 1 || x.number%p.Of == p.Index)
	return x
}

// Left reports whether others play the part, or it was played before, and nothing is to come of it here.
func (x *Part) Left() bool { return x.err == nil && !x.whole && (!x.mine || x.known != nil) }

// Read has parse read what a ledger has of the part. It reports false if the ledger has nothing and the part is to be played. The error
// may be a [*Missing].
func (x *Part) Read(parse func(text []byte) error) (known bool, err error) {
	switch {
	case x.err != nil:
		return false, x.err
	case x.known != nil:
		if err := parse(x.known); err != nil {
			return false, fmt.Errorf("part %d of the ledger: %w", x.number, err)
		}
		return true, nil
	case !x.mine:
		return false, &Missing{x.number}
	}
	return false, nil
}

// Add records what was played of a part, unless it was known.
func (p *Parts) Add(x Part, text func() []byte) error {
	if p == nil || p.Record == nil || x.known != nil {
		return nil
	}
	return p.Record(x.number, text())
}
