package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// python is a program with the lock of lease-overrun.
var python = []string{"python3", "../../internal/command/testdata/lease.py"}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(python[0]); err != nil {
		t.Skip(err)
	}
	if runtime.GOOS != "linux" || !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
		t.Skip("programs are given virtual time on Linux only")
	}
}

func TestAProgramIsRunInPlaceOfAScenariosLock(t *testing.T) {
	long.NotShort(t)
	needPython(t)
	t.Parallel()
	run := append([]string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--fencing", "none", "--"}, python...)
	code, out, problems := said(t, run...)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, problems, "the program itself, its runtime and its libraries; simulated are network, servers")
	require.Contains(t, out, "Two believed to hold the lock at once, and the resource was damaged")
	require.Contains(t, out, "exclusion-at-service  not-seen")
	require.Contains(t, out, "reproduce: locksim run lease-overrun --variant lease-3s-work-4s --fencing none --seed 0x1 -- "+
		"python3 ../../internal/command/testdata/lease.py")
	code, out, _ = said(t, append([]string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--fencing", "none", "--format", "json", "--"}, python...)...)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, out, `"not-seen"`)
}

// TestAScenarioOfAProgram is one that names the program as its lock: its expectations count, and it is run only if asked for.
func TestAScenarioOfAProgram(t *testing.T) {
	long.NotShort(t)
	needPython(t)
	const file = "testdata/program.yaml"
	code, out, problems := said(t, append([]string{"run", file, "--style", "careful", "--"}, python...)...)
	require.Equal(t, exitOK, code, "%s\n%s", out, problems)
	require.NotContains(t, out, "≠")
	code, _, problems = said(t, "run", file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, problems, "is a program, which is run only if you say so: add -- python3 ../../internal/command/testdata/lease.py")
}

// TestAProgramIsRunOnRealServers reports which servers these were, and takes nothing of it for the simulation's.
func TestAProgramIsRunOnRealServers(t *testing.T) {
	needPython(t)
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed; on Debian: apt-get install redis-server")
	}
	run := []string{"run", "lease-overrun", "--variant", "lease-3s-work-4s", "--set", "lock.ttl=1s", "--set", "a.work=2s", "--set", "b.work=1500ms", "--fencing", "none", "--real"}
	program := append([]string{"--"}, python...)
	code, out, problems := said(t, append(slices.Clip(run), program...)...)
	require.Equal(t, exitDiffers, code, problems)
	require.Contains(t, problems, "on real servers of this machine and by its clocks, so that runs take as long as they say: all of them at most 1m0s")
	require.Contains(t, out, "Two believed to hold the lock at once, and the resource was damaged")
	require.Contains(t, out, "on redis-server ")
	require.Regexp(t, `the program and the servers \(redis-server\s+\S+\)\s+are\s+real`, out)
	require.Contains(t, out, "--fencing none --real -- python3 ../../internal/command/testdata/lease.py")
	require.NotContains(t, out, "exclusion-at-service")
	require.NotContains(t, out, "seed")
	code, out, problems = said(t, append(append(slices.Clip(run), "--format", "json", "--set", "lock.ttl=20s", "--set", "a.work=100ms", "--seeds", "2"), program...)...)
	require.Equal(t, exitOK, code, problems)
	require.Contains(t, out, `"survival":"not-seen"`)
	require.Contains(t, out, `"real_servers":"redis-server `)
	require.Equal(t, 2, strings.Count(out, `"real_servers"`))
}

func TestProgramsThatCannotBeRunAreRefused(t *testing.T) {
	for problem, args := range map[string][]string{
		"no program follows --; want a command, such as -- node client.js":          {"run", "lease-overrun", "--"},
		"list: it plays no program, but -- is followed by 'node client.js'":         {"list", "--", "node", "client.js"},
		"the lock true x needs Redis, but the servers of zk-gc-pause are ZooKeeper": {"fuzz", "zk-gc-pause", "--", "true", "x"},
		"--lock redlock and the program true x are two locks; want one":             {"run", "lease-overrun", "--lock", "redlock", "--", "true", "x"},
		"the lock true x needs Redis, but the servers of zk-gc-pause":               {"run", "zk-gc-pause", "--", "true", "x"},
		"for the lock of that name leave out the --":                                {"fuzz", "--", "redlock"},
		"--real plays a program on real servers: want one behind --":                {"run", "lease-overrun", "--real"},
		"--time=jump: on real servers time is real":                                 {"run", "lease-overrun", "--real", "--", "--time=jump", "true"},
		"want locksim run NAME --real -- COMMAND":                                   {"fuzz", "--real", "--", "true", "x"},
		"--format junit plays what is not as expected again":                        {"run", "lease-overrun", "--real", "--format", "junit", "--", "true", "x"},
		"no-such-program":             {"run", "lease-overrun", "--", "no-such-program"},
		"control characters":          {"run", "lease-overrun", "--", "sh", "-c", "a\nb"},
		"before it asks for the lock": {"fuzz", "--", "true", "x"},
		"exits with status 0, before": {"run", "lease-overrun", "--", "true", "x"},
	} {
		code, _, problems := said(t, args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, problems, problem)
	}
	needPython(t)
	code, _, problems := said(t, append([]string{"run", "cluster-minority-master", "--real", "--"}, python...)...)
	require.Equal(t, exitInconclusive, code)
	require.Equal(t, "locksim: cluster-minority-master on real servers: servers: no cluster is started\n", problems)
}

// TestAProgramIsFuzzed finds what a program with a lease does when it is paused, and plays the finding again by the line that is
// printed; the same program without faults violates nothing.
func TestAProgramIsFuzzed(t *testing.T) {
	needPython(t)
	found := t.TempDir()
	code, out, problems := said(t, append([]string{"fuzz", "--faults", "none", "--runs", "2", "--save", found, "--"}, python...)...)
	require.Equal(t, exitOK, code, problems)
	require.Regexp(t, `mutual-exclusion +not-seen in 2 runs`, out)
	require.NotContains(t, out, "no violation")
	long.Only(t)
	line := append([]string{"fuzz", "--faults", "client-pause", "--stop-at-first", "--property", "resource", "--save", found, "--"}, python...)
	code, out, problems = said(t, line...)
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
}

// TestAProgramWithoutAnySDKIsLearnedToo changes a script in what locksim is not told. The one that cannot reach the resource is refused in
// its own words.
func TestAProgramWithoutAnySDKIsLearnedToo(t *testing.T) {
	long.Only(t)
	needPython(t)
	for _, tool := range []string{"redis-cli", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	source, err := os.ReadFile(programs + "shell/client.sh")
	require.NoError(t, err)
	script := func(from, to string) string {
		file := filepath.Join(t.TempDir(), "client.sh")
		changed := strings.ReplaceAll(string(source), from, to)
		require.NotEqual(t, string(source), changed)
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
		return file
	}
	lock, _, err := clients.Command([]string{"sh", script(`"$LOCKSIM_KEY"`, `"app:$LOCKSIM_KEY"`)})
	require.NoError(t, err)
	lock = search.Learn(t.Context(), lock)
	require.Equal(t, locks.OneNode, lock.Authority)
	require.NotNil(t, lock.Key)
	require.Equal(t, "app:orders", lock.Key(locks.Options{Key: "orders"}))
	require.Zero(t, lock.Life)
	require.False(t, lock.Renews)
	code, _, problems := said(t, "fuzz", "--runs", "2", "--", "sh", script(`curl -sf "$LOCKSIM_RESOURCE/x"`, `echo '+$LOCKSIM' unset; exit 7`))
	require.Equal(t, exitUsage, code, problems)
	require.Contains(t, problems, "never acquired in a rehearsal without faults")
	require.Contains(t, problems, "exits with status 7: +$LOCKSIM unset")
}

// TestACleanRunLearnsWhatALockIsLike changes a program in what locksim is not told: which key it takes, for how long, on which
// servers, and whether it renews its lease. A key that it only counts in is not the lock's.
func TestACleanRunLearnsWhatALockIsLike(t *testing.T) {
	needPython(t)
	t.Parallel()
	text, err := os.ReadFile(python[1])
	require.NoError(t, err)
	sdk, err := filepath.Abs("../../sdk/python")
	require.NoError(t, err)
	source := strings.Replace(string(text), `os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python")`, strconv.Quote(sdk), 1)
	const set = `self.do("SET", self.c["key"], self.value, "NX", "PX", int(self.c["ttl_ms"]))`
	require.Contains(t, source, set)
	for name, c := range map[string]struct {
		from, to string
		key      string
		life     time.Duration
		renews   bool
	}{
		"as told":        {key: "orders"},
		"its own key":    {from: `self.c["key"]`, to: `"app:{%s}" % self.c["key"]`, key: "app:{orders}"},
		"its own lease":  {from: `int(self.c["ttl_ms"])`, to: "30000", key: "orders", life: 30 * time.Second},
		"a counter, too": {from: set, to: `self.do("INCR", self.c["key"] + ":n") and ` + strings.Replace(set, `self.c["key"]`, `"L" + self.c["key"]`, 1), key: "Lorders"},
		"lasts":          {from: `, "PX", int(self.c["ttl_ms"])`, to: `, "PX", int(self.c["ttl_ms"]) * 9`, key: "orders", life: 63 * time.Second},
		"renews": {from: "    def release(self):\n", to: `    def renew(self, value):
        while self.value == value:
            time.sleep(self.c["ttl_ms"] / 3000)
            if self.value == value: self.do("PEXPIRE", self.c["key"], int(self.c["ttl_ms"]))
    def release(self):
        value, self.value = self.value, ""
        if self.do("GET", self.c["key"]): self.f.readline()
        self.do("DEL", self.c["key"])
        return
    def old(self):
`, key: "orders", renews: true},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "its own key" && name != "renews" {
				long.Only(t)
			}
			file := filepath.Join(t.TempDir(), "client.py")
			changed := source
			if c.from != "" {
				changed = strings.ReplaceAll(source, c.from, c.to)
				require.NotEqual(t, source, changed)
			}
			if c.renews {
				changed = strings.Replace(changed, "                return {", "                import threading\n"+
					"                threading.Thread(target=self.renew, args=(self.value,), daemon=True).start()\n                return {", 1)
			}
			require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
			lock, declared, err := clients.Command([]string{"python3", file})
			require.NoError(t, err)
			require.False(t, declared)
			lock = search.Learn(t.Context(), lock)
			key := "orders"
			if lock.Key != nil {
				key = lock.Key(locks.Options{Key: "orders"})
			}
			require.Equal(t, c.key, key)
			require.Equal(t, locks.OneNode, lock.Authority)
			require.Equal(t, c.life, lock.Life)
			require.Equal(t, c.renews, lock.Renews)
			require.Equal(t, locks.OnMonotonic, lock.Deadline)
			require.False(t, lock.Token)
		})
	}
}
