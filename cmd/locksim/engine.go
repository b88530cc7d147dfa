package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/andybalholm/brotli"

	"github.com/locksim/locksim/clients"
)

// The files of the folder engine that a released locksim carries, see engine_carried.go.
const (
	carriedEngine  = "engine/locksim.wasm.br"
	carriedStarter = "engine/wasm_exec.js"
)

// engine returns the playground's engine and the script that starts it: those that this program carries, or else those that are built
// from locksim's source.
func (c *call) engine() (engine, starter []byte, err error) {
	if carried != nil {
		return unpacked(carried)
	}
	fmt.Fprintln(c.stderr, "locksim: building the engine for the browser; this takes a minute the first time")
	return clients.BuildEngine(c.ctx)
}

// unpacked is an engine as it is carried.
func unpacked(files fs.FS) (engine, starter []byte, err error) {
	small, err := fs.ReadFile(files, carriedEngine)
	if err != nil {
		return nil, nil, err
	}
	if engine, err = io.ReadAll(brotli.NewReader(bytes.NewReader(small))); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", carriedEngine, err)
	}
	starter, err = fs.ReadFile(files, carriedStarter)
	return engine, starter, err
}
