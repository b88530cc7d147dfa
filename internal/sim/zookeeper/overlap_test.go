package zookeeper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// overlap plays the double holder that sees "connected" throughout: a's server is cut off from the rest of the
// ensemble, b wants the node that a has. It returns when b got it and when a's connection ended, both counted from the
// cut. If a is busy, a write of its own is on its way from the cut on.
func overlap(t *testing.T, seed uint64, timeout time.Duration, busy bool) (granted, disconnected time.Duration) {
	w := newWorld(t, seed, zookeeper.Config{})
	moment := 20*s + time.Duration(w.Rand("moment").Int64N(int64(12*s)))
	w.at(moment, cut("zk-1", "zk-2", "zk-3"))
	w.user("a", zookeeper.GoZooKeeper(), timeout, func(u *user) {
		u.must(create("/lock", "ephemeral"))
		suspended := u.Session().Suspended()
		if busy {
			u.sleepUntil(moment)
			require.ErrorIs(t, u.fails(create("/busy")), zookeeper.ErrConnectionLoss)
		}
		disconnected = u.when(suspended) - moment
	})
	w.user("b", zookeeper.GoZooKeeper(), 30*s, func(u *user) {
		u.task.Sleep(s)
		var a *zookeeper.Response
		for a == nil || a.Err != zookeeper.OK {
			var gone zookeeper.Watch
			a, _ = u.Do(u.task, create("/lock", "ephemeral"), nil)
			if a.Err == zookeeper.NodeExists && u.must(ask(zookeeper.Exists, "/lock"), &gone).Err == zookeeper.OK {
				u.when(&gone.Over)
			}
		}
		granted = time.Duration(w.Now()) - moment
	}, 2)
	w.play()
	return granted, disconnected
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
