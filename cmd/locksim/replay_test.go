package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReplaySaysWhatIsWrongWithItsArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"fencing-33-34", "--live is required"},
		{"--live", "no scenario given: name one, or a file, or --all; see locksim list scenarios"},
		{"--live --all x", `--all takes no names, but "x" was given`},
		{"--live fencing-33-43", `did you mean "fencing-33-34"?`},
		{"--live fencing-33-34 --variant x", `fencing-33-34 has no variants, so none called "x"`},
		{"--live fencing-33-34 --sped 2", "unknown flag --sped; did you mean --speed?"},
		{"--live fencing-33-34 --speed 0", "not a number from 0.01 to 1000"},
		{"--live fencing-33-34 --attempts 0", "not a whole number from 1 to 1000"},
		{"--live fencing-33-34 --format jsn", `did you mean "json"?`},
	} {
		var out, complaints bytes.Buffer
		code := run(append([]string{"replay"}, strings.Fields(c.args)...), &out, &complaints)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, out.String())
		require.Contains(t, complaints.String(), c.want)
	}
}

func TestReplayRefusesWhatCannotBeStaged(t *testing.T) {
	var out, complaints bytes.Buffer
	code := run([]string{"replay", "--live", "chubby-jeopardy"}, &out, &complaints)
	require.Equal(t, exitInconclusive, code)
	require.Contains(t, out.String(), "cannot be staged: servers: no servers of the kind chubby are started")
	require.Empty(t, complaints.String())
}

// TestNothingIsLeftOfAReplayThatIsInterrupted ends the program in the middle of a run, and looks for what it has started.
func TestNothingIsLeftOfAReplayThatIsInterrupted(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed; on Debian: apt-get install redis-server")
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("without /proc it cannot be told whose child a process was")
	}
	locks := []string{"replay", "--live", "fencing-33-34", "--speed", "1"}
	children := strings.Join(python, " ") + " & "
	programs := []string{"run", "lease-overrun", "--real", "--variant", "lease-30s-work-35s", "--fencing", "none", "--", "sh", "-c"}
	for _, c := range []struct {
		signal syscall.Signal
		args   []string
		all    int // itself, redis-1, the process that removes the directory, and a and b, with the processes of their programs
	}{
		{syscall.SIGINT, locks, 3 + 2}, {syscall.SIGTERM, locks, 3 + 2}, {syscall.SIGKILL, locks, 3 + 2},
		{syscall.SIGINT, append(programs[:len(programs):len(programs)], children+"setsid sleep 1000 & wait"), 3 + 2*4},
		{syscall.SIGKILL, append(programs[:len(programs):len(programs)], children+"wait"), 3 + 2*3},
	} {
		signal := c.signal
		t.Run(c.args[0]+" "+signal.String(), func(t *testing.T) {
			t.Parallel()
			if c.args[0] == "run" {
				needPython(t)
			}
			dir := t.TempDir()
			mark := "LOCKSIM_TEST_MARK=" + filepath.Base(filepath.Dir(dir)) + c.args[0] + signal.String()
			command := program(t, c.args...)
			command.Env = append(command.Env, mark, "TMPDIR="+dir, asProgram+"=interruptible")
			require.NoError(t, command.Start())
			require.Eventually(t, func() bool { return marked(t, mark) == c.all }, 20*time.Second, 5*time.Millisecond)
			require.NoError(t, command.Process.Signal(signal))
			err := command.Wait()
			require.Error(t, err)
			if signal != syscall.SIGKILL {
				require.Equal(t, exitInterrupted, command.ProcessState.ExitCode())
				require.Zero(t, marked(t, mark), "it ends after all that it has started")
			}
			require.Eventually(t, func() bool {
				left, err := os.ReadDir(dir)
				return err == nil && len(left) == 0 && marked(t, mark) == 0
			}, 20*time.Second, 5*time.Millisecond)
		})
	}
}

// marked counts the processes that have a mark in their environment.
func marked(t *testing.T, mark string) (n int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range list {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte(mark)) { // others are not ours, or over
			n++
		}
	}
	return n
}
