package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestAnInterruptIsHeededWithinALongRun starts each command that plays a file, and asks it to end while it is at its first
// run. The promise is two seconds; the rest is for machines with other things to do.
func TestAnInterruptIsHeededWithinALongRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "long.yaml")
	require.NoError(t, os.WriteFile(file, []byte(longRun), 0o644))
	for _, line := range []string{
		"run", "run --seeds 3 --format junit", "run --format html -o " + filepath.Join(dir, "page.html"), "minimize", "explore --save " + dir,
		"fuzz --runs 5 --save " + dir,
	} {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			command := program(t, append(strings.Fields(line), file)...)
			command.Env = append(os.Environ(), asProgram+"=interruptible")
			var said bytes.Buffer
			command.Stderr = &said
			require.NoError(t, command.Start())
			time.Sleep(700 * time.Millisecond)
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

func TestWorkThatHeedsNoInterruptIsAbandonedWithItsFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	c := &call{ctx: ctx, stderr: &said, stdout: &said, files: &unfinished{}}
	dir := t.TempDir()
	begun, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
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
	}))
	require.Equal(t, "locksim: interrupted\n", said.String())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.True(t, c.promptly(func() {}), "work that ends by itself tells what it has come to")
}
