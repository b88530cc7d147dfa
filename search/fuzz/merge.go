package fuzz

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	own, err := openToWrite(to, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return merge(to, from...)
	}
	if err != nil {
		return nil, err
	}
	if !replacesOpen {
		if err := own.Close(); err != nil {
			return nil, err
		}
		return merge(to, from...)
	}
	merged, err := merge(to, from...)
	return merged, errors.Join(err, own.Close())
}

// merge is Merge to a file that no other process writes to.
func merge(to string, from ...string) (*Merged, error) {
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return nil, err
	}
	merged, err := mergeTo(f, from)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
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
