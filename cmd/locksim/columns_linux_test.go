package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal opens a terminal of a width. What is written to it can be read from the screen.
func terminal(t *testing.T, columns uint16) (screen, line *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	line, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(line.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	return screen, line
}

func TestATimelineFitsTheTerminal(t *testing.T) {
	escapes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, columns := range []int{80, 132} {
		screen, line := terminal(t, uint16(columns))
		var shown bytes.Buffer
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(&shown, screen) // until the line is closed
		}()
		var errs bytes.Buffer
		args := []string{"run", "fencing-33-34", "--fencing", "none", "--no-margin"}
		require.Equal(t, exitOK, runIn(t.Context(), env{jobs: 1}, args, line, &errs), errs.String())
		require.NoError(t, line.Close())
		<-read
		require.Contains(t, shown.String(), "a believes")
		widest := 0
		for text := range strings.SplitSeq(escapes.ReplaceAllString(shown.String(), ""), "\r\n") {
			if strings.HasPrefix(text, "  again: ") || strings.Contains(text, "locksim run") {
				continue // a command is not broken
			}
			require.LessOrEqual(t, utf8.RuneCountInString(text), columns, text)
			widest = max(widest, utf8.RuneCountInString(text))
		}
		require.Greater(t, widest, columns-5, "the width of the terminal is used")
	}
}
