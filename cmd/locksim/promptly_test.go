package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
)

// longRun is a scenario of which one run takes minutes.
const longRun = `
name: long
lock: {algorithm: redlock, ttl: 10s}
servers: {kind: redis, masters: 99}
clients:
  a: {count: 50, sections: 10000, tasks: 2, wait: 1000h, work: 1ms}
until: 1000h
bounds: {steps: 1000000000, messages: 1000000000}
`

// TestAnInterruptIsHeededWithinALongRun starts each command that plays something, and asks it to end while it is at work: within
// its first run, if it plays a file. The promise is two seconds; the rest is for machines with other things to do.
func TestAnInterruptIsHeededWithinALongRun(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("without /proc it cannot be told when a process is at work")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "long.yaml")
	require.NoError(t, os.WriteFile(file, []byte(longRun), 0o644))
	for i, line := range []string{
		"run FILE", "run FILE --seeds 3 --format junit", "run FILE --format html -o DIR/page.html", "minimize FILE",
		"explore FILE --save DIR", "fuzz FILE --runs 5 --save DIR", "replay --live FILE", "compare all --save DIR/comparison",
		"measure all --runs 1000000", "campaign --untied --ledger DIR/ledger --save DIR",
		"measure FILE",
	} {
		signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
		if !long.Enabled() {
			signals = signals[i/2%2 : i/2%2+1]
		}
		if i%long.Every(4, 1) != 0 {
			continue
		}
		for _, signal := range signals {
			command := program(t, strings.Fields(strings.NewReplacer("FILE", file, "DIR", dir).Replace(line))...)
			command.Env = append(os.Environ(), asProgram+"=interruptible")
			var said bytes.Buffer
			command.Stderr = &said
			require.NoError(t, command.Start())
			require.Eventually(t, func() bool { return worked(t, command.Process.Pid) }, time.Minute, 5*time.Millisecond, line)
			require.NoError(t, command.Process.Signal(signal))
			asked := time.Now()
			_ = command.Wait()
			require.Less(t, time.Since(asked), 5*time.Second, line)
			require.Equal(t, exitInterrupted, command.ProcessState.ExitCode(), "%s: %s", line, said.String())
			require.Contains(t, said.String(), "interrupted", line)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "temporary files")
}

// worked reports whether a process has used more of a processor's time than it needs to begin.
func worked(t *testing.T, pid int) bool {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):])) // see proc(5): these are behind the name
	used := 0
	for _, field := range fields[12:14] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		require.NoError(t, err)
		used += n
	}
	return used > 40
}

func TestWorkThatHeedsNoInterruptIsAbandonedWithItsFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	c := &call{ctx: ctx, stderr: &said, stdout: &said, files: &unfinished{}}
	dir := t.TempDir()
	begun, forever, late := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		<-begun
		cancel()
	}()
	require.False(t, c.promptly(func() {
		out, err := c.open(filepath.Join(dir, "report.html"))
		if err == nil {
			_, _ = out.WriteString("half of it")
		}
		close(begun)
		<-forever
		_, err = fmt.Fprintln(c.stdout, "the rest of it")
		late <- err
	}))
	close(forever)
	require.Error(t, <-late, "what is abandoned prints nothing")
	require.Equal(t, "locksim: interrupted\n", said.String())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.True(t, c.promptly(func() {}), "work that ends by itself tells what it has come to")
}
