// Package ledger holds what the ledgers of all campaigns have in common as files: they are regular, have one writer at a
// time, are read within bounds, and are replaced whole.
package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Regular refuses what can be no ledger: a folder, a device, a pipe. A file that is not there is none of these.
func Regular(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file, and a ledger has to be one", name)
	}
	return nil
}

// Own opens a file of which this process is the one writer until it closes it.
func Own(name string, flags int) (*os.File, error) {
	if err := Regular(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|flags, 0o644)
	if err != nil {
		return nil, err
	}
	free, err := lock(f)
	if err == nil && free {
		free, err = stillThere(f)
	}
	if err == nil && !free {
		err = fmt.Errorf("%s: another process is writing to it", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// stillThere reports whether a file is the one of its name: another process may have replaced it before it was locked.
func stillThere(f *os.File) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, named), err
}

// Replace gives a name a new content at one moment, and returns the new file, which is owned as the old one was. The old
// one, nil if there is none, is closed; after an error it stays.
func Replace(old *os.File, name string, write func(io.Writer) error) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return old, err
	}
	temporary := f.Name()
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		_, err = lock(f) // nobody else knows of it
	}
	if err == nil && !replacesOpen {
		err = errors.Join(f.Close(), closed(old))
	}
	if err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		return old, errors.Join(err, closed(f), os.Remove(temporary))
	}
	if !replacesOpen {
		return Own(name, 0)
	}
	return f, closed(old)
}

// closed closes a file that may be closed already, or be none.
func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// longestLine bounds what is read of a file that is no ledger.
const longestLine = 16 << 20

// ReadLine reads up to the end of a line.
func ReadLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > longestLine:
			return nil, fmt.Errorf("a line is longer than %d bytes", longestLine)
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, err
		}
	}
}
