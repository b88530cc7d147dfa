package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/locksim/locksim/internal/search/ledger"
)

// Ledger is a file to which a campaign adds a line for every stretch, as soon as that is played. One process at a time
// writes to it. Killed at any moment, it has lost at most the line that was being written, which its checksum tells.
type Ledger struct {
	name    string
	file    *os.File
	next    uint64 // the run behind the last line
	ordered bool
}

// CreateLedger begins a ledger. It does not replace one.
func CreateLedger(name, build string, c Config) (*Ledger, error) {
	f, err := ledger.Own(name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	l, err := begin(name, f, &head{Schema, build, c})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func begin(name string, f *os.File, h *head) (*Ledger, error) {
	if _, err := f.Write(h.line()); err != nil {
		return nil, err
	}
	return &Ledger{name: name, file: f, ordered: true}, nil
}

// Played is what a ledger says of the runs before.
type Played struct {
	Tally Tally
	Done  Done
	_     struct{}
}

// ResumeLedger goes on with a ledger, or begins it, and tells what has been played of a shard, or at all. The error
// says that the ledger is damaged, or of another build or configuration.
func ResumeLedger(name, build string, c Config, shard Shard) (*Ledger, *Played, error) {
	f, err := ledger.Own(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		l, err := CreateLedger(name, build, c)
		return l, &Played{Done: Done{shard: shard}}, err
	}
	if err != nil {
		return nil, nil, err
	}
	l, played, err := resume(name, f, &head{Schema, build, c}, shard)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return l, played, nil
}

// resume goes on with a ledger of which this process is the writer.
func resume(name string, f *os.File, h *head, shard Shard) (*Ledger, *Played, error) {
	s, err := openForMore(name, h)
	if err != nil {
		return nil, nil, err
	}
	defer s.file.Close()
	played := &Played{Done: Done{shard: shard}}
	for e, err := range merged([]*source{s}) {
		if err != nil {
			return nil, nil, err
		}
		played.Tally.Add(&e.stretch.Tally)
		played.Done.add(e.stretch)
	}
	if err := cutOff(f, s.end); err != nil {
		return nil, nil, err
	}
	if s.head == nil {
		l, err := begin(name, f, h)
		return l, played, err
	}
	return &Ledger{name: name, file: f, next: s.next, ordered: len(s.parts) <= 1}, played, nil
}

// cutOff has a file end somewhere, for more to be written there.
func cutOff(f *os.File, end int64) error {
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size == end {
		return err
	}
	_, err := f.Seek(end, io.SeekStart)
	return errors.Join(err, f.Truncate(end))
}

// openForMore opens a ledger that is of this build and configuration, or has hardly been begun.
func openForMore(name string, h *head) (*source, error) {
	s, err := openSource(name)
	if err != nil {
		return nil, err
	}
	if s.head != nil {
		err = s.foreign(h, "this one")
	} else {
		var text []byte
		if text, err = os.ReadFile(name); err == nil && !bytes.HasPrefix(h.line(), text) {
			err = fmt.Errorf("%s: it does not begin as a ledger of this campaign does", name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// Add writes a line.
func (l *Ledger) Add(s *Stretch) error {
	if s.From < l.next {
		l.ordered = false
	}
	l.next = s.From + uint64(s.Runs)
	_, err := l.file.Write(s.line())
	return err
}

// Close puts the lines in order, which they are not if a gap has been filled.
func (l *Ledger) Close() error {
	if l.ordered {
		return l.file.Close()
	}
	_, err := merge(l.file, l.name, []string{l.name})
	return err
}
