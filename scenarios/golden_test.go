package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireFile compares with a file that UPDATE=1 rewrites.
func requireFile(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "rewrite it by UPDATE=1 go test ./scenarios")
	require.Equal(t, string(want), got, "rewrite it by UPDATE=1 go test ./scenarios")
}

func TestSchemaFileIsCurrent(t *testing.T) {
	requireFile(t, "schema.json", string(Schema()))
}

func TestFormatDocumentIsCurrent(t *testing.T) {
	requireFile(t, "FORMAT.md", string(Fields()))
}

// Transcripts are cases of an input and what is said about it:
//
//	=== what the case shows
//	the file
//	--- what is said
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			requireFile(t, file, replay(t, string(text)))
		})
	}
}

func TestNoOrphansInTestdata(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, entry := range entries {
		// Package rapid leaves failing cases in testdata/rapid.
		known := strings.HasSuffix(entry.Name(), ".txt") || entry.Name() == "fuzz" || entry.Name() == "rapid"
		require.True(t, known, "no test reads testdata/%s", entry.Name())
	}
}

// replay returns the transcript with what is said now.
func replay(t *testing.T, transcript string) string {
	var b strings.Builder
	cases := strings.Split(transcript, "=== ")
	b.WriteString(cases[0])
	for _, c := range cases[1:] {
		title, rest, ok := strings.Cut(c, "\n")
		require.True(t, ok, "a case should have a title: %s", c)
		input, _, _ := strings.Cut(rest, "\n--- ")
		input = strings.TrimRight(input, "\n") + "\n"
		s, err := Parse("bad.yaml", []byte(input))
		said := "accepted"
		if err != nil {
			said = err.Error()
		} else {
			require.NotEmpty(t, s.Name)
		}
		b.WriteString("=== " + title + "\n" + input + "--- said\n" + said + "\n\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
