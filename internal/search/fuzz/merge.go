package fuzz

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/locksim/locksim/internal/search/ledger"
)

// Merged is what the ledgers that were merged tell of: what was played, by which build, and what came of it.
type Merged struct {
	Build  string
	Config Config
	Tally  Tally
	_      struct{}
}

// Merge makes one ledger of several, in the order of the runs. It replaces a file of that name, which may be one of
// them. The result is the same in whatever order and grouping ledgers are merged. The error says that they are not of
// one build and configuration, or contradict each other, or that another process is writing to the file.
func Merge(to string, from ...string) (*Merged, error) {
	own, err := ledger.Own(to, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return merge(own, to, from)
}

// merge is Merge to a file that this process owns, nil if there is none yet. It closes it.
func merge(own *os.File, to string, from []string) (merged *Merged, err error) {
	own, err = ledger.Replace(own, to, func(w io.Writer) (err error) {
		merged, err = mergeTo(w, from)
		return err
	})
	if own != nil {
		err = errors.Join(err, own.Close())
	}
	if err != nil {
		return nil, err
	}
	return merged, nil
}

func mergeTo(w io.Writer, from []string) (m *Merged, err error) {
	var sources []*source
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.file.Close())
		}
	}()
	for _, name := range from {
		s, err := openSource(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
		if s.head == nil {
			return nil, fmt.Errorf("%s: it is empty", name)
		}
		if err := s.foreign(sources[0].head, sources[0].name); err != nil {
			return nil, err
		}
	}
	if len(sources) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	return write(w, sources)
}

// write writes what sources of one campaign have.
func write(w io.Writer, sources []*source) (*Merged, error) {
	h := sources[0].head
	m := &Merged{Build: h.Build, Config: h.Config}
	b := bufio.NewWriter(w)
	_, err := b.Write(h.line())
	for e, problem := range merged(sources) {
		if err = errors.Join(err, problem); err != nil {
			return nil, err
		}
		m.Tally.Add(&e.stretch.Tally)
		_, err = b.Write(e.stretch.line())
	}
	return m, errors.Join(err, b.Flush())
}
