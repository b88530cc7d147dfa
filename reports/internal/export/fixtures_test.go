package export_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// everySchedule runs a test on each of the schedules that package reports keeps for pictures.
func everySchedule(t *testing.T, test func(t *testing.T, s *timeline.Schedule)) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/schedules/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { test(t, load(t, file)) })
	}
}

func load(t *testing.T, file string) *timeline.Schedule {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s := &timeline.Schedule{}
	require.NoError(t, json.Unmarshal(text, s))
	return s
}

const fencing = "../../testdata/schedules/fencing-33-34.json"

// written is what a function writes.
func written(t *testing.T, write func(io.Writer, *timeline.Schedule) error, s *timeline.Schedule) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b, s))
	return b.String()
}

// hostile is a schedule whose every text wants to be something else.
func hostile(t *testing.T, text string) *timeline.Schedule {
	t.Helper()
	raw, err := os.ReadFile(fencing)
	require.NoError(t, err)
	var any any
	require.NoError(t, json.Unmarshal(raw, &any))
	raw, err = json.Marshal(poison(any, text))
	require.NoError(t, err)
	s := &timeline.Schedule{}
	require.NoError(t, json.Unmarshal(raw, s))
	return s
}

// poison puts text behind every string of a document that is not one of a known list.
func poison(x any, text string) any {
	switch x := x.(type) {
	case map[string]any:
		for key, value := range x {
			if key != "sign" && key != "kind" && key != "tone" && key != "ends" {
				x[key] = poison(value, text)
			}
		}
	case []any:
		for i := range x {
			x[i] = poison(x[i], text)
		}
	case string:
		return x + text
	}
	return x
}
