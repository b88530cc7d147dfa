package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

// TestCheckReportsAllMistakesAtOnce wants one line for each mistake of a file, in the order of the file.
func TestCheckReportsAllMistakesAtOnce(t *testing.T) {
	code, out, stderr := locksim(t.Context(), "check", "testdata/mistakes.yaml")
	require.Equal(t, exitUsage, code)
	require.Empty(t, out)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i, want := range []string{
		`:4:19: lock.algorithm: there is no lock named "set-nx-lau"; did you mean "set-nx-lua"?`,
		`:4:36: lock.ttl: "10sec" is no duration`, `:7:21: clients.b.wrok: unknown field`,
		`:8:28: resource.fencing[1]: unknown word "fenced-wriet"`, `:11:5: faults[1]: the action is missing`,
		`:11:14: faults[1].pausee: unknown field`, `:12:21: faults[2].crash: no node is called "redis-9"`,
		`:14:21: expect.mutual-exclusion: unknown word "violatedd"`,
	} {
		require.Contains(t, lines[i], want)
	}
	require.Len(t, lines, 8)
	for _, command := range []string{"run", "fuzz", "explore"} { // say the same
		_, _, told := locksim(t.Context(), command, "testdata/mistakes.yaml")
		require.Equal(t, stderr, told, command)
	}
}

// TestMistakesAboutALockAreReportedBesideOthers has files in which something else is wrong as well, of the same field or of another.
func TestMistakesAboutALockAreReportedBesideOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	const clients = "\nclients: {a: {work: 2s}}\n"
	for text, want := range map[string][]string{
		"lock: {algorithm: zk-sequential}\nservers: {kind: redis, sentinels: 3}" + clients: {
			"2:19: lock.algorithm: the lock zk-sequential lives on servers of the kind zookeeper, not redis", "3:35: servers.sentinels: there is no replica",
		},
		"lock: {algorithm: zk-sequential}\nservers: {kind: rediss}" + clients: {"3:17: servers.kind: unknown word"}, // which may be any
		"lock: {algorithm: set-nx-lua, ttl: 5s, renew: 8s}" + clients:         {"2:47: lock.renew: set-nx-lua does not renew its lease"},
		"lock: {algorithm: watchdog, ttl: 5s, renew: 8s}" + clients:           {"2:45: lock.renew: the lease is over before it is renewed"},
		"lock: {algorithm: set-nx-lua}" + clients + "resource: {fencing: fenced-write}\nexpect: {progress: hold}": {
			"4:21: resource.fencing[0]: fenced-write compares fencing tokens", "5:20: expect.progress: unknown word",
		},
		"lock: {algorithm: set-nx-lua}" + clients + "resource: {fencing: fenced-write}\nexpect: {resourse: held}": {"5:10: expect.resourse: unknown property"},
		"lock: {algorithm: set-nx-lua}\nclients: {a: {wait: trY}}\n":                                              {`; did you mean "try"?`},
		"lock: {algorithm: set-nx-lua}\nclients: {a: {wait: 3x}}\n":                                               {"from 1ns to 1000h\n"},
	} {
		require.NoError(t, os.WriteFile("x.yaml", []byte("name: x\n"+text), 0o600))
		for _, command := range []string{"check", "run"} {
			_, _, stderr := locksim(t.Context(), command, "x.yaml")
			for _, line := range want {
				require.Contains(t, stderr, line)
			}
			require.Equal(t, len(want), strings.Count(stderr, "\n"), stderr)
		}
	}
}

// TestCheckReportsFaultsThatNeverHappen has two misspelt triggers, two faults on a dead server, a fencing mode without
// tokens, and a delay when no message is under way; and the same file without these mistakes.
func TestCheckReportsFaultsThatNeverHappen(t *testing.T) {
	code, _, stderr := locksim(t.Context(), "check", "testdata/never.yaml")
	require.Equal(t, exitUsage, code)
	for _, want := range []string{
		`:8:28: resource.fencing[1]: fenced-write compares fencing tokens, and the lock issues none`,
		`:10:44: faults[0].before.what: the fault happened in none of 40 runs: no such step is about "wirte"; want read, write; did you mean "write"?`,
		`:11:51: faults[1].before.what: the fault happened in none of 40 runs: no such step is about "SETT"; want SET, acquire; did you mean "SET"?`,
		`:13:5: faults[3]: the fault happened in none of 40 runs: redis-1 is down from 1s on (fault-3)`,
		`:14:5: faults[4]: the fault happened in none of 40 runs: redis-1 is down from 1s on (fault-3)`,
		`:15:13: faults[5].after: the fault happened in none of 40 runs: no message is under way after execute`,
	} {
		require.Contains(t, stderr, want)
	}
	require.Len(t, strings.Split(strings.TrimSpace(stderr), "\n"), 6)

	text, err := os.ReadFile("testdata/never.yaml")
	require.NoError(t, err)
	right := strings.NewReplacer("wirte", "write", "SETT", "acquire", "set-nx-lua,", "set-nx-lua-fenced,",
		"{at: 1s, crash: redis-1}", "{at: 1s, crash: redis-1, restart: 500ms}", "after: {node: redis-1, does: execute",
		"before: {node: redis-1, does: execute").Replace(string(text))
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("right.yaml", []byte(right), 0o600))
	code, out, stderr := locksim(t.Context(), "check", "right.yaml")
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, "right.yaml: ok\n", out)
}

// TestAnIntervalOfRenewalsThatNobodyHeedsIsRefused names renew for a lock that lets its lease end, and for two that heed it.
func TestAnIntervalOfRenewalsThatNobodyHeedsIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for lock, want := range map[string]string{
		"{algorithm: set-nx-lua, renew: 3s}":                             "x.yaml:2:38: lock.renew: set-nx-lua does not renew its lease",
		"{algorithm: watchdog, renew: 3s}":                               "",
		"{algorithm: mysql-get-lock, renew: 3s}\nservers: {kind: mysql}": "",
	} {
		require.NoError(t, os.WriteFile("x.yaml", []byte("name: x\nlock: "+lock+"\nclients: {a: {work: 1s}}\n"), 0o600))
		for _, command := range []string{"check", "run"} {
			code, _, stderr := locksim(t.Context(), command, "x.yaml")
			require.Contains(t, stderr, want)
			require.Equal(t, want != "", code == exitUsage, "%s: %s", lock, stderr)
		}
	}
}

// TestMistakesThatAnApplicationCannotMakeAreRefused, with locks that hand out tokens and that do not, and resources that compare
// them and that do not.
func TestMistakesThatAnApplicationCannotMakeAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"lock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s, forgets-token: true}}\nresource: {fencing: fenced-write}": "x.yaml:3:40: " +
			"clients.a.forgets-token: set-nx-lua hands out no fencing token; want a lock that does, such as set-nx-lua-fenced",
		"lock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s, passes-token: 1s}}":                                              "hands out no fencing token",
		"lock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s, passes-token: 1s}}\nresource: {fencing: token-equality}":         "",
		"lock: {algorithm: set-nx-lua-fenced}\nclients: {a: {work: 1s, passes-token: 1s}}":                                       "",
		"lock: {algorithm: set-nx-lua-fenced}\nclients: {a: {work: 1s, forgets-token: true}}":                                    "the resource compares no tokens",
		"lock: {algorithm: set-nx-lua-fenced}\nclients: {a: {work: 1s, forgets-token: true}}\nresource: {fencing: fenced-write}": "",
		"lock: {algorithm: set-nx-lua-fenced}\nclients: {a: {work: forever, passes-token: 1s}}":                                  "never calls Unlock",
		"lock: {algorithm: watchdog, renew: 3s}\nclients: {a: {work: 1s, renews-late: 9s}}": "x.yaml:3:38: clients.a.renews-late: " +
			"the application does not renew the lease of watchdog; want a library whose leases it prolongs, such as redsync",
		"lock: {algorithm: zk-sequential}\nservers: {kind: zookeeper}\nclients: {a: {work: 1s, passes-token: 1s}}\nresource: {in: servers}": "" +
			"the lock's own servers compare no tokens",
	} {
		require.NoError(t, os.WriteFile("x.yaml", []byte("name: x\n"+text+"\n"), 0o600))
		for _, command := range []string{"check", "run"} {
			code, _, stderr := locksim(t.Context(), command, "x.yaml")
			require.Contains(t, stderr, want, text)
			require.Equal(t, want != "", code == exitUsage, "%s: %s", text, stderr)
		}
	}
}

// TestAFaultThatNeverHappensIsExplained has a fault after the end of all runs, and one that waits for a step of nobody.
func TestAFaultThatNeverHappensIsExplained(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua, ttl: 10s}\nclients: {a: {work: 1s}}\n"+
		"faults: [{at: 50s, pause: a, for: 1s}, {after: {node: a, does: lost}, pause: a, for: 1s}]\n"), 0o600))
	code, _, stderr := locksim(t.Context(), "check", "x.yaml")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "faults[0]: the fault happened in none of 20 runs: they end before; want an earlier time")
	require.Contains(t, stderr, "faults[1].after: the fault happened in none of 20 runs: no step of them is the one that it waits for")
}

// TestRunRefusesWhatCheckRefuses plays a lock without tokens in a mode that compares them: refused, unless the scenario says
// that the resource is then not judged, as what fuzz saves does.
func TestRunRefusesWhatCheckRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "name: idle\nlock: {algorithm: set-nx-lua, ttl: 10s}\nclients: {a: {work: 1s}, b: {start: 500ms}}\n" +
		"resource: {fencing: [none, fenced-write]}\n"
	require.NoError(t, os.WriteFile("idle.yaml", []byte(text), 0o600))
	require.NoError(t, os.WriteFile("meant.yaml", []byte(text+"expect: {resource: {fenced-write: not-judged}}\n"), 0o600))
	const want = "idle.yaml:4:28: resource.fencing[1]: fenced-write compares fencing tokens, and the lock issues none; " +
		"want a lock that does, or a mode that needs none\n"
	for _, command := range []string{"check", "run"} {
		code, stdout, stderr := locksim(t.Context(), command, "idle.yaml")
		require.Equal(t, exitUsage, code, stdout)
		require.Equal(t, want, stderr)
		code, _, stderr = locksim(t.Context(), command, "meant.yaml")
		require.Equal(t, exitOK, code, stderr)
	}
	code, _, stderr := locksim(t.Context(), "run", "idle.yaml", "--lock", "set-nx-lua-fenced")
	require.Equal(t, exitOK, code, stderr)

	code, _, stderr = locksim(t.Context(), "fuzz", "set-nx-lua", "--fencing", "fenced-write", "--runs", "20", "--save", "found")
	require.Equal(t, exitDiffers, code, stderr)
	saved, err := filepath.Glob("found/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, saved)
	for _, command := range []string{"check", "run"} {
		code, stdout, stderr := locksim(t.Context(), append([]string{command}, saved...)...)
		require.Equal(t, exitOK, code, stdout+stderr)
	}
}

func TestNamedScenariosPassCheck(t *testing.T) {
	t.Parallel()
	code, _, stderr := locksim(t.Context(), append([]string{"check"}, scenarios.Names()...)...)
	require.Equal(t, exitOK, code, stderr)
}
