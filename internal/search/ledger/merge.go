package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Take is told what ledgers that are merged have. Each of its functions may be nil.
type Take struct {
	Head func(Head) error // of all of them; an error ends the merge before anything is written
	Line func(Line) error
	// Damaged is told of lines whose checksums are wrong, which are left out; if it is nil, they are errors.
	Damaged func(name string, line int)
}

// Merge makes one ledger of several, in the order of the runs. It replaces a file of that name, which may be one of
// them. The result is the same in whatever order and grouping ledgers are merged, with lines that several of them have. One that
// ends before its first line does is of a process that was killed, and has nothing. The error says that they are not of one build
// and configuration, or contradict each other (see [Contradiction]), or that another process is writing to the file.
func (k *Kind) Merge(to string, from []string, take Take) (Head, error) {
	own, err := Own(to, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return k.merge(own, to, from, take)
}

// merge is Merge to a file that this process owns, nil if there is none yet. It closes it.
func (k *Kind) merge(own *os.File, to string, from []string, take Take) (head Head, err error) {
	own, err = Replace(own, to, func(w io.Writer) (err error) {
		head, err = k.mergeTo(w, from, take)
		return err
	})
	if own != nil {
		err = errors.Join(err, own.Close())
	}
	if err != nil {
		return nil, err
	}
	return head, nil
}

func (k *Kind) mergeTo(w io.Writer, from []string, take Take) (head Head, err error) {
	var sources []*source
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.file.Close())
		}
	}()
	first := ""
	for _, name := range from {
		var damaged func(int)
		if take.Damaged != nil {
			damaged = func(line int) { take.Damaged(name, line) }
		}
		s, err := k.open(name, damaged)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
		if s.head == nil {
			continue
		}
		if head == nil {
			head, first = s.head, name
		}
		if err := s.foreign(head, first); err != nil {
			return nil, err
		}
	}
	switch {
	case len(sources) == 0:
		return nil, errors.New("there is nothing to merge")
	case head == nil:
		return nil, fmt.Errorf("%s: it is empty", from[0])
	}
	for _, s := range sources {
		if err := s.begun(head); err != nil {
			return nil, err
		}
	}
	if take.Head != nil {
		if err := take.Head(head); err != nil {
			return nil, err
		}
	}
	return head, write(w, head, sources, take.Line)
}

// Survey is Merge without a result: it only tells what the parts have.
func (k *Kind) Survey(from []string, take Take) (Head, error) {
	return k.mergeTo(io.Discard, from, take)
}

// begun refuses a file without a first line that does not begin as the others do.
func (s *source) begun(h Head) error {
	if s.head != nil {
		return nil
	}
	text, err := io.ReadAll(io.NewSectionReader(s.file, 0, longestLine))
	if err == nil && !bytes.HasPrefix(h.Text(), text) {
		err = fmt.Errorf("%s: it does not begin as a ledger of this campaign does", s.name)
	}
	return err
}

// write writes what sources of one campaign have.
func write(w io.Writer, h Head, sources []*source, each func(Line) error) error {
	b := bufio.NewWriter(w)
	_, err := b.Write(h.Text())
	for e, problem := range merged(sources) {
		if err = errors.Join(err, problem); err != nil {
			return err
		}
		if each != nil {
			if err := each(e.line); err != nil {
				return err
			}
		}
		_, err = b.Write(e.text())
	}
	return errors.Join(err, b.Flush())
}

// All yields what a ledger has, in order, until each returns false.
func (k *Kind) All(name string, each func(Line) bool) (Head, error) {
	s, err := k.open(name, nil)
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	if err := s.lines(each); err != nil {
		return nil, err
	}
	return s.head, nil
}

// lines yields what a source has, in order, until each returns false.
func (s *source) lines(each func(Line) bool) error {
	for e, err := range merged([]*source{s}) {
		if err != nil {
			return err
		}
		if !each(e.line) {
			break
		}
	}
	return nil
}
