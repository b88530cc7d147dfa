package fuzz

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// regular refuses what can be no ledger: a folder, a device, a pipe. A file that is not there is none of these.
func regular(name string) error {
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

// openToWrite opens a file of which this process becomes the one writer.
func openToWrite(name string, flags int) (*os.File, error) {
	if err := regular(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|flags, 0o644)
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
	return err == nil && os.SameFile(mine, named), err
}

// longestLine bounds what is read of a file that is no ledger.
const longestLine = 16 << 20

// readLine reads up to the end of a line.
func readLine(r *bufio.Reader) (text []byte, err error) {
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
