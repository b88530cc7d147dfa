package clients

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ProgramsVariable names a folder of built programs. What is there is played without being built, and so without the Go toolchain; what is
// not there is built and put there. A folder for each campaign, which all machines see, has them play one program.
const ProgramsVariable = "LOCKSIM_PROGRAMS"

// shipped is a program in a folder of built ones. A nil one is nowhere.
type shipped struct{ code, libraries string } // files

// shippedAs is where the program of a client is, or is to be.
func shippedAs(what string) (*shipped, error) {
	folder := os.Getenv(ProgramsVariable)
	if folder == "" {
		return nil, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("%s: %w", ProgramsVariable, err)
	}
	name := filepath.Join(folder, fmt.Sprintf("%s-%.4x", filepath.Base(what), sha256.Sum256([]byte(what))))
	return &shipped{name + ".wasm", name + ".libraries"}, nil
}

// read returns the program and its libraries; nil if it is not there.
func (s *shipped) read() (code []byte, libraries []string, err error) {
	if s == nil {
		return nil, nil, nil
	}
	code, err = os.ReadFile(s.code)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(s.libraries)
	return code, strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), err
}

// write puts the program there, unless another process was quicker: then its program counts.
func (s *shipped) write(code []byte, libraries []string) ([]byte, []string, error) {
	if s == nil {
		return code, libraries, nil
	}
	if err := putOnce(s.libraries, []byte(strings.Join(libraries, "\n")+"\n")); err != nil {
		return nil, nil, err
	}
	if err := putOnce(s.code, code); err != nil {
		return nil, nil, err
	}
	return s.read()
}

// putOnce writes a file that is there as a whole or not at all, unless it is there.
func putOnce(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil { // a file system without links
		return os.Rename(f.Name(), name)
	}
	return nil
}
