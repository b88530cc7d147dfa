package wasm_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/wasm"
)

// build compiles a program of the folder testdata.
func build(t *testing.T, name string, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program.wasm")
	command := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), ".")...)
	command.Dir = filepath.Join("testdata", name)
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	text, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no Go toolchain to build a client program with")
	}
	require.NoError(t, err, string(text))
	code, err := os.ReadFile(out)
	require.NoError(t, err)
	return code
}

// compiled is where compiled programs are kept from test to test.
func compiled(t *testing.T) string {
	folder, err := os.UserCacheDir()
	require.NoError(t, err)
	return filepath.Join(folder, "locksim", "compiled")
}

const shared = "-buildmode=c-shared"

// TestLoadSaysWhatIsWrongWithAProgram tells a user what to change.
func TestLoadSaysWhatIsWrongWithAProgram(t *testing.T) {
	header := "\x00asm\x01\x00\x00\x00"
	for code, text := range map[string]string{
		"":                  "it is not a WebAssembly module",
		"#!/bin/sh":         "it is not a WebAssembly module",
		header:              "it has no section 6",
		header + "\x06\x7f": "cut short",
	} {
		_, err := wasm.Load([]byte(code), compiled(t))
		require.ErrorContains(t, err, text)
	}
	for _, wrong := range []struct {
		program string
		flags   []string
		text    string
	}{
		{"plain", nil, "-buildmode=c-shared"},
		{"plain", []string{shared}, "does not import package guest"},
		{"silent", []string{shared}, "calls guest.Register in none of its init functions"},
		{"failing", []string{shared}, "before it is a client the program panics: runtime error: index out of range [1] with length 0"},
		{"looping", []string{shared}, "the program loops forever before it is a client"},
	} {
		t.Run(wrong.text, func(t *testing.T) {
			t.Parallel() // they are linked
			_, err := wasm.Load(build(t, wrong.program, wrong.flags...), compiled(t))
			require.ErrorContains(t, err, wrong.text)
		})
	}
}
