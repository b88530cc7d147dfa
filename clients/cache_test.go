package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is used stays, however old it is; what is not goes after some days, and before if there is too much of it.
func TestTheCacheKeepsWhatIsUsed(t *testing.T) {
	cache, now := t.TempDir(), time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	entry := func(age time.Duration, path ...string) string {
		folder := filepath.Join(append([]string{cache}, path...)...)
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "inside"), 0o755))
		require.NoError(t, os.Chtimes(folder, now.Add(-age), now.Add(-age)))
		return folder
	}
	used := entry(keptFor+time.Hour, compiledFolder, "used")
	old := entry(keptFor+time.Hour, compiledFolder, "old")
	other := entry(keptFor-time.Hour, versionsFolder, "other")
	require.NoError(t, os.Chtimes(filepath.Dir(used), now.Add(-2*keptFor), now.Add(-2*keptFor)))
	use(cache, used, now)
	require.DirExists(t, used)
	require.DirExists(t, other)
	require.NoDirExists(t, old)

	for i := range mostKept {
		entry(time.Duration(i)*time.Minute, compiledFolder, fmt.Sprint(i))
	}
	use(cache, used, now)
	require.DirExists(t, used)
	require.DirExists(t, filepath.Join(cache, compiledFolder, "0"))
	require.NoDirExists(t, filepath.Join(cache, compiledFolder, fmt.Sprint(mostKept-1)))
}
