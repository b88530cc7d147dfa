package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
)

const changeable = `name: x
story: It happens as it always does.
lock: {algorithm: set-nx-lua, ttl: 10s}
clients:
  a: {work: 2s, retry: 100ms}
  b: {start: 1s, work: 1s}
faults:
  - {at: 1s, pause: a, for: 3s}
  - {name: gc, at: 2s, pause: b, for: 4s}
expect: {resource: held}
`

func changed(t *testing.T, text string, list ...string) (*Scenario, error) {
	t.Helper()
	var changes []Change
	for _, each := range list {
		c, ok := ParseChange(each)
		require.True(t, ok, each)
		require.Equal(t, each, c.String())
		changes = append(changes, c)
	}
	return Parse("x.yaml", []byte(text), changes...)
}

func TestChangesSetWhatTheFileSays(t *testing.T) {
	s, err := changed(t, changeable, "lock.ttl=4s", "clients.a.work=3s", "clients.b.retry.delay=5ms", "faults.fault-1.for=1s",
		"faults.gc.for=2s", "network.latency=[1ms, 2ms]", "servers.masters=3", "clocks.a.rate=1%", "clients.b.start=null")
	require.NoError(t, err)
	require.Equal(t, 4*time.Second, s.Lock.TTL)
	require.Equal(t, 3*time.Second, s.Clients[0].Work)
	require.Equal(t, 5*time.Millisecond, s.Clients[1].Retry.Delay)
	require.Zero(t, s.Clients[1].Start)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, []time.Duration{s.Faults[0].For, s.Faults[1].For})
	require.Equal(t, sim.UniformLatency(time.Millisecond, 2*time.Millisecond), s.Network.Latency)
	require.Equal(t, 3, s.Servers.Masters)
	require.Equal(t, []Clock{{Node: "a", Rate: 10_000}}, s.Clocks)
	require.Empty(t, s.Expect, "it was expected of another scenario")
	require.Empty(t, s.Story)
	require.Contains(t, s.Title, "(with lock.ttl=4s, clients.a.work=3s")
	require.Len(t, s.Changes(), 9)
	again, err := s.Again()
	require.NoError(t, err)
	require.Equal(t, bare(s), bare(again), "a changed scenario can be saved")
}

func TestEntriesHavePlacesAndNames(t *testing.T) {
	for _, path := range []string{"faults.gc.for", "faults.1.for", "faults[1].for"} {
		s, err := changed(t, changeable, path+"=1s")
		require.NoError(t, err)
		require.Equal(t, []time.Duration{3 * time.Second, time.Second}, []time.Duration{s.Faults[0].For, s.Faults[1].For})
	}
	s, err := changed(t, changeable, "faults.0=null")
	require.NoError(t, err)
	require.Equal(t, "gc", s.Faults[0].Name)
}

func TestChangesAreMadeWhereVariantsHaveTheField(t *testing.T) {
	s, err := changed(t, changeable+`variants:
  - {name: fast, set: {lock: {ttl: 3s}, resource: {fencing: compare-and-set}}, expect: {mutual-exclusion: violated}}
  - {name: other, set: {faults: [{name: late, at: 3s, pause: a, for: 1s}]}}
`, "lock.ttl=5s", "faults.late.for=9s")
	require.NoError(t, err)
	fast, other := s.Variants[0].Scenario, s.Variants[1].Scenario
	require.Equal(t, 5*time.Second, fast.Lock.TTL, "also where the variant sets it")
	require.Equal(t, []history.Fencing{history.CompareAndSet}, fast.Resource.Fencing)
	require.Empty(t, fast.Expect)
	require.Equal(t, 3*time.Second, fast.Faults[0].For, "it has no such fault")
	require.Equal(t, 9*time.Second, other.Faults[0].For)
	require.Len(t, other.Changes(), 2)
}

func TestChangesAreRefusedAsFieldsAre(t *testing.T) {
	for change, want := range map[string]string{
		"lock.ttl=5x":            `lock.ttl: "5x" is no duration; want a duration such as 250ms, 10s or 1m30s, from 1ms to 1000h`,
		"lock.tll=5s":            `lock.tll: unknown field; want one of algorithm, ttl, key, renew, timeout, acks, library or lock-delay; did you mean "ttl"?`,
		"lokc.ttl=5s":            `lokc: unknown field; want one of name, title,`,
		"lock.ttl=":              "lock.ttl: nothing stands here; want a value",
		"lock.ttl={":             "lock.ttl: no YAML: did not find expected node content",
		"lock.ttl=&x 4s":         "lock.ttl: an anchor (&x); want the value written out where it is needed",
		"lock.ttl.x=4s":          `lock.ttl.x: lock.ttl is "10s", which has no fields; want lock.ttl`,
		"lock.renew=null":        "lock.renew: there is nothing to remove; want a value",
		"lock.algorithm=null":    "x.yaml:3:7: lock.algorithm: missing; want",
		"clients.z.work=1s":      `clients.z: clients has no entry "z"; want a or b`,
		"clients.a.read=9s":      "clients.a.read: reads at 9s, but works for 2s only; want a time within the work",
		"faults.cg.for=1s":       `faults.cg: faults has no entry "cg"; want fault-1 or gc; did you mean "gc"?`,
		"faults.2.for=1s":        `faults.2: faults has no entry "2"; want fault-1 or gc`,
		"variants.x.set=1":       "variants.x.set: variants cannot be changed; want a field that they set",
		"network.links.0.from=a": "network.links: a mapping stands here; want a list of:",
	} {
		_, err := changed(t, changeable, change)
		require.ErrorContains(t, err, want, change)
	}
	_, err := changed(t, smallest, "faults.0.for=1s")
	require.EqualError(t, err, "faults.0: there are no faults")
	_, err = changed(t, "[]", "lock.ttl=1s")
	require.ErrorContains(t, err, "a list stands here")
}
