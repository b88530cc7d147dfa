package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

func TestMinimizeWritesAFileThatRunPlays(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	for _, row := range []struct {
		args []string
		says []string
	}{
		{
			[]string{"redlock-crash-restart"},
			[]string{"removed 2 of 5 servers", "mutual-exclusion of redlock is violated: double holder"},
		},
		{
			[]string{"fencing-33-34", "--property", "resource"},
			[]string{"resource of set-nx-lua-fenced is violated: lost update", "The pause of a must be between about 10s and 10.1s"},
		},
		{
			[]string{"redlock-split-vote"}, // without its lease's end it would be cut off, and nothing else be known of it
			[]string{"is violated"},
		},
		{
			[]string{"torn-section", "--fencing", "fenced-read-write", "--style", "careless", "--seed", "7"},
			[]string{"1 of 3 clients", "mutual-exclusion of set-nx-lua-fenced"},
		},
	} {
		file := filepath.Join(t.TempDir(), "minimal.yaml")
		code, stdout, stderr := locksim(t.Context(), append([]string{"minimize", "-o", file}, row.args...)...)
		require.Equal(t, exitOK, code, "%v: %s%s", row.args, stdout, stderr)
		for _, text := range append(row.says, "locksim run "+file) {
			require.Contains(t, stdout, text)
		}
		code, stdout, stderr = locksim(t.Context(), "run", file)
		require.Equal(t, exitOK, code, "%s%s", stdout, stderr)

		again := filepath.Join(t.TempDir(), "again.yaml")
		code, stdout, stderr = locksim(t.Context(), "minimize", "-o", again, file)
		require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
		require.Contains(t, stdout, "removed no fault, client")
		require.Equal(t, read(t, file), read(t, again))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func TestMinimizeNamesItsFileAfterTheCause(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := locksim(t.Context(), "minimize", "misdelete", "--property", "release-safety")
	require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
	files, err := filepath.Glob("set-nx-ex-del-release-safety-*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, stdout, files[0])
	s, err := scenarios.Parse(files[0], []byte(read(t, files[0])))
	require.NoError(t, err)
	require.Equal(t, files[0], s.Name+".yaml")
	require.NotEmpty(t, s.Story)
}

func TestMinimizeWorksOnNamedScenariosOfAllKinds(t *testing.T) {
	long.NotShort(t)
	for i, name := range scenarios.Names() {
		if i%max(1, 144/long.Pick(2, 2, 12)) != 0 {
			continue
		}
		file := filepath.Join(t.TempDir(), name+".yaml")
		code, _, stderr := locksim(t.Context(), "minimize", "-o", file, name)
		if code != exitOK {
			require.Contains(t, stderr, "no property is violated by "+name)
			continue
		}
		code, stdout, stderr := locksim(t.Context(), "run", file)
		require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
	}
}

// TestASearchKeepsTheLocksOfItsScenario has a watchdog renew every 2 s, as its scenario says: otherwise none of its renewals is sent
// within a pause of 2 s, which would be told as the cause. Locks that a violation does not need may be replaced by others of the
// scenario, which is said.
func TestASearchKeepsTheLocksOfItsScenario(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("renewing.yaml", []byte(`
name: renewing
lock: {algorithm: watchdog, ttl: 10s, renew: 2s}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{at: 2s, pause: a, for: 15s}]
expect: any
`), 0o600))
	for _, args := range [][]string{
		{"minimize", "renewing.yaml"}, {"explore", "renewing.yaml", "--max-faults", "0", "--save", "."},
		{"fuzz", "renewing.yaml", "--runs", "20", "--save", "."},
	} {
		_, stdout, stderr := locksim(t.Context(), args...)
		require.Contains(t, stdout, "The pause of a must be about 10s or more; with 9.99s the property holds.", "%v: %s", args, stderr)
		files, err := filepath.Glob("watchdog-mutual-exclusion-*.yaml")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			require.Contains(t, read(t, file), "lock: {algorithm: watchdog, renew: 2s}", "%v", args)
			require.NoError(t, os.Remove(file))
		}
	}
}

// TestLocksOfClientsAreTold has two clients of which one works for longer than its own lease: no violation needs a drawn fault, nor a
// third lock.
func TestLocksOfClientsAreTold(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("own.yaml", []byte(`
name: own
lock: {algorithm: set-nx-lua, ttl: 10s}
clients:
  a: {work: 6s, lock: {ttl: 4s}}
  b: {start: 1s, work: 3s}
  c: {start: 2s, work: 1s, lock: {algorithm: watchdog, ttl: 8s, renew: 2s}}
expect: any
`), 0o600))
	code, stdout, stderr := locksim(t.Context(), "minimize", "own.yaml")
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "The clients had 3 different locks; here all have set-nx-lua with ttl 4s: the violation needs no other.")
	code, stdout, stderr = locksim(t.Context(), "fuzz", "own.yaml", "--runs", "100", "--property", "mutual-exclusion")
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, stdout, "The work of a must be about 4.04s or more")
	require.Contains(t, stdout, "no finding needs clients with different locks")
	require.NotContains(t, stdout, "stall")
}

func TestMinimizeSaysWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		args []string
		says string
	}{
		{nil, "locksim: minimize: no scenario given: name one, or a file; see locksim list scenarios"},
		{[]string{"misdelete", "lua-release"}, `one scenario at a time, but "lua-release" was given too`},
		{[]string{"misdelte"}, `did you mean "misdelete"?`},
		{[]string{"lua-release"}, "no property is violated by lua-release"},
		{[]string{"misdelete", "--property", "progress"}, "progress is not violated by misdelete"},
		{[]string{"misdelete", "--property", "resorce"}, `did you mean "resource"?`},
		{[]string{"torn-section", "--variant", "nowhere"}, "torn-section has no variant"},
	} {
		code, stdout, stderr := locksim(t.Context(), append([]string{"minimize"}, row.args...)...)
		require.Equal(t, exitUsage, code, "%v", row.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, row.says)
	}
}

func TestMinimizeWritesWhatItHasWhenItIsInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rough.yaml")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := locksim(ctx, "minimize", "redlock-crash-restart", "-o", file)
	require.Equal(t, exitInterrupted, code, stderr)
	require.Contains(t, stderr, "the scenario is not minimal")
	require.Contains(t, stdout, "partially minimized, since that was interrupted")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "# It is not minimal: that was ended early.")
	code, stdout, stderr = locksim(t.Context(), "run", file)
	require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
}
