package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func ExampleFault_String() {
	fmt.Println(sim.Fault{
		Name:    "gc",
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Acquired}, Nth: 2, Plus: 100 * time.Millisecond},
		Action:  sim.Action{Kind: sim.Pause, Node: "a"},
		For:     12 * time.Second,
	})
	fmt.Println(sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "redis-*", Does: trace.Execute, What: "SET", Peer: "holder"}},
		Action:  sim.Action{Kind: sim.Break, This: true, RST: true, Lose: sim.LoseReply},
	})
	// Output:
	// {name: gc, after: {node: a, does: acquired}, nth: 2, plus: 100ms, pause: a, for: 12s}
	// {before: {node: "redis-*", does: execute, what: SET, peer: holder}, break: this, how: rst, lose: reply}
}

func ExampleAction_String() {
	both := sim.Link{From: []string{"a"}, To: []string{"redis-4", "redis-5"}}
	oneWay := sim.Link{From: []string{"redis-1"}, To: []string{"a"}, OneWay: true}
	for _, a := range []sim.Action{
		{Kind: sim.Pause, Node: "a"},
		{Kind: sim.Crash, Node: "redis-1", Host: true, Restart: 5 * time.Second, Keep: "nothing"},
		{Kind: sim.SetClock, Node: "redis-3", Step: 11 * time.Second},
		{Kind: sim.SetClock, Node: "a", Step: -time.Minute, Rate: -5000, Of: sim.BothClocks},
		{Kind: sim.Cut, Link: both},
		{Kind: sim.Stall, Link: oneWay},
		{Kind: sim.Delay, By: 3 * time.Second},
		{Kind: sim.Break, Link: both, Lose: sim.LoseRequest},
		{Kind: sim.Error, Text: "LOADING Redis is loading"},
		{Kind: sim.SameRandom, Nodes: []string{"a", "b"}},
		{Kind: sim.Promote, Node: "redis-2", Nodes: []string{"b"}, Demote: 3 * time.Second},
		{Kind: sim.Evict, Node: "redis-1", Key: "lock"},
		{Kind: sim.Snapshot, Node: "redis-1"},
		{Kind: sim.EndSession, Node: "a"},
	} {
		fmt.Println(a)
	}
	// Output:
	// pause: a
	// crash: redis-1, kind: host, restart: 5s, keep: nothing
	// clock: redis-3, step: 11s
	// clock: a, step: -1m0s, rate: -5000ppm, of: both
	// cut: {from: a, to: [redis-4, redis-5]}
	// stall: {from: redis-1, to: a, oneway: true}
	// delay: 3s
	// break: {from: a, to: [redis-4, redis-5]}, lose: request
	// error: "LOADING Redis is loading"
	// same-random: [a, b]
	// promote: redis-2, redirect: b, demote: 3s
	// evict: redis-1, key: lock
	// snapshot: redis-1
	// end-session: a
}

func TestFaultAtAMomentPrintsIt(t *testing.T) {
	require.Equal(t, "{at: 0s, delay: 1s}", at(0, delay(s)).String())
	require.Equal(t, "{at: 1.5s, pause: a, for: 2s}", at(s+s/2, pause("a"), 2*s).String())
}

func TestNamesThatAreNoPlainWordsAreQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"redis-1": "redis-1", "a_b": "a_b", "redis-*": `"redis-*"`, "": `""`, "1": `"1"`, "-a": `"-a"`,
		"a b": `"a b"`, `a"b`: `"a\"b"`, "é": `"é"`, "[a]": `"[a]"`,
	} {
		require.Equal(t, "pause: "+want, sim.Action{Kind: sim.Pause, Node: name}.String())
	}
}

func TestActionsAreFoundByTheirNames(t *testing.T) {
	for _, name := range sim.ActionNames() {
		k, ok := sim.ParseAction(name)
		require.True(t, ok)
		require.Equal(t, name, k.String())
	}
	_, ok := sim.ParseAction("explode")
	require.False(t, ok)
	require.Len(t, sim.ActionNames(), int(sim.EndSession)+1)
}
