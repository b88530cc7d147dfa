package clients

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// A module that nobody lists cannot be played, and one whose library is not in its go.mod tests something else.
func TestEveryModuleIsInTheCatalogueWithItsLibrary(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	require.NoError(t, err)
	require.Len(t, Catalogue(), len(modules))
	for _, c := range Catalogue() {
		text, err := os.ReadFile(filepath.Join(c.Folder, "go.mod"))
		require.NoError(t, err)
		require.Contains(t, string(text), c.Library+" v")
		require.True(t, Is(c.Lock.Name))
		require.True(t, Is(c.Lock.Name+"@v1.2.3"))
		_, taken := locks.Catalogue().Find(c.Lock.Name)
		require.False(t, taken, "a lock of the catalogue has that name")
	}
	require.False(t, Is("redlock"))
	require.True(t, Is("./redlock"))
}

func TestRebuiltProgramIsTheSame(t *testing.T) {
	folder, err := filepath.Abs("testdata/mine")
	require.NoError(t, err)
	lock, err := declared(folder)
	require.NoError(t, err)
	require.Equal(t, "mine:x", lock.Key(locks.Options{Key: "x"}))
	first, _, err := compile(t.Context(), folder, t.TempDir())
	require.NoError(t, err)
	cache := t.TempDir()
	for range 2 { // the second time it is there already
		again, _, err := compile(t.Context(), folder, cache)
		require.NoError(t, err)
		require.Equal(t, sha256.Sum256(first), sha256.Sum256(again))
	}
}

func TestDeclarationsOfAProgramAreParsedOrRefused(t *testing.T) {
	a, err := parse(strings.Fields("servers=zookeeper key=/locks/{key} deadline=wall token renews"))
	require.NoError(t, err)
	require.Equal(t, "zookeeper", a.Servers)
	require.Equal(t, locks.Queue, a.Authority)
	require.Equal(t, locks.OnWall, a.Deadline)
	require.True(t, a.Token && a.Renews)
	require.Equal(t, "/locks/x", a.Key(locks.Options{Key: "x"}))

	a, err = parse([]string{"key=0:{key},1:{key},2:{key}"})
	require.NoError(t, err)
	require.Equal(t, locks.MostKeys, a.Authority)
	require.Equal(t, []string{"0:x", "1:x", "2:x"}, a.Keys(locks.Options{Key: "x"}))

	a, err = parse([]string{"authority=majority", "sentinel", "cluster", "connects"})
	require.NoError(t, err)
	require.True(t, a.Sentinel && a.Cluster && a.Connects)

	a, err = parse([]string{"servers=consul"})
	require.NoError(t, err)
	require.Equal(t, locks.OneNode, a.Authority)
	require.Equal(t, "session", a.Identity)
	require.Nil(t, a.Key)

	a, err = parse([]string{"servers=etcd"})
	require.NoError(t, err)
	require.Equal(t, locks.Queue, a.Authority)
	require.Equal(t, "lease", a.Identity)
	require.Nil(t, a.Key)

	a, err = parse([]string{"servers=etcd", "authority=one-node", "key=locks/{key}"})
	require.NoError(t, err)
	require.Equal(t, locks.OneNode, a.Authority)
	require.Equal(t, "locks/x", a.Key(locks.Options{Key: "x"}))

	a, err = parse(nil)
	require.NoError(t, err)
	require.Equal(t, locks.OneNode, a.Authority)
	require.Nil(t, a.Key)

	for _, c := range []struct{ words, problem string }{
		{"server=redis", `there is no "server"; want servers=redis|zookeeper`},
		{"servers=chubby", `servers cannot be "chubby"`},
		{"authority=quorum", `authority cannot be "quorum"`},
		{"token=yes", `token cannot be "yes"`},
		{"sentinel=mymaster", `sentinel cannot be "mymaster"`},
		{"servers=zookeeper cluster", "sentinel, cluster and connects are of clients of Redis"},
		{"servers=consul sentinel", "sentinel, cluster and connects are of clients of Redis"},
		{"servers=redis authority=queue", "no such authority is on servers of the kind redis"},
		{"servers=zookeeper authority=majority", "no such authority is on servers of the kind zookeeper"},
		{"authority=majority key=a,b,c", "several keys are of a lock on one Redis server"},
	} {
		_, err := parse(strings.Fields(c.words))
		require.ErrorContains(t, err, c.problem, c.words)
	}
}

func TestTheCompilersComplaintsOfALibraryAreTheLibrarys(t *testing.T) {
	require.Equal(t, "example.test/lib/term", stranger("# example.test/lib/term\n"+
		"../pkg/mod/example.test/lib@v1.2.3/term/term.go:8:2: undefined: syscall.TCGETS"))
	require.Empty(t, stranger("# example.test/mine\n./main.go:8:2: undefined: nobody"))
}

func TestVersionsAreWhatTheGoCommandTakes(t *testing.T) {
	versions := []string{"v4.15.0", "v0.9.4", "v1.0.0-rc.1", "76760bd"}
	require.False(t, slices.ContainsFunc(versions, func(v string) bool { return !versionPattern.MatchString(v) }))
	for _, v := range []string{"", "nine", "v", "../x", "v1=>evil", "-x"} {
		require.False(t, versionPattern.MatchString(v), v)
	}
}

// In a go.mod that is not tidied every requirement is marked as indirect.
func TestTheLibrariesOfAProgramAreThoseThatItImports(t *testing.T) {
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	mine := t.TempDir()
	_, err = assemble(here, "redislock", mine, func(_, text string) string { return text })
	require.NoError(t, err)
	mine = filepath.Join(mine, "redislock")
	file := filepath.Join(mine, "go.mod")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	untidy := regexp.MustCompile(`(?m)^(\t\S+ v\S+)$`).ReplaceAll(text, []byte("$1 // indirect"))
	require.NotEqual(t, text, untidy)
	require.NoError(t, os.WriteFile(file, untidy, 0o600))
	tools, err := findGo()
	require.NoError(t, err)
	modules, err := tools.survey(t.Context(), mine)
	require.NoError(t, err)
	require.Len(t, modules, 2)
	require.Contains(t, modules[0], "github.com/redis/go-redis/v9 v9.")
	require.Contains(t, modules[1], "github.com/bsm/redislock v0.")
}

// TestLibrariesAreComparedWithTheirOwnAlgorithm has a renewal lead away from it only where the algorithm does not renew.
func TestLibrariesAreComparedWithTheirOwnAlgorithm(t *testing.T) {
	want := map[string][2]string{ // without a renewal and with one
		"redsync": {"redlock-parallel", "redlock-extend"}, "redsync-redigo": {"redlock-parallel", "redlock-extend"},
		"redislock": {"set-nx-lua", "watchdog"}, "redislock-token": {"set-nx-lua", "watchdog"}, "rueidislock": {"watchdog", "watchdog"},
		"go-zookeeper": {"zk-sequential", "zk-sequential"},
		"etcd-mutex":   {"etcd", "etcd"}, "consul-api": {"consul", "consul"}, "dynamolock": {"dynamodb", "dynamodb"},
		"aws-sdk-s3": {"s3-lockfile", ""}, "client-go": {"k8s-lease", "k8s-lease"},
		"client-go-release": {"k8s-release-on-cancel", "k8s-release-on-cancel"},
	}
	for _, c := range Catalogue() {
		references := [2]string{locks.ReferenceOf(&c.Lock, false), locks.ReferenceOf(&c.Lock, true)}
		require.Equal(t, want[c.Lock.Name], references, c.Lock.Name)
	}
}
