package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// python is a program with the lock of lease-overrun.
var python = []string{"python3", "../../internal/command/testdata/lease.py"}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(python[0]); err != nil {
		t.Skip(err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("programs are given virtual time on Linux and amd64 only")
	}
}

func TestAProgramIsRunInPlaceOfAScenariosLock(t *testing.T) {
	needPython(t)
	run := append([]string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--fencing", "none", "--"}, python...)
	code, out, problems := said(t, run...)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, problems, "the program itself, its runtime and its libraries; simulated are network, servers")
	require.Contains(t, out, "Two believed to hold the lock at once, and the resource was damaged")
	require.Contains(t, out, "exclusion-at-service  not-seen")
	require.Contains(t, out, "reproduce: locksim run lease-overrun --variant lease-3s-work-4s --fencing none --seed 0x1 -- "+
		"python3 ../../internal/command/testdata/lease.py")
	code, out, _ = said(t, append([]string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--format", "json", "--"}, python...)...)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, out, `"not-seen"`)
}

// TestAScenarioOfAProgram is one that names the program as its lock: its expectations count, and it is run only if asked for.
func TestAScenarioOfAProgram(t *testing.T) {
	needPython(t)
	const file = "testdata/program.yaml"
	code, out, problems := said(t, append([]string{"run", file, "--"}, python...)...)
	require.Equal(t, exitOK, code, "%s\n%s", out, problems)
	require.NotContains(t, out, "≠")
	code, _, problems = said(t, "run", file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, problems, "is a program, which is run only if you say so: add -- python3 ../../internal/command/testdata/lease.py")
}

func TestProgramsThatCannotBeRunAreRefused(t *testing.T) {
	for problem, args := range map[string][]string{
		"no program follows --; want a command, such as -- node client.js":          {"run", "lease-overrun", "--"},
		"list: it plays no program, but -- is followed by 'node client.js'":         {"list", "--", "node", "client.js"},
		"the lock true x needs Redis, but the servers of zk-gc-pause are ZooKeeper": {"fuzz", "zk-gc-pause", "--", "true", "x"},
		"--lock redlock and the program true x are two locks; want one":             {"run", "lease-overrun", "--lock", "redlock", "--", "true", "x"},
		"the lock true x needs Redis, but the servers of zk-gc-pause":               {"run", "zk-gc-pause", "--", "true", "x"},
		"no-such-program":             {"run", "lease-overrun", "--", "no-such-program"},
		"control characters":          {"run", "lease-overrun", "--", "sh", "-c", "a\nb"},
		"exits with status 0, before": {"run", "lease-overrun", "--", "true", "x"},
	} {
		code, _, problems := said(t, args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, problems, problem)
	}
}

// TestAProgramIsFuzzed finds what a program with a lease does when it is paused, and plays the finding again by the line that is
// printed; the same program without faults violates nothing.
func TestAProgramIsFuzzed(t *testing.T) {
	needPython(t)
	found := t.TempDir()
	line := append([]string{"fuzz", "--faults", "client-pause", "--stop-at-first", "--property", "resource", "--save", found, "--"}, python...)
	code, out, problems := said(t, line...)
	require.Equal(t, exitDiffers, code, problems)
	require.Regexp(t, `seen in \d of 5 runs of\s+this schedule`, out)
	require.Contains(t, out, "reproduce: locksim run "+found)
	files, err := filepath.Glob(filepath.Join(found, "*-resource-*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Regexp(t, `# Play it with: locksim run .*\.yaml -- python3 \S+lease.py\n`, string(text))
	require.Contains(t, string(text), "the same steps in ")
	require.NotContains(t, string(text), "other seeds")
	code, out, problems = said(t, append([]string{"run", files[0], "--no-margin", "--"}, python...)...)
	require.Equal(t, exitOK, code, problems+out)
	require.Regexp(t, `resource +violated`, out)

	long.Only(t)
	code, out, problems = said(t, append([]string{"fuzz", "--faults", "none", "--runs", "2", "--save", found, "--"}, python...)...)
	require.Equal(t, exitOK, code, problems)
	require.Regexp(t, `mutual-exclusion +not-seen in 2 runs`, out)
	require.NotContains(t, out, "no violation")
}
