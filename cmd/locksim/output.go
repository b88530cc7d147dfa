package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// output is where a result goes: to the standard output, or to a file that takes its name when it is complete, so that
// a run that fails destroys nothing.
type output struct {
	*bufio.Writer
	under io.Writer // below the buffer
	path  string    // "" for the standard output
	file  *os.File  // the temporary file; nil if there is none
	files *unfinished
}

// unfinished are the temporary files that are being written, by name, and whether real servers are staged.
type unfinished struct {
	mu     sync.Mutex
	names  map[string]bool
	staged atomic.Bool
}

// note adds a file, or removes it. It does nothing for a nil receiver.
func (u *unfinished) note(name string, there bool) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.names = make(map[string]bool)
	}
	if u.names[name] = there; !there {
		delete(u.names, name)
	}
}

// abandon removes the files that have not been finished.
func (c *call) abandon() {
	if c.files == nil {
		return
	}
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	for name := range c.files.names {
		_ = os.Remove(name)
	}
}

func (c *call) open(path string) (*output, error) {
	if path == "" {
		return &output{Writer: bufio.NewWriter(c.stdout), under: c.stdout}, nil
	}
	mode := fs.FileMode(0o644)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case err == nil && !info.Mode().IsRegular(): // a pipe or a device cannot be replaced
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &output{Writer: bufio.NewWriter(f), under: f}, nil
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, asked(err, path)
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	c.files.note(f.Name(), true)
	return &output{Writer: bufio.NewWriter(f), under: f, path: path, file: f, files: c.files}, nil
}

// write has a result written to a file, or to the standard output if path is "". A file is there only when it is whole.
func (c *call) write(path string, draw func(*output) error) error {
	out, err := c.open(path)
	if err != nil {
		return err
	}
	err = draw(out)
	if err != nil && path != "" {
		return errors.Join(err, out.discard())
	}
	if failed := out.commit(); err == nil { // what was printed before an error is of use
		err = failed
	}
	return err
}

// writeFile writes a text to a file.
func (c *call) writeFile(path string, text []byte) error {
	return c.write(path, func(out *output) error {
		_, err := out.Write(text)
		return err
	})
}

// asked names the file that the user asked for in place of the temporary one.
func asked(err error, path string) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return &fs.PathError{Op: failed.Op, Path: path, Err: failed.Err}
	}
	return err
}

// commit gives the file its name and content.
func (o *output) commit() error {
	if err := o.Flush(); err != nil || o.file == nil {
		return errors.Join(err, o.discard())
	}
	defer o.files.note(o.file.Name(), false)
	if err := o.file.Close(); err != nil {
		return errors.Join(err, os.Remove(o.file.Name()))
	}
	name := o.file.Name()
	o.file = nil
	return os.Rename(name, o.path)
}

// commitPart keeps what an interrupted run has written, beside the file that it did not complete.
func (o *output) commitPart() (path string, err error) {
	if o.file != nil {
		o.path += ".partial"
	}
	return o.path, o.commit()
}

// discard forgets what was written to a file.
func (o *output) discard() error {
	if o.file == nil {
		return nil
	}
	name := o.file.Name()
	defer o.files.note(name, false)
	err := o.file.Close()
	o.file = nil
	return errors.Join(err, os.Remove(name))
}
