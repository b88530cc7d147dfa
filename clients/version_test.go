package clients

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"

	"github.com/locksim/locksim/internal/long"
)

// Several processes may want the same version at once, and one may build while another begins.
func TestACopyWithAnotherVersionIsMadeOnce(t *testing.T) {
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	client, _ := find("redislock")
	cache, copies := t.TempDir(), make([]string, 3)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() {
			var err error
			copies[i], err = client.withVersion(t.Context(), here, "v0.9.4", cache)
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

	again, err := client.withVersion(t.Context(), here, "v0.9.4", cache)
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
	write := func(name, text string) {
		name = filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	digest := func() string {
		work := t.TempDir()
		sum, err := assemble(filepath.Join(folder, "clients"), "client", work, func(_, text string) string { return text })
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(work, "client", "go.mod"))
		require.NoError(t, err)
		require.Equal(t, "replace a => "+folder+"\nreplace b => ../beside\n", string(text))
		require.FileExists(t, filepath.Join(work, "beside", "lock.go"))
		return string(sum)
	}
	write("go.mod", "module a\n")
	write("clients/client/go.mod", "replace a => ../..\nreplace b => ../beside\n")
	write("clients/client/main.go", "package main\n")
	write("clients/beside/lock.go", "package lock\n")
	seen := map[string]bool{digest(): true}
	require.True(t, seen[digest()])
	for _, change := range [][2]string{
		{"clients/client/main.go", "package main // changed\n"}, {"clients/client/lock/lock.go", "package lock\n"},
		{"clients/beside/lock.go", "package lock // changed\n"}, {"go.mod", "module a // changed\n"},
	} {
		write(change[0], change[1])
		now := digest()
		require.False(t, seen[now], change[0])
		seen[now] = true
	}
}

// What a text is replaced in must be in the source, or an older version is built without what it needs.
func TestSourcesAreRewrittenForOlderVersions(t *testing.T) {
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	for _, c := range Catalogue() {
		require.NotEmpty(t, c.Versions(), c.Lock.Name)
		require.True(t, slices.IsSortedFunc(c.Versions(), semver.Compare), c.Lock.Name)
		in := t.TempDir()
		_, err := assemble(here, c.Folder, in, func(_, text string) string { return text })
		require.NoError(t, err)
		source := ""
		require.NoError(t, filepath.WalkDir(in, func(file string, _ fs.DirEntry, err error) error {
			if filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") {
				text, err := os.ReadFile(file)
				source += string(text)
				return err
			}
			return err
		}))
		for _, o := range c.older {
			for i := 0; i < len(o.replace); i += 2 {
				if c.Lock.Name == "redsync-redigo" && strings.Contains(o.replace[i], "redis/") {
					continue // it has another client of Redis
				}
				require.Contains(t, source, o.replace[i], "%s before %s", c.Lock.Name, o.before)
			}
			source = strings.NewReplacer(o.replace...).Replace(source)
		}
	}
	client, _ := find("redsync")
	require.Contains(t, client.unlisted("redsync@v4.3.0"), "list locks")
	require.Empty(t, client.unlisted("redsync@v4.4.3")+client.unlisted("redsync"))
	require.Equal(t, goRedis, client.asOf("v4.8.0", "main.go", goRedis))
	require.Equal(t, goRedis8, client.asOf("v4.7.1", "main.go", goRedis))
	require.Equal(t, goRedis8, client.asOf("v4.4.3", "main.go", goRedis))
	require.Equal(t, goRedis, client.asOf("1a2b3c4", "main.go", goRedis), "of a commit nothing is known")
	client, _ = find("client-go")
	require.Equal(t, "require (\n\ta v1\n)\n", client.asOf("v0.30.0", "go.mod", "require (\n\ta v1\n\tb v2 // indirect\n)\n"))
}

// A release of each client that its source is rewritten for, or that needs modules of its own version, is built and played.
func TestOldReleasesAreBuilt(t *testing.T) {
	long.Only(t)
	list := []string{"redsync@v4.4.3", "redislock@v0.7.2", "redsync-redigo@v4.7.1"}
	if long.Pick(0, 0, 1) >= 5 {
		list = append(list, "redsync@v4.10.0", "redislock@v0.8.2", "redislock@v0.10.0", "redislock-token@v0.9.3", "go-zookeeper@v1.0.1",
			"rueidislock@v1.0.0", "consul-api@v1.12.0", "dynamolock@v2.0.2", "aws-sdk-s3@v1.60.1", "client-go@v0.23.0")
	}
	for _, name := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock, err := Build(t.Context(), name)
			if err != nil && strings.Contains(err.Error(), "cannot be had in version") {
				t.Skip(err)
			}
			require.NoError(t, err)
			_, version, _ := strings.Cut(name, "@")
			require.Contains(t, lock.Source, version)
		})
	}
}
