package fuzz

import (
	"io"

	"github.com/locksim/locksim/internal/search/ledger"
)

// CreateLedger begins a ledger. It does not replace one.
func CreateLedger(name, build string, c Config) (*ledger.Ledger, error) {
	return ledgers.Create(name, &head{Schema, build, c})
}

// StreamLedger begins a ledger that is only written.
func StreamLedger(w io.Writer, build string, c Config) (*ledger.Ledger, error) {
	return ledgers.Stream(w, &head{Schema, build, c})
}

// Played is what a ledger says of the runs before.
type Played struct {
	Tally Tally
	Done  Done
	_     struct{}
}

// ResumeLedger goes on with a ledger, or begins it, and tells what has been played of a shard, or at all. The error
// says that the ledger is damaged, or of another build or configuration.
func ResumeLedger(name, build string, c Config, shard Shard) (*ledger.Ledger, *Played, error) {
	played := &Played{Done: Done{shard: shard}}
	l, err := ledgers.Resume(name, &head{Schema, build, c}, func(x ledger.Line) {
		s := x.(*Stretch)
		played.Tally.Add(&s.Tally)
		played.Done.add(s)
	})
	return l, played, err
}

// Merged is what the ledgers that were merged tell of: what was played, by which build, and what came of it.
type Merged struct {
	Build  string
	Config Config
	Tally  Tally
	Gaps   uint64 // how many runs are missing before the last one
	Whole  uint64 // no run is missing before this one, from the first one on that is wanted
	next   uint64
	begun  bool
	_      struct{}
}

// Merge makes one ledger of several, as [ledger.Kind.Merge] does, of a campaign whose first run is given. Accept may refuse a campaign before anything is written, and damaged is
// told of lines that are left out; each may be nil.
func Merge(to string, from []string, first uint64, accept func(*Config) error, damaged func(name string, line int)) (*Merged, error) {
	m := &Merged{Whole: first}
	if _, err := ledgers.Merge(to, from, m.take(accept, damaged)); err != nil {
		return nil, err
	}
	return m, nil
}

// Survey tells what several ledgers have, as [Merge] does, of runs from a first one on, and writes nothing.
func Survey(from []string, first uint64) (*Merged, error) {
	m := &Merged{Whole: first}
	if _, err := ledgers.Survey(from, m.take(nil, func(string, int) {})); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Merged) take(accept func(*Config) error, damaged func(name string, line int)) ledger.Take {
	return ledger.Take{
		Head: func(x ledger.Head) error {
			h := x.(*head)
			m.Build, m.Config = h.Build, h.Config
			if accept == nil {
				return nil
			}
			return accept(&m.Config)
		},
		Line:    func(x ledger.Line) error { m.add(x.(*Stretch)); return nil },
		Damaged: damaged,
	}
}

// add counts a stretch. They come in order.
func (m *Merged) add(s *Stretch) {
	m.Tally.Add(&s.Tally)
	if m.begun {
		m.Gaps += s.From - m.next
	}
	m.begun, m.next = true, s.From+uint64(s.Runs)
	if s.From <= m.Whole {
		m.Whole = max(m.Whole, m.next)
	}
}
