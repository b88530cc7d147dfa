package profile

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Transcripts are cases of a profile and what is said about it:
//
//	=== what the case shows
//	the profile
//	--- NAME
//	a file that it names
//	--- said
//	what is wrong
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			requireFile(t, file, retold(string(text)))
		})
	}
}

// retold returns the transcript with what is said now.
func retold(transcript string) string {
	var b strings.Builder
	cases := strings.Split(transcript, "=== ")
	b.WriteString(cases[0])
	for _, c := range cases[1:] {
		c, _, _ = strings.Cut(c, "--- said\n")
		title, rest, _ := strings.Cut(c, "\n")
		parts := strings.Split(rest, "--- ")
		files := map[string]string{}
		for _, f := range parts[1:] {
			name, text, _ := strings.Cut(f, "\n")
			files[name] = text
		}
		said := "accepted\n"
		_, err := Read("my.yaml", []byte(parts[0]), func(name string) (io.ReadCloser, error) {
			text, ok := files[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return io.NopCloser(strings.NewReader(text)), nil
		})
		if err != nil {
			said = err.Error() + "\n"
		}
		b.WriteString("=== " + title + "\n" + strings.TrimRight(rest, "\n") + "\n--- said\n" + said + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestNoOrphansInTestdata: a file that no test reads is an error.
func TestNoOrphansInTestdata(t *testing.T) {
	test, err := os.ReadFile("file_test.go")
	require.NoError(t, err)
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, entry := range entries {
		known := path.Ext(entry.Name()) == ".txtar" || entry.Name() == "fuzz" || strings.Contains(string(test), entry.Name())
		require.True(t, known, "no test reads testdata/%s", entry.Name())
	}
}

// TestSchemaIsCurrent, and the tables of the documentation.
func TestSchemaIsCurrent(t *testing.T) {
	requireFile(t, "../../docs/profile.schema.json", string(Schema()))
	requireFile(t, "../../docs/profile.md", string(Document()))
}

// FuzzProfile feeds any text to the reader, as a profile and as the file that it names.
func FuzzProfile(f *testing.F) {
	for _, name := range []string{"gctrace.log", "jvm17.log", "hdrhistogram.hgrm", "jhiccup.hlog", "redis-intrinsic-latency.txt", "ping.txt", "chronyc.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(whole, string(text))
	}
	f.Add("latency: {file: x, unit: ms, column: '1'}", "1,2\n3,4\n")
	f.Add("latency: {p50: 1ms, p99: 1ms, tail: pareto}", "")
	f.Fuzz(func(t *testing.T, profile, file string) {
		if _, err := Read("my.yaml", []byte(profile), of(file)); err != nil {
			require.NotContains(t, err.Error(), "panic")
		}
		for _, text := range []string{"latency: {file: x}", "latency: {file: x, unit: ms}", "clocks: {of: all, drift: {file: x}}",
			"pauses: {length: {file: x, format: numbers, column: a, unit: s}}", "pauses: {length: {file: x, threshold: 1ms}}"} {
			p, err := Read("my.yaml", []byte(text), of(file))
			if err != nil || p.Latency == nil {
				continue
			}
			last := 1.
			for d := int64(1); d > 0 && d < 1<<60; d *= 7 {
				now := p.Latency.Tail(time.Duration(d))
				require.True(t, now >= 0 && now <= last+1e-9, "%s: %g after %g", p.Latency, now, last)
				last = now
			}
			require.Len(t, Refits(p.Latency, 3, 1), 3)
		}
	})
}
