package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// destination is where reports go.
type destination interface {
	commit() error
	commitPart() (where string, err error)
	discard() error
}

// folder is a destination of several files, each of which has its name as soon as it is complete.
type folder struct {
	c   *call
	dir string
}

func (f *folder) commit() error               { return nil }
func (f *folder) commitPart() (string, error) { return f.dir, nil }
func (f *folder) discard() error              { return nil }

// write writes one file of the folder, which is made if there is none.
func (f *folder) write(name string, draw func(io.Writer) error) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	return f.c.write(filepath.Join(f.dir, name), func(out *output) error { return draw(out) })
}

// isFolder reports whether a path is meant to be a folder.
func isFolder(path string) bool {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
