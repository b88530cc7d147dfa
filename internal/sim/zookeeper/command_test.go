package zookeeper_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
)

func TestPromotedServerLeads(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{Servers: 5})
	w.After(10*s, func() {
		require.False(t, w.zk.Promote(w.zk.Servers[4]), "it leads")
		require.True(t, w.zk.Promote(w.zk.Servers[0]))
	})
	w.After(10*s+ms, func() { require.False(t, w.zk.Promote(w.zk.Servers[1]), "nobody leads") })
	w.client("a", func(k *keeper) {
		k.open(3, 20*s)
		for range 200 {
			if k.call(create("/n", "sequential")) == nil {
				break
			}
			k.task.Sleep(50 * ms)
		}
		require.True(t, k.closed, "a change of leader disconnects the clients")
		k.task.Sleep(5 * s)
		k.open(3, 20*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 60*s)
	})
	w.play()
	require.Equal(t, []string{"zk-5 demote 1", "zk-1 promote 2"}, w.promotions())
	w.agree(1, 2, 3, 4, 5)
}

func TestServerThatLacksACommittedWriteIsNotPromoted(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, cut("zk-1", "zk-2", "zk-3"), 5*s)
	w.After(9*s, func() { require.True(t, w.zk.Promote(w.zk.Servers[0])) })
	w.client("a", func(k *keeper) {
		k.open(2, 20*s)
		w.sleepUntil(k.task, 6*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 60*s)
	})
	w.play()
	require.NotContains(t, w.promotions(), "zk-1 promote 2")
	require.Equal(t, zookeeper.OK, code(w, 1, "/p"))
}

func TestUsedContainerIsDeletedWithinAMinuteAndItsSequenceRestarts(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	container := func(path string) *zookeeper.Request {
		return &zookeeper.Request{Op: zookeeper.Create, Path: path, Container: true}
	}
	w.client("a", func(k *keeper) {
		k.open(1, 40*s)
		k.must(container("/used"))
		k.must(container("/unused"))
		k.must(container("/busy"))
		k.must(create("/busy/n-", "sequential"))
		first := k.must(create("/used/n-", "sequential"))
		k.must(del(first.Path, -1))
		emptied := time.Duration(w.Now())
		for code(w, 1, "/used") == zookeeper.OK {
			k.task.Sleep(s)
			k.must(ask(zookeeper.Ping, ""))
		}
		require.LessOrEqual(t, time.Duration(w.Now())-emptied, 61*s)
		k.pingUntil(130 * s)
		require.Equal(t, zookeeper.OK, code(w, 1, "/busy"))
		require.Equal(t, zookeeper.OK, code(w, 1, "/unused"), "it has not been used")
		k.must(container("/used"))
		second := k.must(create("/used/n-", "sequential"))
		require.Equal(t, first.Path, second.Path)
		require.Greater(t, second.Stat.Czxid, first.Stat.Czxid)
		both := k.must(&zookeeper.Request{Op: zookeeper.Create, Path: "/e", Container: true, Ephemeral: true})
		require.Zero(t, both.Stat.EphemeralOwner, "a container is no session's")
	})
	w.play()
	w.agree(1, 2, 3)
}

// TestContainersAreSweptAfterAChangeOfLeader: the new leader has a clock of its own for it.
func TestContainersAreSweptAfterAChangeOfLeader(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, sim.Action{Kind: sim.Crash, Node: "zk-3"})
	w.client("a", func(k *keeper) {
		k.open(1, 40*s)
		k.must(&zookeeper.Request{Op: zookeeper.Create, Path: "/c", Container: true})
		k.must(del(k.must(create("/c/n-", "sequential")).Path, -1))
		w.sleepUntil(k.task, 64*s)
		require.Equal(t, zookeeper.OK, code(w, 1, "/c"))
		w.sleepUntil(k.task, 67*s)
		require.Equal(t, zookeeper.NoNode, code(w, 1, "/c"))
	})
	w.play()
}

// TestLeaderThatIsJustElectedTracksNobodyYet ends a session in the middle of what a new leader does.
func TestLeaderThatIsJustElectedTracksNobodyYet(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(10*s, crash("zk-3", false, 0))
	w.client("a", func(k *keeper) {
		k.open(1, 30*s)
		asked := false
		w.elected = func() { asked = true; require.False(t, w.zk.EndSession(k.session)) }
		w.sleepUntil(k.task, 20*s)
		require.True(t, asked)
	})
	w.play()
}
