package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strings"
)

// source is a ledger that is read: its head, and the parts of it in which lines are in order. It keeps no line.
type source struct {
	kind  *Kind
	name  string
	file  *os.File
	head  Head // nil if the file ends before its first line does
	sums  bool // every line has a checksum: it is no ledger of old
	parts []part
	end   int64  // of the last whole line: what was torn off while it was written is left away
	next  uint64 // the run behind the last line

	// damaged is told of lines whose checksums are wrong, which are left out; if it is nil, they are errors.
	damaged func(number int)
}

// part is where lines in order stand in a file.
type part struct {
	from, to int64
	first    int // the number of the first line
}

func (k *Kind) open(name string, damaged func(number int)) (*source, error) {
	if err := Regular(name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &source{kind: k, name: name, file: f, damaged: damaged}
	if err := s.survey(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return s, nil
}

// survey reads all lines once.
func (s *source) survey() error {
	r := bufio.NewReader(s.file)
	for number := 1; ; number++ {
		text, err := ReadLine(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := s.take(text, number); err != nil {
			if _, last := r.Peek(1); number > 1 && errors.Is(last, io.EOF) {
				return nil // torn, too
			}
			if number > 1 && s.damaged != nil && errors.Is(err, errWrongSum) {
				s.damaged(number)
				s.end += int64(len(text))
				s.next = math.MaxUint64 // a new part begins behind it
				continue
			}
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// take notes where a line stands.
func (s *source) take(text []byte, number int) (err error) {
	from := s.end
	if s.head == nil {
		s.head, err = s.kind.head(text)
		s.sums = hasSum(text)
	} else {
		start, runs, err := s.span(text)
		if err != nil {
			return err
		}
		if len(s.parts) == 0 || start < s.next {
			s.parts = append(s.parts, part{from: from, first: number})
		}
		s.next = start + uint64(runs)
		s.parts[len(s.parts)-1].to = from + int64(len(text))
	}
	s.end += int64(len(text))
	return err
}

// span says which runs a line is about. Where that is at its beginning, no more of a line that has a checksum is read.
func (s *source) span(text []byte) (from uint64, runs int, err error) {
	if s.sums && s.kind.Span != nil {
		if _, err := content(text); err != nil {
			return 0, 0, err
		}
		if from, runs, ok := s.kind.Span(text); ok && hasSum(text) {
			return from, runs, nil
		}
	}
	x, err := s.kind.Line(text)
	if err == nil && s.sums && !hasSum(text) {
		err = errNoSum
	}
	if err != nil {
		return 0, 0, err
	}
	from, runs = x.Span()
	return from, runs, nil
}

// entry is a line of a ledger.
type entry struct {
	line   Line
	source *source
	read   []byte // as it was read, if it has a checksum
}

// text is the line as it is written.
func (e *entry) text() []byte {
	if e.read != nil {
		return e.read
	}
	return e.line.Text()
}

func (e entry) from() uint64 {
	from, _ := e.line.Span()
	return from
}

// behind is the run behind the last one that the line is about.
func (e entry) behind() uint64 {
	from, runs := e.line.Span()
	return from + uint64(runs)
}

// entries yields the lines of a part.
func (s *source) entries(p part) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		r := bufio.NewReader(io.NewSectionReader(s.file, p.from, p.to-p.from))
		for number := p.first; ; number++ {
			text, err := ReadLine(r)
			if errors.Is(err, io.EOF) {
				return
			}
			e := entry{source: s}
			if err == nil {
				e.line, err = s.kind.Line(text)
			}
			if err != nil {
				err = fmt.Errorf("%s: line %d: %w", s.name, number, err)
			} else if hasSum(text) {
				e.read = text
			}
			if !yield(e, err) || err != nil {
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
		var last entry // which is yielded when no other can be about its runs
		for {
			first := foremost(parts)
			if first == nil {
				break
			}
			now, err := first.entry, first.err
			first.advance()
			if err == nil && last.line != nil && now.from() < last.behind() {
				if last, err = oneOf(last, now); err == nil {
					continue
				}
			}
			if last.line != nil && !yield(last, nil) {
				return
			}
			if err != nil {
				yield(entry{}, err)
				return
			}
			last = now
		}
		if last.line != nil {
			yield(last, nil)
		}
	}
}

// oneOf returns which of two entries about the same runs is taken. The choice does not depend on their order.
func oneOf(a, b entry) (entry, error) {
	switch order := bytes.Compare(a.text(), b.text()); {
	case order == 0:
		return a, nil
	case a.from() != b.from() || a.behind() != b.behind() || !yields(a.line) && !yields(b.line):
		return a, contradiction(a, b)
	case yields(a.line) && (!yields(b.line) || order > 0):
		return b, nil
	}
	return a, nil
}

func contradiction(a, b entry) error {
	where := a.source.name
	if b.source != a.source {
		where += " and " + b.source.name
	}
	if a.from() != b.from() || a.behind() != b.behind() {
		return fmt.Errorf("%s: the stretches from run %d and from run %d on overlap, and are not the same: "+
			"one campaign ended or began within the other's", where, a.from(), b.from())
	}
	return &Contradiction{Where: where, From: a.from(), Lines: [2][]byte{a.text(), b.text()}}
}

// Contradiction is what two ledgers of one build say differently of the same runs: a run of locksim has not been a function of its
// scenario and seed, or a machine has made a mistake.
type Contradiction struct {
	Where string // the files
	From  uint64 // the number of the first run
	Lines [2][]byte
}

func (c *Contradiction) Error() string {
	return fmt.Sprintf("%s: two lines contradict each other about the runs from %d on", c.Where, c.From)
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
		case best == nil || c.entry.from() < best.entry.from():
			best = c
		}
	}
	return best
}

// foreign refuses a ledger of another build or configuration than another one.
func (s *source) foreign(other Head, name string) error {
	if list := s.head.Differences(other); len(list) > 0 {
		return fmt.Errorf("%s is of another campaign than %s: %s", s.name, name, strings.Join(list, "; "))
	}
	return nil
}
