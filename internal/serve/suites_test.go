package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/serve"
)

// suite is a library's own tests, which are played against simulated servers.
type suite struct {
	module, version string
	args            []string          // of go test
	address         string            // where its tests expect a server: another may stand in its place, unless it begins with =; "" if they start servers themselves
	from, to        string            // what is changed in its tests besides
	slow            bool              // it takes minutes
	fails           map[string]string // which of its tests do not pass, and why
}

var suites = []suite{
	{"github.com/gomodule/redigo", "v1.9.3", []string{"./redis"}, "", "", "", false, map[string]string{
		"TestSlowLog":          "there is no SLOWLOG",
		"TestLatency":          "there is no LATENCY",
		"TestLatencyHistories": "there is no LATENCY",
		"ExampleScan":          "there is no SORT",
		"ExampleScanSlice":     "there is no SORT",
	}},
	{"github.com/bsm/redislock", "v0.9.4", []string{"."}, "127.0.0.1:6379", "", "", false, nil},
	{"github.com/go-redsync/redsync/v4", "v4.18.1", []string{"."}, "", "", "", true, nil},
	{"github.com/redis/rueidis", "v1.0.79", []string{"./rueidislock"}, "127.0.0.1:6379", "", "", true, nil},
	// Its examples print the address of their server; those left out panic, since Redis 7.0 has no CLIENT SETINFO, and this one no SLOWLOG.
	{"github.com/redis/go-redis/v9", "v9.23.0", []string{"-run", "^Example", "-skip", "setInfo|SlowLog", "."}, "=127.0.0.1:6379", "", "", true, nil},
	// It waits for servers by a pattern for dates that ZooKeeper has not written since 3.6.
	{"github.com/go-zookeeper/zk", "v1.0.4", []string{"."}, "", "_, ok := FLWSrvr(serverAddrs, time.Second)",
		"ok := true; for _, is := range FLWRuok(serverAddrs, time.Second) { ok = ok && is }", true,
		map[string]string{"TestIntegration_CreateTTL": "there are no nodes with a time to live"}},
	{kazoo, "2.8.0", []string{"lock", "barrier", "counter", "election", "party", "queue", "lease", "watchers", "client", "connection"}, "", "", "", true,
		map[string]string{"kazoo.tests.test_connection.TestReadOnlyMode.test_read_only": "there is no read-only mode"}},
	{curator, "5.4.0", []string{"locks", "barriers", "shared", "nodes", "queue"}, "", "", "", true, map[string]string{
		"locks.TestInterProcessMultiMutex.testContainerCleanup":                       emptyContainers,
		"locks.TestInterProcessMutex.testContainerCleanup":                            emptyContainers,
		"locks.TestInterProcessSemaphoreMutex.testContainerCleanup":                   emptyContainers,
		"nodes.TestPersistentTtlNode.testBasic":                                       "there are no nodes with a time to live",
		"nodes.TestPersistentTtlNode.testRecreationOfParentNodeWithParentCreationOff": "there are no nodes with a time to live",
		"nodes.TestPersistentTtlNode.testEventsOnParent":                              "there are no nodes with a time to live",
	}},
}

// emptyContainers is why tests fail that set a property of the server that they expect in their own process.
const emptyContainers = "the server looks for empty containers once a minute, and not at once"

// The suites that go test does not play.
const (
	kazoo   = "kazoo"
	curator = "curator"
)

// TestLibrariesPassTheirOwnTests plays the suites of client libraries, and compares which of their tests pass with testdata/suites.txt.
func TestLibrariesPassTheirOwnTests(t *testing.T) {
	long.Only(t)
	const file = "testdata/suites.txt"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	told := map[string]string{}
	for _, paragraph := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n\n") {
		title, results, _ := strings.Cut(paragraph, "\n")
		told[title] = results
	}
	var titles []string
	for _, s := range suites {
		titles = append(titles, s.title())
		t.Run(path.Base(strings.TrimSuffix(strings.TrimSuffix(s.module, "/v4"), "/v9")), func(t *testing.T) {
			if s.slow && long.Pick(0, 0, 1) < 5 {
				t.Skip("played with LONG=5 only")
			}
			play := s.play
			switch s.module {
			case kazoo:
				play = s.playKazoo
			case curator:
				play = s.playCurator
			}
			got := s.report(t, play(t))
			if os.Getenv("UPDATE") != "" {
				told[s.title()] = got
			}
			require.Equal(t, told[s.title()], got)
		})
	}
	if os.Getenv("UPDATE") != "" {
		var b strings.Builder
		for _, title := range titles {
			fmt.Fprintf(&b, "%s\n%s\n\n", title, told[title])
		}
		require.NoError(t, os.WriteFile(file, []byte(strings.TrimSuffix(b.String(), "\n")), 0o600))
	}
	require.ElementsMatch(t, titles, slices.Collect(maps.Keys(told)))
}

func (s *suite) title() string {
	switch s.module {
	case kazoo:
		return fmt.Sprintf("kazoo %s: python3 testdata/kazoo_suite.py %s", s.version, strings.Join(s.args, " "))
	case curator:
		return fmt.Sprintf("curator-recipes %s: org.apache.curator.framework.recipes.{%s}", s.version, strings.Join(s.args, ","))
	}
	return fmt.Sprintf("%s %s: go test -count=1 %s", s.module, s.version, strings.Join(s.args, " "))
}

// report says how many tests pass, and lists those that do not.
func (s *suite) report(t *testing.T, results map[string]string) string {
	t.Helper()
	counts := map[string]int{}
	failed := ""
	for _, name := range slices.Sorted(maps.Keys(results)) {
		counts[results[name]]++
		if results[name] == "fail" {
			test, _, _ := strings.Cut(name, "/")
			failed += fmt.Sprintf("\n%s: %s", name, s.fails[test])
		}
	}
	return fmt.Sprintf("%d pass, %d fail, %d are skipped%s", counts["pass"], counts["fail"], counts["skip"], failed)
}

// playKazoo plays tests of kazoo, which are in Debian's package.
func (s *suite) playKazoo(t *testing.T) map[string]string {
	t.Helper()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import kazoo.tests, pytest; assert kazoo.__version__ == '"+s.version+"'").CombinedOutput(); err != nil {
		t.Skip("needs Debian's packages python3-kazoo and python3-pytest:", string(out))
	}
	w, err := serve.ZooKeeper(1, anywhere(3), 0)
	addresses := served(t, w, err)
	in, lines, err := os.Pipe()
	require.NoError(t, err)
	answers, out, err := os.Pipe()
	require.NoError(t, err)
	_, err = fmt.Fprintln(out, strings.Join(addresses, "\n"))
	require.NoError(t, err)
	go func() { _ = w.Control(t.Context(), in, out) }()
	argv := []string{"testdata/kazoo_suite.py"}
	for _, module := range s.args {
		argv = append(argv, "kazoo.tests.test_"+module)
	}
	test := exec.CommandContext(t.Context(), python, argv...)
	test.ExtraFiles = []*os.File{lines, answers}
	var problems bytes.Buffer
	test.Stderr = &problems
	text, err := test.Output()
	t.Log(problems.String())
	require.NoError(t, err)
	results := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if how, name, ok := strings.Cut(line, " "); ok {
			results[name] = how
		}
	}
	return results
}

// play plays a suite in a copy of its source, and returns how each of its tests ends.
func (s *suite) play(t *testing.T) map[string]string {
	t.Helper()
	folder := s.source(t)
	test := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-trimpath", "-timeout=20m", "-json"}, s.args...)...)
	test.Dir = folder
	test.Env = append(standIns(t), "GOWORK=off", "GOFLAGS=-mod=mod", "GOGC=", "LONG=")
	var problems bytes.Buffer
	test.Stderr = &problems
	out, err := test.Output()
	if len(out) == 0 {
		t.Skip("the suite cannot be built here:", err, problems.String())
	}
	results := map[string]string{}
	said := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var event struct{ Action, Package, Test, Output, FailedBuild string }
		require.NoError(t, d.Decode(&event))
		if event.FailedBuild != "" {
			t.Skip("the suite cannot be built here:", event.FailedBuild, problems.String())
		}
		if event.Action == "output" {
			said[event.Test] += event.Output
		} else if event.Test != "" {
			results[event.Test] = event.Action
		}
	}
	for name, how := range results {
		if how == "fail" {
			t.Log(said[name])
		}
	}
	require.NotEmpty(t, results, said[""])
	return results
}

// standIns returns an environment in which this program is started where a suite starts a server.
func standIns(t *testing.T) []string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"redis-server", "zkServer.sh"} {
		require.NoError(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	return append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ZOOKEEPER_BIN_PATH="+bin, "LOCKSIM_ENSEMBLES="+serveEnsembles(t))
}

// source copies a module's source. Where its tests expect a server stands the address of a simulated one.
func (s *suite) source(t *testing.T) string {
	t.Helper()
	var module struct{ Dir, Error string }
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", s.module+"@"+s.version).Output()
	require.NoError(t, json.Unmarshal(out, &module), "go mod download: %v", err)
	if module.Error != "" {
		t.Skip(module.Error)
	}
	folder := t.TempDir()
	require.NoError(t, exec.Command("cp", "-r", "--no-preserve=mode", module.Dir+"/.", folder).Run())
	var edits []string
	if address, exactly := strings.CutPrefix(s.address, "="); exactly {
		w, err := serve.Redis(1, []string{address}, false)
		if err != nil {
			t.Skip(err)
		}
		served(t, w, nil)
	} else if s.address != "" {
		w, err := serve.Redis(1, anywhere(1), false)
		edits = append(edits, strconv.Quote(s.address), strconv.Quote(served(t, w, err)[0]))
	}
	if s.from != "" {
		edits = append(edits, s.from, s.to)
	}
	files, err := filepath.Glob(filepath.Join(folder, strings.TrimPrefix(s.args[len(s.args)-1], "./"), "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o600))
	}
	return folder
}
