package claims

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locksim/locksim/internal/search/ledger"
)

// File is a ledger in a file, of which this process is the one writer. It is replaced whole, so that a process that is
// killed leaves what it has saved last.
type File struct {
	Ledger
	name string
	file *os.File
}

// OpenFile reads a ledger, or begins it. The error says that the file is no ledger, or that another process writes to it.
func OpenFile(name string) (*File, error) {
	f, err := ledger.Own(name, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	l, err := ReadLedger(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return &File{Ledger: *l, name: name, file: f}, nil
}

// Save replaces the file's content.
func (f *File) Save() (err error) {
	f.file, err = ledger.Replace(f.file, f.name, func(w io.Writer) error {
		_, err := f.WriteTo(w)
		return err
	})
	return err
}

// Close lets other processes write.
func (f *File) Close() error { return f.file.Close() }
