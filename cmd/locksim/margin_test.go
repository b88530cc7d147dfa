package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// TestANearMissIsMarked has a client whose work takes all but a tenth of a second of its lease, and one whose work takes half of it.
func TestANearMissIsMarked(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	for work, near := range map[string]bool{"9900ms": true, "5s": false} {
		file := filepath.Join(t.TempDir(), "margin.yaml")
		require.NoError(t, os.WriteFile(file, []byte("name: margin\ntitle: A margin\nlock: {algorithm: set-nx-lua, ttl: 10s}\n"+
			"network: {latency: 1ms}\nclients: {a: {work: "+work+"}, b: {start: 1s, retry: {delay: 8ms}, work: 1s}}\n"), 0o600))
		code, text, _ := locksim(t.Context(), "run", file)
		require.Equal(t, exitOK, code, "a near miss is none")
		require.Contains(t, text, "Margin: mutual-exclusion is violated if the ")
		require.Regexp(t, `With\s+the\s+(work\s+of\s+a\s+at\s+9\.994\d*s|lease\s+at\s+5s):\s+a\s+acquires`, text, "it is told how")
		if near {
			require.Contains(t, text, "≈ Never did two believe to hold the lock at once, but only by 94.1ms.\n")
			require.Contains(t, text, "≈ mutual-exclusion      held")
		} else {
			require.Contains(t, text, "✓ Never did two believe to hold the lock at once.\n")
			require.NotContains(t, text, "≈")
		}

		_, text, _ = locksim(t.Context(), "run", file, "--format", "timeline")
		var schedules []struct {
			Margins []string
			Runs    []struct{ Tone string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &schedules))
		require.Len(t, schedules[0].Margins, 1)
		require.Equal(t, map[bool]string{true: "near", false: "green"}[near], schedules[0].Runs[0].Tone)

		_, text, _ = locksim(t.Context(), "run", file, "--format", "json")
		var document struct {
			Runs []struct {
				Margins []struct {
					Property, Length string
					From             int64 `json:"from_ns"`
					To               int64 `json:"to_ns"`
					Over             int64 `json:"over_ns"`
					Near             bool  `json:"near_miss"`
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &document))
		some := false
		for _, m := range document.Runs[0].Margins {
			require.Equal(t, m.Property != "mutual-exclusion", m.Over > 0)
			require.Equal(t, m.Over > 0, m.From == m.To)
			some = some || m.Near
		}
		require.Equal(t, near, some)

		for _, args := range [][]string{{"--no-margin"}, {"--seeds", "2"}, {"--no-margin", "--format", "json"}, {"--no-margin", "--format", "timeline"}} {
			_, text, _ = locksim(t.Context(), append([]string{"run", file}, args...)...)
			require.NotContains(t, text, "argin: ", "%v", args)
			require.NotContains(t, text, "margins", "%v", args)
			require.NotContains(t, text, "≈", "%v", args)
		}
	}
}
