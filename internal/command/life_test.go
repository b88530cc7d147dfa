package command_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
)

// TestKilledLocksimLeavesNothingBehind kills a process that plays a program, which has children, with a signal that nothing can handle.
func TestKilledLocksimLeavesNothingBehind(t *testing.T) {
	if file := os.Getenv("LOCKSIM_TEST_PLAYS"); file != "" { // the process that is killed
		_, err := play(t, plan(t, alone, strings.Fields(file)...))
		require.NoError(t, err)
		return
	}
	program(t, "python3", "-c", "pass")
	for _, how := range []string{"--time=jump", "--time=real"} {
		t.Run(how, func(t *testing.T) { killed(t, how) })
	}
}

func killed(t *testing.T, how string) {
	t.Helper()
	said := filepath.Join(t.TempDir(), "said")
	file := filepath.Join(filepath.Dir(said), "client.py")
	text := fmt.Sprintf("import os, subprocess, time\np = [subprocess.Popen(['sleep', '300000'], start_new_session=own) for own in (False, True)]\n"+
		"if os.fork() == 0:\n  os.setsid()\n  daemon = os.fork()\n"+
		"  if daemon:\n    with open(%[1]q + '.daemon', 'w') as f: f.write(str(daemon))\n    os._exit(0)\n  time.sleep(300000)\nos.wait()\n"+
		"with open(%[1]q, 'w') as f: f.write(' '.join(map(str, [os.getpid(), *[x.pid for x in p]])) + '\\n')\nwhile True: pass\n", said)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	playing := exec.Command(self, "-test.run", "^TestKilledLocksimLeavesNothingBehind$")
	playing.Env = append(os.Environ(), "LOCKSIM_TEST_PLAYS="+how+" python3 "+file)
	require.NoError(t, playing.Start())
	list := ""
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(said)
		list = string(text)
		return strings.HasSuffix(list, "\n")
	}, time.Minute, time.Millisecond)
	daemon, err := os.ReadFile(said + ".daemon")
	require.NoError(t, err)
	pids := append(strings.Fields(list), string(daemon))
	require.Len(t, pids, 4)
	for _, pid := range pids {
		require.True(t, lives(pid), pid)
		t.Cleanup(func() { _ = exec.Command("kill", "-9", pid).Run() })
	}
	if how == "--time=real" {
		pids = pids[:2] // nothing leads to the sessions that a program begins there
	}
	require.NoError(t, playing.Process.Signal(syscall.SIGKILL))
	_ = playing.Wait()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return !lives(pid) }, 10*time.Second, time.Millisecond, "process %s", pid)
	}
}

// lives reports whether a process is there that has not ended.
func lives(pid string) bool {
	f, err := os.Open("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadBytes('\n')
	_, rest, _ := bytes.Cut(line, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}

// TestAnInterruptEndsAProgramThatComputesForever does not wait for the bound on a program's computation, nor for its end.
func TestAnInterruptEndsAProgramThatComputesForever(t *testing.T) {
	for _, how := range []string{"--time=jump", "--time=real"} {
		program(t, how, "python3", "-c", "pass")
		endless := plan(t, alone, how, "python3", "-c", "while True: pass")
		since := time.Now()
		r := harness.Runner{Stop: func() bool { return time.Since(since) > 200*time.Millisecond }}
		_, err := r.Run(endless, 1, false)
		require.ErrorIs(t, err, harness.ErrInterrupted)
		require.Less(t, time.Since(since), 2*time.Second)
		require.True(t, r.TakeCut())
		r.Close()
	}
}
