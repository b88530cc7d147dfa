package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// ready is a program of the folder programs, and what it is played with.
type ready struct {
	folder  string // in programs
	library string
	stories string // the kinds of stories that it can play
	needs   []string
	argv    []string // from this package's folder
}

const programs = "../../programs/"

var readyPrograms = []ready{
	{"ioredis", "by hand, ioredis 5.8.2", "one", nil, []string{"node", programs + "ioredis/client.js"}},
	{"redis-lock", "redis-lock 1.0.0", "one", nil, []string{"node", programs + "redis-lock/client.js"}},
	{"warlock", "node-redis-warlock 1.0.2", "one", nil, []string{"node", programs + "warlock/client.js"}},
	{"redis-py", "redis-py 4.3.4, Lock", "one", []string{"/usr/bin/python3", "-c", "import redis; assert redis.__version__ == '4.3.4'"},
		[]string{"/usr/bin/python3", programs + "redis-py/client.py"}},
	{"symfony-lock", "Symfony Lock 5.4, RedisStore", "one", []string{"php", "-r", `require "/usr/share/php/Symfony/Component/Lock/autoload.php"; new Redis();`},
		[]string{"php", programs + "symfony-lock/client.php"}},
	{"redis-semaphore", "redis-semaphore 5.8.0", "one several", nil, []string{"node", programs + "redis-semaphore/client.js"}},
	{"redlock-4", "node-redlock 4.2.0", "one several", nil, []string{"node", programs + "redlock-4/client.js"}},
	{"redlock-5", "node-redlock 5.0.0-beta.2", "one several", nil, []string{"node", programs + "redlock-5/client.js"}},
	{"kazoo", "kazoo 2.8.0, Lock", "zookeeper", []string{"/usr/bin/python3", "-c", "import kazoo; assert kazoo.__version__ == '2.8.0'"},
		[]string{"/usr/bin/python3", programs + "kazoo/client.py"}},
	{"curator", "Curator 5.4.0, InterProcessMutex", "zookeeper", []string{"test", "-e", "/usr/share/java/curator-recipes-5.4.0.jar"},
		[]string{"java", "-cp", curatorClasses, programs + "curator/Client.java"}},
	{"pymemcache", "by hand, pymemcache 3.5.2", "memcached", []string{"/usr/bin/python3", "-c", "import pymemcache; assert pymemcache.__version__ == '3.5.2'"},
		[]string{"/usr/bin/python3", programs + "pymemcache/client.py"}},
	{"symfony-memcached", "Symfony Lock 5.4, MemcachedStore", "memcached", []string{"php", "-r", `require "/usr/share/php/Symfony/Component/Lock/autoload.php"; new Memcached();`},
		[]string{"php", programs + "symfony-memcached/client.php"}},
	{"python-consul", "by hand, python-consul 0.7.1", "consul", []string{"/usr/bin/python3", "-c", "import consul; assert consul.__version__ == '0.7.1'"},
		[]string{"/usr/bin/python3", programs + "python-consul/client.py"}},
	{"etcd", "by hand, the gateway's JSON", "etcd", nil, []string{"/usr/bin/python3", programs + "etcd/client.py"}},
	{"etcd-lock-service", "etcd 3.4, its service for locks", "etcd", nil, []string{"/usr/bin/python3", programs + "etcd-lock-service/client.py"}},
	{"boto3", "by hand, boto3 1.26.27", "dynamodb", []string{"/usr/bin/python3", "-c", "import boto3; assert boto3.__version__ == '1.26.27'"},
		[]string{"/usr/bin/python3", programs + "boto3/client.py"}},
}

const curatorClasses = programs + "curator/classes:/usr/share/java/curator-recipes.jar:/usr/share/java/curator-framework.jar:" +
	"/usr/share/java/curator-client.jar:/usr/share/java/zookeeper.jar:/usr/share/java/zookeeper-jute.jar:/usr/share/java/guava.jar:" +
	"/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar:/usr/share/java/netty-all.jar"

// playedStories are the columns of the tables, by what kind of program can play them.
var playedStories = []struct {
	kind, title string
	args        []string
}{
	{"one", "lease-overrun", []string{"lease-overrun", "--variant", "lease-10s-work-12s", "--fencing", "none"}},
	{"one", "failover-lost-key", []string{"failover-lost-key", "--variant", "lagging-link"}},
	{"one", "late-release", []string{programs + "testdata/late-release.yaml"}},
	{"one", "long-wait", []string{programs + "testdata/long-wait.yaml"}},
	{"several", "redlock-crash-restart", []string{"redlock-crash-restart", "--fencing", "none"}},
	{"several", "redlock-gc-pause", []string{"redlock-gc-pause", "--style", "careless", "--fencing", "none"}},
	{"several", "redlock-py-silent-node", []string{"redlock-py-silent-node", "--variant", "redlock-py"}},
	{"several", "split-vote-silent", []string{programs + "testdata/split-vote-silent.yaml"}},
	{"zookeeper", "zk-gc-pause", []string{"zk-gc-pause", "--variant", "new-holder-writes-first", "--style", "careless", "--fencing", "none"}},
	{"zookeeper", "zk-holder-crash", []string{"zk-holder-crash", "--variant", "process"}},
	{"memcached", "memcached-eviction", []string{"memcached-eviction", "--fencing", "none"}},
	{"memcached", "memcached-restart", []string{"memcached-restart", "--fencing", "none"}},
	{"memcached", "late-delete", []string{programs + "testdata/late-delete.yaml"}},
	{"consul", "consul-lock-delay", []string{"consul-lock-delay", "--variant", "delayed", "--style", "careless"}},
	{"consul", "consul-lock-delay-lost", []string{"consul-lock-delay-lost", "--variant", "snapshot", "--fencing", "none"}},
	{"etcd", "etcd-lease-expired", []string{"etcd-lease-expired", "--fencing", "none"}},
	{"etcd", "etcd-lock-after-lease-lost", []string{"etcd-lock-after-lease-lost", "--variant", "read-again"}},
	{"dynamodb", "dynamodb-owner-paused", []string{"dynamodb-owner-paused", "--fencing", "none"}},
	{"dynamodb", "dynamodb-lost-put", []string{"dynamodb-lost-put"}},
}

// TestVerdictsOfReadyMadePrograms compares the tables of programs/VERDICTS.md with what is found: those of every third program, of all with LONG=3
// and when they are updated.
func TestVerdictsOfReadyMadePrograms(t *testing.T) {
	long.Only(t)
	needPython(t)
	var lock sync.Mutex
	cells := make(map[string]string)
	t.Run("play", func(t *testing.T) {
		for i, p := range readyPrograms {
			if i%long.Every(3, 3) != 0 && os.Getenv("UPDATE") == "" {
				continue
			}
			t.Run(p.folder, func(t *testing.T) {
				t.Parallel()
				p.install(t)
				for _, story := range playedStories {
					if !strings.Contains(p.stories, story.kind) {
						continue
					}
					found := foundIn(t, append(append(append([]string{"run"}, story.args...), "--format", "json", "--"), p.argv...))
					lock.Lock()
					cells[p.folder+" "+story.title] = found
					lock.Unlock()
				}
			})
		}
	})
	const file = programs + "VERDICTS.md"
	text, err := os.ReadFile(file)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(verdictTables(cells)), 0o600))
		return
	}
	require.NoError(t, err)
	told := cellsOf(string(text))
	require.Len(t, told, len(cellsOf(verdictTables(nil))))
	for where, found := range cells { // those of programs that cannot be installed here are left out
		require.Equal(t, told[where], found, "%s; UPDATE=1 LONG=1 go test ./cmd/locksim -run %s", where, t.Name())
	}
}

// TestStoriesForReadyMadeProgramsHoldWithTheirLocks plays the twins of what is found: a lock without the mistake.
func TestStoriesForReadyMadeProgramsHoldWithTheirLocks(t *testing.T) {
	files, err := filepath.Glob(programs + "testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	findings, err := os.ReadFile(programs + "FINDINGS.md")
	require.NoError(t, err)
	for _, file := range files {
		code, out, problems := said(t, "run", file, "--no-margin")
		require.Equal(t, exitOK, code, "%s\n%s", out, problems)
		require.Contains(t, string(findings), filepath.Base(file), "the argument from the library's source is missing")
	}
}

// TestALeaseIsLostOverASlowLink plays redis-semaphore with its own interval of renewals, and with a shorter one; and the simulator's lock with
// that of the library.
func TestALeaseIsLostOverASlowLink(t *testing.T) {
	long.Only(t)
	needPython(t)
	p := readyPrograms[slices.IndexFunc(readyPrograms, func(p ready) bool { return p.folder == "redis-semaphore" })]
	p.install(t)
	text, err := os.ReadFile(p.argv[1])
	require.NoError(t, err)
	shorter := filepath.Join(filepath.Dir(p.argv[1]), "locksim.shorter.js") // beside what is installed, and ignored by git
	require.NoError(t, os.WriteFile(shorter, bytes.Replace(text, []byte("onLockLost:"), []byte("refreshInterval: config.ttl_ms / 3, onLockLost:"), 1), 0o600))
	t.Cleanup(func() { _ = os.Remove(shorter) })
	story := []string{"run", programs + "testdata/slow-link.yaml", "--no-margin"}
	for want, more := range map[string][]string{
		`silent-loss +violated .*without a fault\n`: {"--", "node", p.argv[1]},
		`silent-loss +not-seen`:                     {"--", "node", shorter},
		`silent-loss +violated`:                     {"--set", "lock.renew=1600ms"},
	} {
		_, out, _ := said(t, append(slices.Clone(story), more...)...)
		require.Regexp(t, want, out)
	}
}

// TestThePageForEachLanguage plays the programs that docs/languages.md prints, in a folder with nothing but the file of the SDK.
func TestThePageForEachLanguage(t *testing.T) {
	long.Only(t)
	needPython(t)
	page, err := os.ReadFile("../../docs/languages.md")
	require.NoError(t, err)
	for _, c := range []struct {
		language, sdk, file string
		needs, argv         []string
	}{
		{"python", "python/locksim.py", "client.py", []string{"/usr/bin/python3", "-c", "import redis"}, []string{"/usr/bin/python3", "client.py"}},
		{"javascript", "javascript/locksim.js", "client.js", []string{"npm", "install", "--no-audit", "--no-fund", "ioredis"}, []string{"node", "client.js"}},
		{"ruby", "ruby/locksim.rb", "client.rb", []string{"ruby", "-e", "require 'redis'"}, []string{"ruby", "client.rb"}},
		{"php", "php/locksim.php", "client.php", []string{"php", "-r", "new Redis();"}, []string{"php", "client.php"}},
		{"cpp", "cpp/locksim.hpp", "client.cpp", []string{"g++", "-std=c++17", "client.cpp", "-lhiredis", "-o", "client"}, []string{"./client"}},
		{"sh", "", "client.sh", []string{"sh", "-c", "command -v redis-cli && command -v curl"}, []string{"sh", "client.sh"}},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Chdir(t.TempDir())
			printed := regexp.MustCompile("(?ms)^( *)```" + c.language + "\n(.*?)^ *```").FindSubmatch(page)
			text := regexp.MustCompile("(?m)^"+string(printed[1])).ReplaceAll(printed[2], nil)
			require.NoError(t, os.WriteFile(c.file, text, 0o600))
			if c.sdk != "" {
				require.NoError(t, os.WriteFile(filepath.Base(c.sdk), sdkFile(t, c.sdk), 0o600))
			}
			if out, err := exec.Command(c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s: %s\n%s", strings.Join(c.needs, " "), err, out)
			}
			args := []string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--fencing", "none", "--format", "json", "--"}
			require.Equal(t, "two holders", foundIn(t, append(args, c.argv...)))
		})
	}
}

// sdkFile reads a file of the folder sdk, wherever the test stands.
func sdkFile(t *testing.T, name string) []byte {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../sdk", name))
	require.NoError(t, err)
	return text
}

// install brings what the program needs, as its README says.
func (p *ready) install(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(p.argv[0]); err != nil {
		t.Skip(p.argv[0], "is not installed")
	}
	if len(p.needs) > 0 {
		if out, err := exec.Command(p.needs[0], p.needs[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s is not installed: %s %s", p.library, err, out)
		}
	}
	folder := filepath.Join(programs, p.folder)
	sdk := map[string]string{"node": "javascript/locksim.js", "php": "php/locksim.php", "/usr/bin/python3": "python/locksim.py", "java": "java/Locksim.java"}[p.argv[0]]
	require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(sdk)), sdkFile(t, sdk), 0o600))
	var build *exec.Cmd
	switch p.argv[0] {
	case "node":
		build = exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	case "java":
		build = exec.Command("javac", "-d", "classes", "Locksim.java")
	default:
		return
	}
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("%s cannot be installed: %s\n%s", p.library, err, out)
	}
}

// foundIn plays a story, and says in a few words what was violated.
func foundIn(t *testing.T, args []string) string {
	t.Helper()
	_, out, problems := said(t, args...)
	var report struct {
		Runs []struct {
			Verdicts map[string]string
			Measures map[string]int64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report), "%s: %s", strings.Join(args, " "), problems)
	require.Len(t, report.Runs, 1)
	verdicts := report.Runs[0].Verdicts
	var found []string
	unknown := false
	for _, c := range []struct{ property, words string }{
		{"mutual-exclusion", "two holders"}, {"release-safety", "releases another's lock"}, {"progress", "waits in vain"},
		{"survival", "the program ends"},
	} {
		switch verdicts[c.property] {
		case "violated":
			found = append(found, c.words)
		case "unknown":
			unknown = true
		}
	}
	if report.Runs[0].Measures["acted-outside-belief"] > 0 {
		found = append(found, "an expired lease")
	}
	switch {
	case unknown && len(found) > 0:
		found = append(found, "the rest is unknown")
	case unknown:
		return "unknown"
	case len(found) > 0:
	case verdicts["mutual-exclusion"] == "vacuous":
		return "never near"
	default:
		return "–"
	}
	return strings.Join(found, ", ")
}

// verdictTables writes the document.
func verdictTables(cells map[string]string) string {
	var b strings.Builder
	b.WriteString("<!-- Written by UPDATE=1 LONG=1 go test ./cmd/locksim -run TestVerdictsOfReadyMadePrograms; do not edit. -->\n\n" +
		"# What was found of libraries in named stories\n\n" +
		"Each cell is one run of a [ready-made program](README.md), with the seed 1, careless clients, and a resource that does not fence: what\n" +
		"was violated of mutual-exclusion, release-safety, progress and survival. A dash is that none of them was, which is no promise; an\n" +
		"expired lease is one that had ended by its own deadline when the library returned it; never near is that nobody asked for\n" +
		"the lock while another client held it; unknown is that a library waited for a connection to a server that it cannot reach, for\n" +
		"longer than its limit on that may be, which [cannot pass here](../docs/languages.md#how-time-goes).\n" +
		"[FINDINGS.md](FINDINGS.md) explains the cells from the libraries' source. What every lock of its kind does is no defect of a library:\n" +
		"two holders after a pause, after an overrun of a lease that is not renewed, and after a failover that lost the key.\n")
	for _, table := range []struct{ kind, title string }{
		{"one", "Locks on one Redis server"}, {"several", "Redlock on several Redis servers"}, {"zookeeper", "Locks on ZooKeeper"},
		{"memcached", "Locks on memcached"}, {"consul", "Locks on Consul"}, {"etcd", "Locks on etcd"}, {"dynamodb", "Locks in DynamoDB"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| library |", table.title)
		rule := "|---|"
		for _, story := range playedStories {
			if story.kind == table.kind {
				fmt.Fprintf(&b, " %s |", story.title)
				rule += "---|"
			}
		}
		b.WriteString("\n" + rule + "\n")
		for _, p := range readyPrograms {
			if !strings.Contains(p.stories, table.kind) {
				continue
			}
			fmt.Fprintf(&b, "| [%s](%s) |", p.library, p.folder)
			for _, story := range playedStories {
				if story.kind == table.kind {
					fmt.Fprintf(&b, " %s |", cells[p.folder+" "+story.title])
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// cellsOf reads the tables.
func cellsOf(text string) map[string]string {
	cells := make(map[string]string)
	var titles []string
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Split(strings.Trim(line, "|"), "|")
		switch folder := strings.TrimSuffix(strings.TrimSpace(fields[0]), ")"); {
		case strings.HasPrefix(line, "| library"):
			titles = fields
		case strings.HasPrefix(line, "| ["):
			for i, cell := range fields[1:] {
				cells[folder[strings.LastIndexByte(folder, '(')+1:]+" "+strings.TrimSpace(titles[i+1])] = strings.TrimSpace(cell)
			}
		}
	}
	return cells
}
