package zookeeper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/zookeeper"
)

// overlap plays the double holder that sees "connected" throughout: a's server is cut off from the rest of the ensemble,
// b wants the node that a has. It returns when b got it and when a's connection ended, both counted from the cut.
func overlap(t *testing.T, seed uint64, timeout time.Duration, busy bool) (granted, disconnected time.Duration) {
	w := newWorld(t, seed, zookeeper.Config{})
	moment := 20*s + time.Duration(w.Rand("moment").Int64N(int64(12*s)))
	w.at(moment, cut("zk-1", "zk-2", "zk-3"))
	w.client("a", func(k *keeper) {
		k.open(1, timeout)
		k.must(create("/lock", "ephemeral"))
		if busy {
			k.pingUntil(moment)
			k.send(create("/busy"))
			for k.waitUntil(k.heard+timeout*2/3) && time.Duration(w.Now()) < k.heard+timeout*2/3 {
			}
			for _, answer := range k.answers {
				require.Equal(t, zookeeper.Ping, answer.Request.Op, "a write was answered by a server that is cut off")
			}
			k.ended = time.Duration(w.Now())
		} else {
			k.pingUntil(moment + 60*s)
		}
		disconnected = k.ended - moment
	})
	w.client("b", func(k *keeper) {
		k.task.Sleep(s)
		k.open(2, 30*s)
		for {
			k.events = nil
			if a := k.call(create("/lock", "ephemeral")); a.Err == zookeeper.OK {
				break
			}
			if a := k.call(ask(zookeeper.Exists, "/lock", true)); a.Err == zookeeper.NoNode {
				continue
			}
			k.pingWhile(func() bool { return len(k.events) == 0 })
		}
		granted = time.Duration(w.Now()) - moment
	})
	w.play()
	return granted, disconnected
}

// pingWhile keeps the session alive while something holds.
func (k *keeper) pingWhile(holds func() bool) {
	for holds() && !k.closed {
		k.change = sim.Signal{}
		if k.task.Wait(k.timeout/3, &k.change) < 0 {
			k.must(ask(zookeeper.Ping, ""))
		}
	}
}

// TestCutFollowerLetsTwoClientsHoldTheNode compares with what was measured on ZooKeeper 3.8 with go-zookeeper, tick
// 2 s, syncLimit 5: the time from b's lock to a's disconnection.
func TestCutFollowerLetsTwoClientsHoldTheNode(t *testing.T) {
	const seeds, tick = 100, 2 * s
	var table strings.Builder
	fmt.Fprintf(&table, "\n%8s %24s %30s %10s\n", "session", "measured overlap", "simulated (100 seeds)", "mean")
	for _, c := range []struct {
		timeout  time.Duration
		measured []time.Duration // negative: none, at least that far
	}{
		{4 * s, []time.Duration{5560 * ms, 4740 * ms, 4320 * ms}},
		{6 * s, []time.Duration{3140 * ms}},
		{9 * s, []time.Duration{890 * ms}},
		{12 * s, nil},
	} {
		var overlaps []time.Duration
		var sum time.Duration
		for seed := range uint64(seeds) {
			granted, disconnected := overlap(t, seed, c.timeout, false)
			require.Greater(t, disconnected, 8*s, "a follower gives up after syncLimit ticks of silence")
			require.LessOrEqual(t, disconnected, 10*s+100*ms)
			require.LessOrEqual(t, granted, c.timeout+tick+100*ms, "a session expires at most a tick late")
			overlaps = append(overlaps, disconnected-granted)
			sum += disconnected - granted
		}
		slices.Sort(overlaps)
		mean := sum / seeds
		fmt.Fprintf(&table, "%8v %24s %14v to %12v %10v\n", c.timeout, fmt.Sprint(c.measured),
			overlaps[0].Round(10*ms), overlaps[seeds-1].Round(10*ms), mean.Round(10*ms))
		for _, measured := range c.measured {
			require.InDelta(t, measured.Seconds(), mean.Seconds(), tick.Seconds())
			require.Greater(t, measured, overlaps[0]-tick)
			require.Less(t, measured, overlaps[seeds-1]+tick)
		}
		if c.measured == nil {
			require.Negative(t, mean, "with sessions longer than the followers' patience there is usually no overlap")
		}
	}
	t.Log(table.String())
}

func TestPendingWriteMakesTheCutClientNoticeInTime(t *testing.T) {
	for seed := range uint64(30) {
		granted, disconnected := overlap(t, seed, 4*s, true)
		require.Less(t, disconnected, granted, "seed %d: measured 2.53 s against 3.36 s", seed)
	}
}
