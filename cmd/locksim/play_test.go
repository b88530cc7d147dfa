package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
