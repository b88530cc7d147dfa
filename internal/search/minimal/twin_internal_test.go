package minimal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// TestTheReferenceMeetsAFaultAtItsOwnFirstMessage has a reference lock meet what hit a message that only the accused sends.
func TestTheReferenceMeetsAFaultAtItsOwnFirstMessage(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: The third answer of the second server is lost
lock: {algorithm: zk-sequential}
servers: {kind: zookeeper}
clients: {a: {}}
faults:
  - {before: {node: zk-2, does: reply, what: look, peer: a}, nth: 3, break: this}
  - {after: {node: a, does: acquired}, nth: 2, pause: a, for: 1s}
`))
	require.NoError(t, err)
	require.True(t, atTheSameSteps(s, &history.History{}))
	require.Contains(t, string(s.YAML()), `{before: {node: "zk-*", does: reply, what: look, peer: a}, break: this}`)
	require.Contains(t, string(s.YAML()), `{after: {node: a, does: acquired}, nth: 2, pause: a, for: 1s}`, "which is no message")
	require.False(t, atTheSameSteps(s, &history.History{}), "it does already")
}

// TestTheReferenceNeedsNoConnections has the clients of a reference lock, which cannot be connected from the start, acquire in the same order.
func TestTheReferenceNeedsNoConnections(t *testing.T) {
	reference, ok := locks.Catalogue().Find("set-nx-lua")
	require.True(t, ok)
	starts := func(connected bool) (times []time.Duration) {
		s := &scenarios.Scenario{Styles: []history.Style{history.Careful}}
		for _, name := range []string{"a", "b", "c"} {
			s.Clients = append(s.Clients, scenarios.Client{Name: name, Count: 1, Connected: connected && name == "b"})
		}
		seen := history.History{Acquisitions: []history.Acquisition{
			{Client: "c", Outcome: history.Failed, Returned: 7}, {Client: "a", Outcome: history.OK, Returned: 9}, {Client: "b", Outcome: history.OK, Returned: 8},
		}}
		red := reducer{now: s, seen: sighting{result: &harness.Result{History: &seen}}}
		played := red.inPlaceOf(&reference, false)
		for i := range played.Clients {
			require.False(t, played.Clients[i].Connected)
			times = append(times, played.Clients[i].Start)
		}
		return times
	}
	const soon = 50 * time.Millisecond
	require.Equal(t, []time.Duration{soon, 0, soon}, starts(true))
	require.Equal(t, []time.Duration{0, 0, 0}, starts(false), "none has an advantage")
}

// TestAHolderWithoutAKeyIsComparedWithOneThatHasNoneThere keeps the reference lock's holder from the servers on which the accused's had no key.
func TestAHolderWithoutAKeyIsComparedWithOneThatHasNoneThere(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: A server evicts a's key
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 3}
clients: {a: {work: 1s}, b: {start: 100ms}}
network: {latency: 1ms}
faults:
  - {after: {node: a, does: acquired}, evict: redis-1}
expect: {exclusion-at-service: held}
`))
	require.NoError(t, err)
	h, err := history.Parse(`history authority end=20s
acquisition id=1 client=a returned=1s outcome=ok unlocked=9s released=9s release=ok
copy node=redis-1 acquisition=1 client=a from=1s to=2s gone=evicted
copy node=redis-3 acquisition=1 client=a from=1s to=9s gone=deleted`)
	require.NoError(t, err)
	v := &checker.Violation{Property: checker.ExclusionAtService, Kind: "double grant", Acquisitions: []history.ID{1}}
	red := reducer{now: s, seen: sighting{result: &harness.Result{History: h}, violation: v}}
	apart := red.withoutKey()
	require.Equal(t, sim.Link{From: []string{"a"}, To: []string{"redis-2"}}, apart)

	var r harness.Runner
	defer r.Close()
	violates := func(apart sim.Link) bool {
		w := &twin{judge: judge{runner: &r, sought: search.Violation{Property: v.Property, Kind: v.Kind}}, apart: apart}
		w.compare(s, h)
		return w.shares
	}
	require.False(t, violates(sim.Link{}), "two keys are left")
	require.True(t, violates(apart), "one key is left")
}

// TestWhoAcquiresAfterTheFaultsHasSurvivedThem has somebody acquire the lock without a wait, which a verdict does not count.
func TestWhoAcquiresAfterTheFaultsHasSurvivedThem(t *testing.T) {
	survived := func(returned, outcome string) bool {
		h, err := history.Parse(`history authority end=60s
acquisition id=1 client=a invoked=1s returned=` + returned + ` outcome=` + outcome + `
fault name=pause begin=2s end=12s fired`)
		require.NoError(t, err)
		w := &twin{judge: judge{sought: search.Violation{Property: checker.Progress}}}
		return w.survived(h)
	}
	require.True(t, survived("12s", "ok"))
	require.False(t, survived("1500ms", "ok"), "it was not yet paused")
	require.False(t, survived("12s", "failed"))
}

// TestTheReferenceMeetsAFaultWhileItAsks has a fault that came while a library connected come while the reference asks.
func TestTheReferenceMeetsAFaultWhileItAsks(t *testing.T) {
	at := func(moment, begun string) string {
		s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: a is paused
lock: {algorithm: watchdog}
clients: {a: {}}
network: {latency: 1ms}
faults:
  - {at: `+moment+`, pause: a, for: 1s}
`))
		require.NoError(t, err)
		h, err := history.Parse(`history authority end=60s
acquisition id=1 client=a invoked=1ms returned=11ms outcome=ok
acquisition id=2 client=a invoked=` + begun + ` outcome=pending`)
		require.NoError(t, err)
		atTheSameSteps(s, h)
		return string(s.YAML())
	}
	require.Contains(t, at("7ms", "20ms"), "{after: {node: a, does: start}, plus: 1ms, pause: a, for: 1s}")
	require.Contains(t, at("15ms", "20ms"), "{at: 15ms, pause: a, for: 1s}", "it did not ask")
	require.Contains(t, at("25ms", "20ms"), "{at: 25ms, pause: a, for: 1s}", "it had been connected")
}

// TestTheReferenceMeetsACutInBothDirections has a lock with one key meet what happened to one that renews several, one after another: the first renewal
// arrives, and of a cut of the answers alone a lock with one key notices nothing.
func TestTheReferenceMeetsACutInBothDirections(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: What redis-1 answers does not arrive
lock: {algorithm: watchdog, ttl: 1s, renew: 500ms}
clients: {a: {work: 1200ms}, b: {start: 1ms}}
resource: {fencing: none}
network: {latency: 1ms}
faults:
  - {at: 400ms, cut: {from: redis-1, to: a, oneway: true}, for: 800ms}
styles: careless
expect: {resource: any}
`))
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	w := &twin{judge: judge{runner: &r, sought: search.Violation{Property: checker.Resource, Kind: "lost update"}}}
	require.Zero(t, w.compare(s, &history.History{}))
	require.False(t, w.shares, "a renewal arrives")
	require.True(t, bothWays(s, nil))
	w.compare(s, &history.History{})
	require.True(t, w.shares)
	require.False(t, bothWays(s, nil), "it is cut in both directions already")
}

// TestTheReferenceMeetsAFaultBeforeItsRenewal has a server stop when it has renewed one of several keys: the one of the reference is renewed by then.
func TestTheReferenceMeetsAFaultBeforeItsRenewal(t *testing.T) {
	at := func(when, does, what string) string {
		s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: redis-1 is paused
lock: {algorithm: watchdog}
clients: {a: {}}
faults:
  - {`+when+`: {node: redis-1, does: `+does+`, what: `+what+`}, pause: redis-1, for: 5s}
`))
		require.NoError(t, err)
		was := string(s.YAML())
		if !beforeRenewals(s, nil) {
			require.Equal(t, was, string(s.YAML()))
			return ""
		}
		return string(s.YAML())
	}
	require.Contains(t, at("after", "reply", "renew"), "{before: {node: redis-1, does: execute, what: renew}, pause: redis-1, for: 5s}")
	require.Contains(t, at("after", "execute", "renew"), "before: {node: redis-1, does: execute, what: renew}")
	require.Empty(t, at("before", "execute", "renew"), "it does already")
	require.Empty(t, at("after", "reply", "acquire"))
}
