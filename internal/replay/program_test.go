package replay_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// lease is a program with a lock on one server.
var lease = []string{"python3", "../command/testdata/lease.py"}

// changed is that program with something else in place of a part of it.
func changed(t *testing.T, from, to string) []string {
	t.Helper()
	text, err := os.ReadFile(lease[1])
	require.NoError(t, err)
	sdk, err := filepath.Abs("../../sdk/python")
	require.NoError(t, err)
	const path = `os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../sdk/python")`
	source := strings.Replace(string(text), path, strconv.Quote(sdk), 1)
	require.Contains(t, source, from)
	file := filepath.Join(t.TempDir(), "client.py")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(source, from, to, 1)), 0o600))
	return []string{"python3", file}
}

// planOf makes the plan of a scenario in which all clients are a program.
func planOf(t *testing.T, argv []string, ttl, text string) *harness.Plan {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil || runtime.GOOS != "linux" {
		t.Skip("no ", argv[0], " on Linux: ", err)
	}
	algorithm := "set-nx-lua"
	switch {
	case strings.Contains(text, "kind: zookeeper"):
		algorithm = "zk-sequential"
	case strings.Contains(text, "kind: etcd"):
		algorithm = "etcd"
	}
	s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: "+algorithm+", ttl: "+ttl+"}\nresource: {fencing: none}\n"+text))
	require.NoError(t, err)
	return compiled(t, s.Cases()[0], argv)
}

func compiled(t *testing.T, c scenarios.Case, argv []string) *harness.Plan {
	t.Helper()
	p, err := command.OnRealServers(argv)
	require.NoError(t, err)
	lock := locks.Algorithm{
		Name: "program", Title: "a program", Servers: c.Scenario.Servers.Kind, Authority: locks.OneNode, Lease: true, Program: p,
		Sentinel: c.Scenario.Servers.Sentinels > 0,
	}
	plan, err := harness.Compile(c, harness.Options{Instead: &lock})
	require.NoError(t, err)
	return plan
}

// once plays a plan on real servers; it skips the test where they are not installed.
func once(t *testing.T, p *harness.Plan) (replay.Once, error) {
	t.Helper()
	o, err := replay.PlayOnce(t.Context(), p, []string{os.Args[0]})
	if missing := (*real.Missing)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	return o, err
}

// TestProgramsOnRealServersHaveTheVerdictsOfTheSimulation plays programs without faults, with pauses that are longer and shorter than
// the lease, with a failover that loses the key, and with a cut during which the lease ends.
func TestProgramsOnRealServersHaveTheVerdictsOfTheSimulation(t *testing.T) {
	t.Parallel()
	const two, one = "clients: {a: {work: 250ms}, b: {start: 100ms, work: 1500ms, retry: 50ms}}\n", "clients: {a: {work: 250ms}}\n"
	for name, c := range map[string]struct {
		ttl, text string
		want      checker.Verdict
	}{
		"no fault":    {"20s", two, checker.NotSeen},
		"overrun":     {"1s", "clients: {a: {work: 1800ms}, b: {start: 100ms, work: 1500ms, retry: 50ms}}\n", checker.Violated},
		"long pause":  {"1s", two + "faults: [{after: {node: a, does: acquired}, pause: a, for: 1800ms}]\n", checker.Violated},
		"short pause": {"20s", two + "faults: [{after: {node: a, does: acquired}, pause: a, for: 300ms}]\n", checker.NotSeen},
		"failover": {
			"20s", "servers: {kind: redis, masters: 1, replicas: 1}\nclients: {a: {work: 2s}, b: {start: 1s, work: 2s, retry: 50ms}}\n" +
				"faults: [{at: 0s, stall: {from: redis-1, to: redis-2}}, {at: 500ms, crash: redis-1}, {at: 600ms, promote: redis-2}]\n",
			checker.Violated,
		},
		"two masters": {
			"20s", "servers: {kind: redis, masters: 1, replicas: 1}\nclients: {a: {start: 500ms, work: 1500ms}, b: {start: 1s, work: 1s, retry: 50ms}}\n" +
				"faults: [{at: 0s, stall: {from: redis-1, to: redis-2}}, {at: 100ms, promote: redis-2, redirect: b}]\n",
			checker.Violated,
		},
		"cut":    {"1s", two + "faults: [{after: {node: a, does: acquired}, cut: {from: a, to: storage}, for: 1800ms}]\n", checker.Violated},
		"killed": {"1s", one + "faults: [{after: {node: a, does: acquired}, crash: a, restart: 100ms}]\n", checker.NotSeen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, lease, c.ttl, c.text)
			o, err := once(t, p)
			require.NoError(t, err)
			require.Contains(t, o.Servers, "redis-server ")
			for _, f := range o.History.Faults {
				require.True(t, f.Fired, f.Name)
			}
			require.Empty(t, o.History.Exits)
			got := o.Report.Verdicts[checker.MutualExclusion]
			if got == checker.Vacuous { // on a busy machine the other client may come too late to expose it
				got = checker.NotSeen
			}
			require.Equal(t, c.want, got, "%s", o.History)
		})
	}
}

// TestProgramsOnOtherRealServers plays libraries for ZooKeeper, etcd by hand, and a library that asks Sentinels: the holder is paused for longer
// than its session or lease, or the master dies.
func TestProgramsOnOtherRealServers(t *testing.T) {
	long.Only(t)
	t.Parallel()
	const two = "clients: {a: {work: 500ms}, b: {start: 100ms, work: 4s, retry: 100ms}}\n"
	const paused = two + "faults: [{after: {node: a, does: acquired}, pause: a, for: 5s}]\n"
	for name, c := range map[string]struct {
		program, ttl, text string
		want               checker.Verdict
	}{
		"zookeeper": {"zookeeper.py", "2s", "servers: {kind: zookeeper, tick: 500ms}\n" + paused, checker.Violated},
		"etcd":      {"folder.py etcd", "2s", "servers: {kind: etcd}\n" + paused, checker.Violated},
		"sentinels": {
			"deployed.py", "30s", "servers: {kind: redis, masters: 1, replicas: 1, sentinels: 3, down-after: 1s, failover-timeout: 5s}\n" +
				"clients: {b: {start: 1s, work: 200ms, retry: 100ms}}\nfaults: [{at: 500ms, crash: redis-1}]\n", checker.NotSeen,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := exec.Command("/usr/bin/python3", "-c", "import redis, kazoo").Run(); err != nil {
				t.Skip("on Debian: apt-get install python3-redis python3-kazoo")
			}
			o, err := once(t, planOf(t, append([]string{"/usr/bin/python3"}, strings.Fields("../command/testdata/"+c.program)...), c.ttl, c.text))
			require.NoError(t, err)
			require.Empty(t, o.History.Exits)
			require.Len(t, o.History.Acquisitions, strings.Count(c.text, "work: "))
			got := o.Report.Verdicts[checker.MutualExclusion]
			if got == checker.Vacuous { // there is one client
				got = checker.NotSeen
			}
			require.Equal(t, c.want, got, "%s", o.History)
		})
	}
}

// TestAFaultyProgramIsCaughtOnRealServers has a program that takes the lock from its holder; its twin does not.
func TestAFaultyProgramIsCaughtOnRealServers(t *testing.T) {
	t.Parallel()
	const text = "clients: {a: {work: 1500ms}, b: {start: 200ms, work: 200ms, wait: 500ms}}\n"
	for want, to := range map[checker.Verdict]string{checker.Violated: `"PX"`, checker.NotSeen: `"NX", "PX"`} {
		t.Run(want.String(), func(t *testing.T) {
			t.Parallel()
			o, err := once(t, planOf(t, changed(t, `"NX", "PX"`, to), "20s", text))
			require.NoError(t, err)
			require.Equal(t, want, o.Report.Verdicts[checker.MutualExclusion], "%s", o.History)
		})
	}
}

// TestAProgramThatEndsItselfOnRealServers is judged by that if it had asked for the lock, and cannot be played otherwise.
func TestAProgramThatEndsItselfOnRealServers(t *testing.T) {
	t.Parallel()
	const text = "clients: {a: {work: 300ms}}\n"
	t.Run("while it holds", func(t *testing.T) {
		t.Parallel()
		o, err := once(t, planOf(t, changed(t, "    def release(self):", "    def release(self):\n        print('no more', flush=True); os._exit(3)"), "20s", text))
		require.NoError(t, err)
		require.Equal(t, checker.Violated, o.Report.Verdicts[checker.Survival])
		require.Equal(t, "exits with status 3", o.History.Exits[0].Text)
		require.Equal(t, "no more", o.History.Exits[0].Output)
		require.Equal(t, "writes: no more", o.History.Notes[0].Text)
	})
	t.Run("by a signal, while it works", func(t *testing.T) {
		t.Parallel()
		const late = "import threading; threading.Timer(0.1, os.abort).start(); "
		o, err := once(t, planOf(t, changed(t, "return {", late+"return {"), "20s", "clients: {a: {work: 1m}}\n"))
		require.NoError(t, err)
		require.Equal(t, checker.Violated, o.Report.Verdicts[checker.Survival])
		require.Contains(t, o.History.Exits[0].Text, "by the signal aborted")
	})
	for name, c := range map[string]struct{ argv []string }{
		"before it is ready": {[]string{"sh", "-c", "echo no such lock >&2; exit 7"}},
		"by what it says": {changed(t, "class Lock:", "host, port = os.environ['LOCKSIM'].split(':')\n"+
			"socket.create_connection((host, int(port))).sendall(b'no such lock\\n')\ntime.sleep(60)\nclass Lock:")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := once(t, planOf(t, c.argv, "20s", text))
			unborn := (*harness.Unborn)(nil)
			require.ErrorAs(t, err, &unborn)
			require.ErrorContains(t, err, "no such lock")
		})
	}
}

// TestWhatAProgramOnRealServersCannotBeIsRefused before anything starts.
func TestWhatAProgramOnRealServersCannotBeIsRefused(t *testing.T) {
	const one = "clients: {a: {work: 1s}}\n"
	for text, want := range map[string]string{
		one + "faults: [{at: 1s, clock: a, step: 1s}]":                                          "clients.a: a program goes by the clocks of this machine, which cannot be wrong",
		one + "clocks: {a: {rate: 100ppm}}":                                                     "clients.a: a program goes by the clocks of this machine, which cannot be wrong",
		"clients: {a: {work: 1s}, b: {work: 1s}}\nfaults: [{at: 0s, same-random: [a, b]}]":      "clients.a: the random values of a program are the machine's",
		one + "servers: {kind: redis, masters: 3, replicas: 1, cluster: true}":                  "servers: no cluster is started",
		one + "faults: [{after: {node: redis-1, does: expire}, pause: a, for: 1s, name: late}]": "fault late: a server's step expire is not seen",
	} {
		require.EqualError(t, replay.Refuse(planOf(t, lease, "2s", text)), want)
	}
}
