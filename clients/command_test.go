package clients_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/locks"
)

// TestCommandsSayWhatKindOfLockTheyBring reads directives in comments of other languages than Go.
func TestCommandsSayWhatKindOfLockTheyBring(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("programs are given virtual time on Linux and amd64 only")
	}
	o := locks.Options{Key: "orders"}
	for text, want := range map[string]struct {
		key, servers, problem string
		authority             locks.Authority
	}{
		"":                                     {key: "", authority: locks.Majority},
		"print('locksim:lock')":                {key: "", authority: locks.Majority},
		"# locksim:lock key=lock:{key}":        {key: "lock:orders", authority: locks.OneNode},
		"  // locksim:lock authority=majority": {key: "", authority: locks.Majority},
		"/* locksim:lock servers=zookeeper key=/l/{key} */": {key: "/l/orders", servers: "zookeeper", authority: locks.Queue},
		"-- locksim:lock authority=all":                     {problem: `client.x:2: //locksim:lock: authority cannot be "all"`},
		"# locksim:lock sentinel":                           {authority: locks.OneNode},
	} {
		file := filepath.Join(t.TempDir(), "client.x")
		require.NoError(t, os.WriteFile(file, []byte("first line\n"+text+"\nlast line\n"), 0o600))
		lock, declared, err := clients.Command([]string{"cat", file})
		if want.problem != "" {
			require.ErrorContains(t, err, want.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, strings.Contains(text, "locksim:lock") && !strings.Contains(text, "print"), declared)
		require.Equal(t, want.authority, lock.Authority, text)
		require.Equal(t, "cat "+file, lock.Name)
		require.True(t, lock.Varies())
		if want.key != "" {
			require.Equal(t, want.key, lock.Key(o))
		}
		if want.servers != "" {
			require.Equal(t, want.servers, lock.Servers)
		}
	}
}
