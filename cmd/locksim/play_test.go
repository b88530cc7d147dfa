package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/scenarios"
)

// engineSays is an answer of the playground's engine.
func engineSays(t *testing.T, q playground.Request) (a playground.Answer) {
	t.Helper()
	data, err := json.Marshal(q)
	require.NoError(t, err)
	var e playground.Engine
	require.NoError(t, json.Unmarshal(e.Answer(data), &a))
	require.Empty(t, a.Problems)
	return a
}

// TestThePlaygroundsCommandPlaysTheSameRuns plays a changed scenario by the command that the page offers.
func TestThePlaygroundsCommandPlaysTheSameRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, variant := range map[string]string{"fencing-33-34": "", "failover-lost-key": "cut-off"} {
		text, err := scenarios.Text(name)
		require.NoError(t, err)
		a := engineSays(t, playground.Request{Do: "play", Text: string(text), Variant: variant, Edits: []playground.Edit{{Path: "lock.ttl", Number: 7e9}, {Path: "seed", Value: "99"}}})
		exports := engineSays(t, playground.Request{Do: "exports", Text: a.Text, Variant: variant}).Exports
		require.NoError(t, os.WriteFile(exports[1].Name, []byte(exports[1].Text), 0o644))
		command := append(strings.Fields(exports[0].Text)[1:], "--format", "json")
		_, stdout, stderr := locksim(t.Context(), command...)
		var document struct {
			Runs []struct{ Digest string }
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &document), stderr)
		var digests []string
		for _, r := range document.Runs {
			digests = append(digests, "0x"+strings.TrimLeft(r.Digest, "0x"))
		}
		require.Equal(t, a.Digests, digests, name)
	}
}

// TestTheEngineIsSoughtBesideTheProgramWithoutProc is of a chroot, in which the system cannot say where the program is.
func TestTheEngineIsSoughtBesideTheProgramWithoutProc(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	program, link := filepath.Join(folder, "locksim"), filepath.Join(t.TempDir(), "locksim")
	require.NoError(t, os.WriteFile(program, nil, 0o700))
	require.NoError(t, os.Symlink(program, link))
	none := func() (string, error) { return "", errors.New("readlink /proc/self/exe: no such file or directory") }
	for _, called := range []string{program, link} {
		require.Equal(t, folder, home(none, called))
	}
	t.Setenv("PATH", folder)
	if runtime.GOOS != "windows" {
		require.Equal(t, folder, home(none, "locksim"))
	}
	require.Equal(t, folder, home(func() (string, error) { return link, nil }, "elsewhere"))
}

func TestAReleasedEngineIsUnpacked(t *testing.T) {
	long.NotShort(t)
	var small bytes.Buffer
	w := brotli.NewWriter(&small)
	_, err := w.Write([]byte("\x00asm, a tiny one"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	self, err := os.Executable()
	require.NoError(t, err)
	beside := filepath.Join(filepath.Dir(self), "engine")
	require.NoError(t, os.Mkdir(beside, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(beside) })
	put(t, filepath.Join(beside, releasedEngine), small.String())
	put(t, filepath.Join(beside, releasedStarter), "starts it")
	folder := t.TempDir()
	code, stdout, stderr := locksim(t.Context(), "play", "--export", folder)
	require.Equal(t, exitOK, code, stderr)
	require.NotContains(t, stderr, "building")
	require.Contains(t, stdout, "also compressed")
	for name, want := range map[string]string{
		"locksim.wasm": "\x00asm, a tiny one", "wasm_exec.js": "starts it", "index.html": "fencing-33-34", "worker.js": "importScripts",
		"manual/index.html": "docs/quick-start.html", "manual/reports/published/locks.html": "<table>",
	} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Contains(t, string(data), want)
		if !strings.HasPrefix(name, manualFolder) {
			require.FileExists(t, filepath.Join(folder, name+".br"))
		}
	}

	put(t, filepath.Join(beside, releasedEngine), small.String()[:5])
	code, _, stderr = locksim(t.Context(), "play", "--export", folder)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, releasedEngine)
}
