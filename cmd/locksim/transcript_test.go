package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// plainEnv is a terminal-less environment in which every run is alike.
func plainEnv() env { return env{jobs: 2} }

// command line words: bare, or in single quotes.
var word = regexp.MustCompile(`'[^']*'|[^ ]+`)

// play runs one command line and returns what a transcript has below it: the standard output, the standard error with
// "! " before each line, and the exit code if it is not 0.
func play(line string) string {
	var args []string
	for _, w := range word.FindAllString(line, -1) {
		args = append(args, strings.Trim(w, "'"))
	}
	var stdout, stderr bytes.Buffer
	code := runIn(context.Background(), plainEnv(), args[1:], &stdout, &stderr)
	var b strings.Builder
	b.WriteString(masked(stdout.String()))
	for _, l := range strings.SplitAfter(stderr.String(), "\n") {
		if l != "" {
			b.WriteString("! " + l)
		}
	}
	if code != 0 {
		fmt.Fprintf(&b, "exit %d\n", code)
	}
	return b.String()
}

// What the engine may change without this package having to know.
var unstable = regexp.MustCompile(`"digest":"0x[0-9a-f]+"|"(steps|messages)":\d+`)

func masked(text string) string {
	return unstable.ReplaceAllStringFunc(text, func(m string) string {
		key, _, _ := strings.Cut(m, ":")
		return key + ":…"
	})
}

// TestTranscripts replays the command lines of testdata/*.txt, which begin with "$ locksim", and compares all that
// they print. UPDATE=1 rewrites the files.
func TestTranscripts(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := typeAgain(string(text))
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got, "if that is right: UPDATE=1 go test ./cmd/locksim")
		})
	}
}

// typeAgain keeps a transcript's comments and commands, and puts below each command what it prints now.
func typeAgain(transcript string) string {
	var b strings.Builder
	commented := false
	for line := range strings.Lines(transcript) {
		comment, command := strings.HasPrefix(line, "# "), strings.HasPrefix(line, "$ locksim")
		if !comment && !command {
			continue
		}
		if b.Len() > 0 && !commented {
			b.WriteString("\n")
		}
		b.WriteString(line)
		if commented = comment; command {
			b.WriteString(play(strings.TrimSuffix(strings.TrimPrefix(line, "$ "), "\n")))
		}
	}
	return b.String()
}
