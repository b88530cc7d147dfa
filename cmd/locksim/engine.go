package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/andybalholm/brotli"

	"github.com/locksim/locksim/clients"
)

// The files of the folder engine that a release has beside the program: .ci/release puts them there.
const (
	releasedEngine  = "locksim.wasm.br"
	releasedStarter = "wasm_exec.js"
)

// engine returns the playground's engine and the script that starts it: those that were released with this program, or else those that are
// built from locksim's source.
func (c *call) engine() (engine, starter []byte, err error) {
	for _, folder := range []string{"engine", "../share/locksim/engine"} { // beside it, or as a package installs it
		files := os.DirFS(filepath.Join(home(os.Executable, os.Args[0]), folder))
		if _, err := fs.Stat(files, releasedEngine); err == nil {
			return unpacked(files)
		}
	}
	fmt.Fprintln(c.stderr, "locksim: building the engine for the browser; this takes a minute the first time")
	return clients.BuildEngine(c.ctx)
}

// home is the folder of this program: as the system says, or else, where /proc is not mounted, as it was called.
func home(says func() (string, error), called string) string {
	program, err := says()
	if err != nil {
		if program, err = exec.LookPath(called); err != nil {
			program = called
		}
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return filepath.Dir(program)
}

// unpacked is an engine as it is released.
func unpacked(files fs.FS) (engine, starter []byte, err error) {
	small, err := fs.ReadFile(files, releasedEngine)
	if err != nil {
		return nil, nil, err
	}
	if engine, err = io.ReadAll(brotli.NewReader(bytes.NewReader(small))); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", releasedEngine, err)
	}
	starter, err = fs.ReadFile(files, releasedStarter)
	return engine, starter, err
}
