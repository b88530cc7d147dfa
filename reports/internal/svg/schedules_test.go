package svg

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

const scheduleFolder = "../../testdata/schedules"

// scheduleNames are the schedules that the packages below reports share for their tests.
func scheduleNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scheduleFolder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

func schedule(t *testing.T, name string) *timeline.Schedule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(scheduleFolder, name+".json"))
	require.NoError(t, err)
	s := new(timeline.Schedule)
	require.NoError(t, json.Unmarshal(text, s))
	return s
}

func written(t *testing.T, s *timeline.Schedule) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, s))
	return b.String()
}
