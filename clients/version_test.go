package clients

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Several processes may want the same version at once, and one may build while another begins.
func TestACopyWithAnotherVersionIsMadeOnce(t *testing.T) {
	folder, err := filepath.Abs("redislock")
	require.NoError(t, err)
	cache, copies := t.TempDir(), make([]string, 3)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() {
			var err error
			copies[i], err = withVersion(t.Context(), folder, "github.com/bsm/redislock", "v0.9.4", cache)
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	made := copies[0]
	require.Equal(t, []string{made, made, made}, copies)
	file := filepath.Join(made, "go.mod")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "replace github.com/bsm/redislock => github.com/bsm/redislock v0.9.4")
	before, err := os.Stat(file)
	require.NoError(t, err)

	again, err := withVersion(t.Context(), folder, "github.com/bsm/redislock", "v0.9.4", cache)
	require.NoError(t, err)
	require.Equal(t, made, again)
	after, err := os.Stat(file)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "it was made again")
	entries, err := os.ReadDir(filepath.Join(cache, versionsFolder))
	require.NoError(t, err)
	require.Len(t, entries, 1, "something is left of how it was made")
}

// A copy is of use for as long as nothing has changed of which it was made.
func TestTheDigestOfACopyTellsWhatItWasMadeOf(t *testing.T) {
	folder := t.TempDir()
	client := filepath.Join(folder, "client")
	write := func(name, text string) {
		name = filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	digest := func() string {
		work := t.TempDir()
		require.NoError(t, os.CopyFS(work, os.DirFS(client)))
		sum, err := settle(client, work)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(work, "go.mod"))
		require.NoError(t, err)
		require.Equal(t, "replace a => "+folder+"\n", string(text))
		return string(sum)
	}
	write("go.mod", "module a\n")
	write("client/go.mod", "replace a => ../\n")
	write("client/main.go", "package main\n")
	seen := map[string]bool{digest(): true}
	require.True(t, seen[digest()])
	for _, change := range [][2]string{
		{"client/main.go", "package main // changed\n"}, {"client/lock/lock.go", "package lock\n"}, {"go.mod", "module a // changed\n"},
	} {
		write(change[0], change[1])
		now := digest()
		require.False(t, seen[now], change[0])
		seen[now] = true
	}
}
