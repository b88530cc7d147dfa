package replay_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/scenarios"
)

// TestMain lets the executable be the process of a client.
func TestMain(m *testing.M) {
	if replay.IsClient() {
		if replay.Client(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(long.RunWaiting(m))
}

// caseOf finds one way to play a named scenario.
func caseOf(t *testing.T, name, variant string, style history.Style, fencing history.Fencing) scenarios.Case {
	t.Helper()
	s, err := scenarios.Load(name)
	require.NoError(t, err)
	for _, c := range s.Cases() {
		if c.Variant == variant && c.Style == style && c.Fencing == fencing {
			return c
		}
	}
	t.Fatalf("there is no such case of %s", name)
	return scenarios.Case{}
}

// play plays a case on real servers; it skips the test where they are not installed.
func play(t *testing.T, c scenarios.Case) replay.Result {
	t.Helper()
	r, err := replay.Play(t.Context(), c, &replay.Options{Program: []string{os.Args[0]}, Attempts: 8})
	require.NoError(t, err)
	if missing := (*real.Missing)(nil); errors.As(r.Refusal, &missing) {
		t.Skip(missing)
	}
	return r
}

func TestRealServersAgreeWithTheSimulatedOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scenario, variant string
		style             history.Style
		fencing           history.Fencing
	}{
		{"fencing-33-34", "", history.Careless, history.Unfenced},
		{"fencing-33-34", "", history.Careless, history.FencedWrite},
		{"redlock-delayed-restart", "at-once", history.Careful, history.Unfenced},
		{"redlock-delayed-restart", "delayed", history.Careful, history.Unfenced},
		{"failover-lost-key", "lagging-link", history.Careless, history.Unfenced},
		{"failover-lost-key", "process-crash", history.Careless, history.Unfenced},
		{"zk-silent-new-session", "events-unread", history.Careless, history.Unfenced},
	} {
		t.Run(strings.Join([]string{c.scenario, c.variant, c.fencing.String()}, " "), func(t *testing.T) {
			t.Parallel()
			if !long.Enabled() && strings.HasPrefix(c.scenario, "zk-") {
				t.Skip("an ensemble takes seconds to start")
			}
			r := play(t, caseOf(t, c.scenario, c.variant, c.style, c.fencing))
			var told bytes.Buffer
			require.NoError(t, replay.NewTable(&told).Add(&r))
			require.Equal(t, replay.Agrees, r.Outcome, "%s", &told)
			require.NotEmpty(t, r.Compared)
		})
	}
}

// TestAWrongServerIsNoticed has the scenario say something else of the servers than is simulated: that they keep their keys.
func TestAWrongServerIsNoticed(t *testing.T) {
	t.Parallel()
	c := caseOf(t, "redis-restart-empty", "everysec-process-dies", history.Careless, history.Unfenced)
	r, err := replay.Play(t.Context(), c, &replay.Options{
		Program: []string{os.Args[0]}, Speed: 2, Instead: func(s *scenarios.Servers) { s.Persistence = "none" },
	})
	require.NoError(t, err)
	if missing := (*real.Missing)(nil); errors.As(r.Refusal, &missing) {
		t.Skip(missing)
	}
	require.Equal(t, replay.Differs, r.Outcome)
}

func TestUnsupportedScenarioIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ lock, text, want string }{
		{"consul", "servers: {kind: consul}", "servers: no servers of the kind consul are started"},
		{
			"set-nx-lua", "servers: {kind: redis, masters: 3, replicas: 1, cluster: true}", "servers: no cluster is started",
		},
		{
			"set-nx-lua", "faults: [{name: late, after: {node: redis-1, does: expire}, pause: a, for: 1s}]",
			"fault late: a server's step expire is not seen",
		},
		{
			"set-nx-lua", "faults: [{after: {node: a, does: send}, plus: 1ms, delay: 1s}]",
			"fault fault-1: delay: the message has been passed on by then",
		},
		{
			"set-nx-lua", "faults: [{at: 1s, clock: redis-1, step: 1s, of: both}]",
			"fault fault-1: a machine's monotonic clock cannot be made to jump",
		},
		{
			"set-nx-lua", "faults: [{after: {node: redis-1, does: fsync}, pause: a, for: 1s}]",
			"fault fault-1: when a disk takes what was written is not seen",
		},
		{
			"zk-sequential", "servers: {kind: zookeeper, nodes: 5, leader: 2}",
			"servers.leader: zk-2 cannot be made leader: of equals the one with the largest number is",
		},
		{
			"zk-sequential", "servers: {kind: zookeeper}\nclocks: {zk-1: {rate: 100ppm}}",
			"clocks.zk-1: Java does not start under libfaketime",
		},
		{
			"zk-sequential", "servers: {kind: zookeeper}\nfaults: [{at: 1s, promote: zk-1}]",
			"fault fault-1: no server of ZooKeeper can be made leader by hand",
		},
		{
			"etcd", "servers: {kind: etcd}\nfaults: [{after: {node: a, does: send}, pause: a, for: 1s}]",
			"fault fault-1: what etcd and its clients say to each other is not read",
		},
		{
			"etcd", "servers: {kind: etcd}\nclocks: {etcd-1: {rate: 100ppm}}", "clocks.etcd-1: etcd and its clients go by the machine's clock",
		},
		{
			"set-nx-lua", "clients: {a: {work: 1s, cpu-bound: true}}",
			"clients.a.cpu-bound: work is staged as waiting, which a pause does not prolong",
		},
	} {
		if !strings.HasPrefix(c.text, "clients") {
			c.text += "\nclients: {a: {work: 1s}}"
		}
		text := "name: x\nexpect: {mutual-exclusion: held}\nlock: {algorithm: " + c.lock + "}\n" + c.text
		s, err := scenarios.Parse("x.yaml", []byte(text))
		require.NoError(t, err, text)
		r, err := replay.Play(t.Context(), s.Cases()[0], &replay.Options{Program: []string{os.Args[0]}})
		require.NoError(t, err)
		require.Equal(t, replay.Refused, r.Outcome)
		require.EqualError(t, r.Refusal, c.want)
	}
}

// TestComparisonOfNothingIsNotAgreement plays a scenario whose only expectation needs the servers' grants.
func TestComparisonOfNothingIsNotAgreement(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
lock: {algorithm: set-nx-lua, ttl: 1s}
clients: {a: {}, b: {start: 1ms}}
resource: {fencing: none}
network: {latency: 1ms}
faults: [{after: {node: redis-1, does: receive, peer: b}, evict: redis-1}]
expect: {exclusion-at-service: violated}
`))
	require.NoError(t, err)
	r, err := replay.Play(t.Context(), s.Cases()[0], &replay.Options{Program: []string{os.Args[0]}, Speed: 20})
	require.NoError(t, err)
	require.Equal(t, replay.Refused, r.Outcome)
	require.ErrorContains(t, r.Refusal, "nothing that can be judged of real servers")
}

// TestAViolationThatNobodyWouldSeeIsNotPlayed has a late DEL take away a key that nobody else wants: no belief is touched.
func TestAViolationThatNobodyWouldSeeIsNotPlayed(t *testing.T) {
	all, err := scenarios.All()
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == "get-del-race" })
	cases := all[i].Cases()
	i = slices.IndexFunc(cases, func(c scenarios.Case) bool { return c.Variant == "nobody-else-waits" })
	r, err := replay.Play(t.Context(), cases[i], &replay.Options{Program: []string{os.Args[0]}, Speed: 20})
	require.NoError(t, err)
	require.Equal(t, replay.Refused, r.Outcome)
	require.ErrorContains(t, r.Refusal, "what is violated in it is release-safety")
}
