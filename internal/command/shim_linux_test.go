//go:build amd64 || arm64

package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAShimStandsForWhatItStarts asks a version manager which program its shim stands for.
func TestAShimStandsForWhatItStarts(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700)) //nolint:gosec // they are programs
		return file
	}
	probe := write("versions/3/bin/probe", "exit 0")
	shim := write(".pyenv/shims/probe", "exit 1")
	other := write(".pyenv/shims/other", "exit 1")
	elsewhere := write("shims/probe", "exit 1")
	write("bin/pyenv", `[ "$1 $2" = "which probe" ] && echo `+probe+` || { echo "no such command" >&2; exit 127; }`)
	t.Setenv("PATH", filepath.Join(root, ".pyenv/shims")+":"+filepath.Join(root, "bin")+":/usr/bin:/bin")

	require.Equal(t, probe, behindShim(shim))
	require.Empty(t, behindShim(other), "the manager does not know it")
	require.Empty(t, behindShim(elsewhere), "of no manager")
	require.Empty(t, behindShim(probe))

	p, err := New([]string{"probe", "x"})
	require.NoError(t, err)
	require.Equal(t, []string{probe, "x"}, p.started)
	require.Equal(t, probe, p.path)
	require.Equal(t, "probe x", p.String(), "as it was typed")
	p, err = New([]string{elsewhere, "x"})
	require.NoError(t, err)
	require.Equal(t, []string{elsewhere, "x"}, p.started)
}
