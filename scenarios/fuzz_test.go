package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzParse feeds arbitrary files. Parse must not panic, must point into the file when it complains, and what it
// accepts must say the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		f.Add(embedded(name))
	}
	transcripts, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	for _, file := range transcripts {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		for _, c := range strings.Split(string(text), "=== ")[1:] {
			_, rest, _ := strings.Cut(c, "\n")
			input, _, _ := strings.Cut(rest, "--- ")
			f.Add([]byte(input))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data)
		if err != nil {
			requireInside(t, data, err)
			return
		}
		text := s.YAML()
		again, err := Parse("again.yaml", text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, bare(s), bare(again))
		require.Equal(t, string(text), string(again.YAML()))
	})
}

// requireInside checks that every problem has a position within the file, and that they are in order.
func requireInside(t *testing.T, data []byte, err error) {
	var problems Errors
	require.ErrorAs(t, err, &problems)
	require.NotEmpty(t, problems)
	lines := strings.Split(string(data), "\n")
	last := place{1, 1}
	for _, p := range problems {
		require.Equal(t, "fuzz.yaml", p.File)
		require.NotEmpty(t, p.Problem)
		require.True(t, p.Line >= 1 && p.Line <= len(lines), "%v", p)
		require.True(t, p.Column >= 1 && p.Column <= utf8.RuneCountInString(lines[p.Line-1])+1, "%v", p)
		require.True(t, last.line < p.Line || last.line == p.Line && last.column <= p.Column, "%v", err)
		last = place{p.Line, p.Column}
	}
}

// FuzzParseFault holds String and ParseFault against each other from the other side.
func FuzzParseFault(f *testing.F) {
	all, err := All()
	require.NoError(f, err)
	for _, s := range all {
		for _, fault := range s.Faults {
			f.Add(fault.String())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil || !unmistakable(fault.Name) || !unmistakable(fault.Action.Text) {
			return
		}
		again, err := ParseFault(fault.String())
		require.NoError(t, err, fault.String())
		require.Equal(t, fault, again)
	})
}
