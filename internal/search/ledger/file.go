package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Ledger is a file to which a campaign adds a line for every stretch of runs, as soon as that is played. One process at a time
// writes to it. Killed at any moment, it has lost at most the line that was being written, which its checksum tells.
type Ledger struct {
	kind    *Kind
	name    string
	file    *os.File // nil if it is a stream
	to      io.Writer
	next    uint64 // the run behind the last line
	ordered bool
}

// Stream begins a ledger that is only written.
func (k *Kind) Stream(w io.Writer, h Head) (*Ledger, error) {
	_, err := w.Write(h.Text())
	return &Ledger{kind: k, to: w, ordered: true}, err
}

// Create begins a ledger. It does not replace one.
func (k *Kind) Create(name string, h Head) (*Ledger, error) {
	f, err := Own(name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	l, err := k.begin(name, f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (k *Kind) begin(name string, f *os.File, h Head) (*Ledger, error) {
	if _, err := f.Write(h.Text()); err != nil {
		return nil, err
	}
	return &Ledger{kind: k, name: name, file: f, to: f, ordered: true}, nil
}

// Resume goes on with a ledger, or begins it, and tells each of what it has, in order. The error says that the ledger is damaged, or of
// another build or configuration.
func (k *Kind) Resume(name string, h Head, each func(Line)) (*Ledger, error) {
	f, err := Own(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return k.Create(name, h)
	}
	if err != nil {
		return nil, err
	}
	l, err := k.resume(name, f, h, each)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// resume goes on with a ledger of which this process is the writer.
func (k *Kind) resume(name string, f *os.File, h Head, each func(Line)) (*Ledger, error) {
	s, err := k.openForMore(name, h)
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	if err := s.lines(func(x Line) bool { each(x); return true }); err != nil {
		return nil, err
	}
	if err := cutOff(f, s.end); err != nil {
		return nil, err
	}
	if s.head == nil {
		return k.begin(name, f, h)
	}
	return &Ledger{kind: k, name: name, file: f, to: f, next: s.next, ordered: len(s.parts) <= 1}, nil
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
func (k *Kind) openForMore(name string, h Head) (*source, error) {
	s, err := k.open(name, nil)
	if err != nil {
		return nil, err
	}
	if s.head != nil {
		err = s.foreign(h, "this one")
	} else {
		var text []byte
		if text, err = os.ReadFile(name); err == nil && !bytes.HasPrefix(h.Text(), text) {
			err = fmt.Errorf("%s: it does not begin as a ledger of this campaign does", name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// Add writes a line.
func (l *Ledger) Add(x Line) error {
	from, runs := x.Span()
	if from < l.next {
		l.ordered = false
	}
	l.next = from + uint64(runs)
	_, err := l.to.Write(x.Text())
	return err
}

// Close puts the lines in order, which they are not if a gap has been filled.
func (l *Ledger) Close() error {
	switch {
	case l.file == nil:
		return nil
	case l.ordered:
		return l.file.Close()
	}
	_, err := l.kind.merge(l.file, l.name, []string{l.name}, Take{})
	return err
}
