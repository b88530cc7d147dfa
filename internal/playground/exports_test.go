package playground

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// TestAScenarioIsPlayedAsAGoTest compiles the tests that the page offers, and runs them: one as it is, and one that has another scenario
// than its outcomes are of.
func TestAScenarioIsPlayedAsAGoTest(t *testing.T) {
	t.Parallel()
	var e Engine
	text := strings.Replace(textOf(t, "zk-gc-pause"), "title: ", "title: a `quoted` ", 1)
	a := ask(t, &e, Request{Do: "exports", Text: text, Variant: "old-holder-writes-first"})
	require.Len(t, a.Exports, 3)
	require.Equal(t, "locksim run zk-gc-pause.yaml --variant old-holder-writes-first", a.Exports[0].Text)
	require.Equal(t, text, a.Exports[1].Text)
	source := a.Exports[2].Text
	formatted, err := format.Source([]byte(source))
	require.NoError(t, err)
	require.Equal(t, string(formatted), source)
	played := ask(t, &e, Request{Do: "play", Text: text, Variant: "old-holder-writes-first"})
	for _, digest := range played.Digests {
		require.Contains(t, source, "Digest: "+digest)
	}
	if long.Pick(0, 0, 1) == 0 {
		return
	}
	out, err := tested(t, source)
	require.NoError(t, err, out)
	out, err = tested(t, strings.Replace(source, "work: 30s", "work: 31s", 1))
	require.Error(t, err)
	require.Contains(t, out, "want digest")
}

// tested runs a test file as if it stood beside those of package locks.
func tested(t *testing.T, source string) (string, error) {
	t.Helper()
	folder, err := filepath.Abs("../..")
	require.NoError(t, err)
	file, overlay := filepath.Join(t.TempDir(), "x_test.go"), filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(folder, "locks", "exported_test.go"): file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, data, 0o644))
	cmd := exec.Command("go", "test", "-overlay", overlay, "-run", "TestZkGcPause", "./locks")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}
