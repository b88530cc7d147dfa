//go:build amd64 || arm64

package command

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

const hops = 1_000

// TestThreadsThatHandATokenRoundAreNeverSeenAsBlocked looks at rings of threads of several processes in which exactly one thread can
// run at a time, by the detector and by one that looks once: that one is mistaken.
func TestThreadsThatHandATokenRoundAreNeverSeenAsBlocked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ring")
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler is installed")
	}
	out, err := exec.Command("cc", "-O1", "-Wall", "-o", program, "testdata/ring.c", "-pthread").CombinedOutput()
	require.NoError(t, err, "%s", out)
	var mistakes int
	for seed := range long.Pick(4, 4, 100) { // LONG=10: a thousand
		require.Zero(t, ring(t, program, seed, (*tree).quiet), "seed %d", seed)
		if seed < 4 {
			mistakes += ring(t, program, seed, (*tree).look)
		}
	}
	require.NotZero(t, mistakes, "no ring shows that one look is not enough")
}

// ring counts how often a detector sees a ring as blocked whose token is on its way.
func ring(t *testing.T, program string, seed int, blocked func(*tree) bool) (mistakes int) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "count"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Truncate(64))
	cmd := exec.Command(program, strconv.Itoa(seed), strconv.Itoa(hops), file.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	seen := tree{met: []int{cmd.Process.Pid}}
	defer seen.close()
	for begun := time.Now(); ; {
		require.Less(t, time.Since(begun), time.Minute, "seed %d", seed)
		if !blocked(&seen) {
			continue
		}
		var count [4]byte
		_, err := file.ReadAt(count[:], 0)
		require.NoError(t, err)
		if binary.NativeEndian.Uint32(count[:]) == hops {
			return mistakes
		}
		mistakes++
	}
}
