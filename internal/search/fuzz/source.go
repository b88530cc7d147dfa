package fuzz

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/locksim/locksim/internal/search/ledger"
)

// source is a ledger that is read: its head, and the parts of it in which stretches are in order. It keeps no line.
type source struct {
	name  string
	file  *os.File
	head  *head // nil if the file ends before its first line does
	sums  bool  // every line has a checksum: it is no ledger of old
	parts []part
	end   int64  // of the last whole line: what was torn off while it was written is left away
	next  uint64 // the run behind the last line
}

// part is where lines in order stand in a file.
type part struct{ from, to int64 }

func openSource(name string) (*source, error) {
	if err := ledger.Regular(name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &source{name: name, file: f}
	if err := s.survey(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return s, nil
}

// survey reads all lines once.
func (s *source) survey() error {
	r := bufio.NewReader(s.file)
	for number := 1; ; number++ {
		text, err := ledger.ReadLine(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := s.take(text); err != nil {
			if _, last := r.Peek(1); number > 1 && errors.Is(last, io.EOF) {
				return nil // torn, too
			}
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// take notes where a line stands.
func (s *source) take(text []byte) (err error) {
	from := s.end
	if s.head == nil {
		s.head, err = readHead(text)
		s.sums = hasSum(text)
	} else {
		var x *Stretch
		if x, err = readStretch(text); err == nil && s.sums && !hasSum(text) {
			err = errNoSum
		}
		if err != nil {
			return err
		}
		if len(s.parts) == 0 || x.From < s.next {
			s.parts = append(s.parts, part{from: from})
		}
		s.next = x.From + uint64(x.Runs)
		s.parts[len(s.parts)-1].to = from + int64(len(text))
	}
	s.end += int64(len(text))
	return err
}

// entry is a line of a ledger.
type entry struct {
	stretch *Stretch
	source  *source
}

// entries yields the lines of a part.
func (s *source) entries(p part) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		r := bufio.NewReader(io.NewSectionReader(s.file, p.from, p.to-p.from))
		for {
			text, err := ledger.ReadLine(r)
			if errors.Is(err, io.EOF) {
				return
			}
			var x *Stretch
			if err == nil {
				x, err = readStretch(text)
			}
			if !yield(entry{x, s}, err) || err != nil {
				return
			}
		}
	}
}

// merged yields the lines of all sources in the order of their runs, and a line that several of them have once. It ends
// with an error where they contradict each other. It holds one line of each part at a time.
func merged(sources []*source) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var parts []*cursor
		for _, s := range sources {
			for _, p := range s.parts {
				c := newCursor(s.entries(p))
				defer c.stop()
				parts = append(parts, c)
			}
		}
		var last entry
		for {
			first := foremost(parts)
			if first == nil {
				return
			}
			now, err := first.entry, first.err
			first.advance()
			if err == nil && last.stretch != nil && now.stretch.From < last.stretch.From+uint64(last.stretch.Runs) {
				if bytes.Equal(now.stretch.line(), last.stretch.line()) {
					continue
				}
				err = contradiction(last, now)
			}
			if !yield(now, err) || err != nil {
				return
			}
			last = now
		}
	}
}

func contradiction(a, b entry) error {
	where := a.source.name
	if b.source != a.source {
		where += " and " + b.source.name
	}
	if a.stretch.From != b.stretch.From || a.stretch.Runs != b.stretch.Runs {
		return fmt.Errorf("%s: the stretches from run %d and from run %d on overlap, and are not the same: "+
			"one campaign ended or began within the other's", where, a.stretch.From, b.stretch.From)
	}
	return fmt.Errorf("%s: two lines contradict each other about the runs from %d on", where, a.stretch.From)
}

// cursor stands on a line of a part.
type cursor struct {
	entry entry
	err   error
	more  bool
	next  func() (entry, error, bool)
	stop  func()
}

func newCursor(lines iter.Seq2[entry, error]) *cursor {
	c := &cursor{}
	c.next, c.stop = iter.Pull2(lines)
	c.advance()
	return c
}

func (c *cursor) advance() { c.entry, c.err, c.more = c.next() }

// foremost returns the cursor whose line comes first, one that cannot be read before all; nil at the end.
func foremost(list []*cursor) *cursor {
	var best *cursor
	for _, c := range list {
		switch {
		case !c.more:
		case c.err != nil:
			return c
		case best == nil || c.entry.stretch.From < best.entry.stretch.From:
			best = c
		}
	}
	return best
}

// foreign refuses a ledger of another build or configuration than another one.
func (s *source) foreign(other *head, name string) error {
	if list := s.head.differences(other); len(list) > 0 {
		return fmt.Errorf("%s is of another campaign than %s: %s", s.name, name, strings.Join(list, "; "))
	}
	return nil
}
