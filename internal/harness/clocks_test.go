package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
)

// TestClocksNeitherExcuseALeakNorMakeOne: what a failed call has left behind is a leak, though the clock of a server is slow by a
// millionth; what goes with its session is none, though the session ends late by the servers' clocks.
func TestClocksNeitherExcuseALeakNorMakeOne(t *testing.T) {
	const lives = "lock: {algorithm: zk-sequential-unprotected, ttl: 10s}\nservers: {kind: zookeeper}\n" +
		"clients: {a: {work: 3s, wait: 2s, stays: true}, b: {start: 2s, work: 1s}}\nuntil: 100s\n" +
		"faults:\n- {after: {node: a, does: send, what: acquire}, nth: 2, break: this, how: rst, lose: reply}\n"
	const dies = "lock: {algorithm: zk-sequential-unprotected, ttl: 10s}\nservers: {kind: zookeeper}\n" +
		"clients: {a: {work: 3s, wait: 2s}, b: {start: 2s, work: 1s}}\n" +
		"faults:\n- {after: {node: a, does: send, what: acquire}, nth: 2, break: this, how: rst, lose: reply}\n- {at: 5s, crash: a}\n"
	const slow = "clocks: {zk-1: {rate: -900000ppm}, zk-2: {rate: -900000ppm}, zk-3: {rate: -900000ppm}}\n"
	for _, c := range []struct {
		name, text string
		verdict    checker.Verdict
	}{
		{"the client lives", lives, checker.Violated},
		{"and a server's clock is slow", lives + "- {at: 0s, clock: zk-2, rate: -1ppm}\n", checker.Violated},
		{"the client dies", dies, checker.Held},
		{"and the servers' clocks are slow", dies + slow, checker.Held},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := playOnce(t, "name: x\n"+c.text)
			require.Equal(t, c.verdict.String(), result.Report.Verdicts[checker.Leak].String())
		})
	}
}

// TestLossesThroughWhatIsWrongThroughoutAreThroughAFault: a holder that is told of its loss is no victim of a lock that loses it without a fault,
// whether a clock is wrong from the start on or from a fault on, or clients draw the same random numbers.
func TestLossesThroughWhatIsWrongThroughoutAreThroughAFault(t *testing.T) {
	const sessions = "lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}\nclients: {a: {work: 30s}, b: {start: 500ms}}\n"
	const keys = "lock: {algorithm: redlock-extend, ttl: 10s}\nservers: {masters: 3}\nclients: {a: {work: 25s}, b: {start: 1s}}\n"
	for _, c := range []struct{ name, text string }{
		{"clocks", sessions + "clocks: {zk-3: {rate: 100%}, a: {rate: -50%}}\n"},
		{"clocks by a fault", sessions + "faults: [{at: 0s, clock: zk-3, rate: 100%}, {at: 0s, clock: a, rate: -50%}]\n"},
		{"random numbers", keys + "faults: [{at: 0s, same-random: [a, b]}]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := playOnce(t, "name: x\nnetwork: {latency: 1ms}\nstyles: careless\n"+c.text)
			require.Equal(t, checker.Held.String(), result.Report.Verdicts[checker.SilentLoss].String())
			require.True(t, result.History.Acquisitions[0].Told)
		})
	}
}
