package zookeeper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// promotions lists when which server became leader.
func (w *world) promotions() (found []string) {
	for _, e := range w.Trace.Events() {
		if e.Does == trace.Promote || e.Does == trace.Demote {
			found = append(found, fmt.Sprintf("%s %v %d", e.Node, e.Does, e.Sum))
		}
	}
	return found
}

// agree checks that the servers have equal logs and trees.
func (w *world) agree(servers ...int) {
	w.t.Helper()
	first := w.zk.Servers[servers[0]-1]
	for _, id := range servers[1:] {
		require.Equal(w.t, first.Log(), w.zk.Servers[id-1].Log(), "log of server %d", id)
		require.Equal(w.t, first.Tree().Dump(), w.zk.Servers[id-1].Tree().Dump(), "tree of server %d", id)
	}
}

func TestCrashedLeaderIsReplacedAndFollowsAfterwards(t *testing.T) {
	for _, host := range []bool{false, true} {
		w := newWorld(t, 1, zookeeper.Config{})
		w.at(10*s, crash("zk-3", host, 25*s))
		w.client("a", func(k *keeper) {
			k.open(1, 30*s)
			k.must(create("/e", "ephemeral"))
			k.waitUntil(40 * s)
			require.True(t, k.closed, "a follower without a leader closes its clients' connections")
			k.task.Sleep(3 * s)
			k.open(1, 30*s)
			require.Equal(t, k.session, k.must(ask(zookeeper.Exists, "/e")).Stat.EphemeralOwner)
			a := k.must(create("/second"))
			require.Equal(t, uint32(2), a.Stat.Czxid.Epoch())
			w.sleepUntil(k.task, 60*s)
		})
		w.play()
		require.Equal(t, []string{"zk-2 promote 2"}, w.promotions())
		w.agree(1, 2, 3)
		require.Equal(t, zookeeper.Following, w.zk.Servers[2].State())
	}
}

func TestElectionTakesTheSettlingTimeAndSomeRoundTrips(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(10*s, crash("zk-3", false, 0))
	w.client("a", func(k *keeper) { k.task.Sleep(20 * s) })
	w.play()
	for _, e := range w.Trace.Events() {
		if e.Does == trace.Promote {
			took := time.Duration(e.At) - 10*s
			require.Greater(t, took, 200*ms)
			require.Less(t, took, 220*ms)
			return
		}
	}
	t.Fatal("nobody was elected")
}

func TestServerWithTheNewestLogWins(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, cut("zk-2", "zk-1", "zk-3"), 6*s) // it misses a write
	w.at(10*s, crash("zk-3", true, 0))          // what it had still to send again is lost
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		w.sleepUntil(k.task, 6*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 60*s)
	})
	w.play()
	require.Equal(t, zookeeper.OK, code(w, 2, "/p"))
	require.Equal(t, "zk-1 promote 2", w.promotions()[0])
	w.agree(1, 2)
}

// TestEpochThatNobodyHeardOfWinsNoElection has a server win two elections and die before it tells anybody of its epoch.
// Then it must follow a log that is newer than its own.
func TestEpochThatNobodyHeardOfWinsNoElection(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(s, crash("zk-3", false, 20*ms))
	for i, down := range []time.Duration{20 * ms, 20 * s} { // its first two words are those of the first epoch
		w.Inject(sim.Fault{
			Trigger: sim.Trigger{
				When: sim.Before, Nth: 3 + i, Step: sim.Pattern{Node: "zk-3", Does: trace.Reply, What: "LEADERINFO"},
			},
			Action: crash("zk-3", false, down),
		})
	}
	w.at(15*s, crash("zk-2", false, time.Minute))
	w.client("a", func(k *keeper) {
		w.sleepUntil(k.task, 8*s)
		k.open(1, 20*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 30*s)
		require.Equal(t, zookeeper.OK, code(w, 3, "/p"), "what a majority had on disk is lost")
		k.open(3, 20*s)
		require.Equal(t, uint32(4), k.must(create("/q")).Stat.Czxid.Epoch(), "no number is used twice")
		w.sleepUntil(k.task, 2*time.Minute)
	})
	w.play()
	require.Equal(t, []string{"zk-2 promote 2", "zk-1 promote 4"}, w.promotions())
	w.agree(1, 2, 3)
}

func TestLeaderOfAMinorityStepsDownLateAndForgetsWhatItAloneHas(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(10*s, cut("zk-3", "zk-1", "zk-2"), 40*s)
	w.client("a", func(k *keeper) {
		k.open(3, 40*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 11*s)
		require.Equal(t, zookeeper.OK, k.must(ask(zookeeper.Exists, "/p")).Err, "it serves reads")
		k.send(create("/alone"))
		k.waitUntil(30 * s)
		require.True(t, k.closed)
		require.Less(t, k.ended, 10*s+(5+1)*2*s)
		require.Greater(t, k.ended, 10*s+5*2*s)
		require.Empty(t, k.answers, "it cannot commit")
	})
	w.client("b", func(k *keeper) {
		w.sleepUntil(k.task, 25*s)
		k.open(1, 10*s)
		k.must(create("/new"))
		w.sleepUntil(k.task, 5*time.Minute)
	})
	w.play()
	require.Equal(t, []string{"zk-2 promote 2", "zk-3 demote 1"}, w.promotions())
	require.Equal(t, zookeeper.NoNode, code(w, 3, "/alone"))
	w.agree(1, 2, 3)
}

func TestUncommittedWriteSurvivesWithTheWinner(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.Inject(sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "zk-3", Does: trace.Execute, What: "ACK", Peer: "zk-2"}, Nth: 3},
		Action:  sim.Action{Kind: sim.Crash, Node: "zk-3"},
	})
	w.at(5*s, cut("zk-1", "zk-3"), 3*s)
	w.client("a", func(k *keeper) {
		k.open(3, 10*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 6*s)
		require.Nil(t, k.call(create("/ambiguous")))
		w.sleepUntil(k.task, 30*s)
	})
	w.play()
	require.Equal(t, zookeeper.OK, code(w, 2, "/ambiguous"))
	w.agree(1, 2)
}

func TestHostCrashLosesTheTailOnlyWithoutForcedFlushes(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		w := newWorld(t, 1, zookeeper.Config{Servers: 1, LazyDisk: lazy})
		w.at(50*s, crash("zk-1", true, s))
		w.client("a", func(k *keeper) {
			k.open(1, 40*s)
			k.must(create("/early"))
			w.sleepUntil(k.task, 30*s)
			k.must(create("/late"))
			w.sleepUntil(k.task, 60*s)
		})
		w.play()
		want := zookeeper.OK
		if lazy {
			want = zookeeper.NoNode
		}
		require.Equal(t, zookeeper.OK, code(w, 1, "/early"))
		require.Equal(t, want, code(w, 1, "/late"))
	}
}

func TestPausedLeaderIsReplacedAndItsClientsSessionsLive(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{Servers: 5})
	w.at(10*s, sim.Action{Kind: sim.Pause, Node: "zk-5"}, 30*s)
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		first := k.session
		k.pingUntil(60 * s)
		require.True(t, k.closed)
		k.task.Sleep(3 * s)
		k.open(2, 10*s)
		require.Equal(t, first, k.session)
		k.must(create("/p"))
		k.pingUntil(2 * time.Minute)
	})
	w.play()
	require.Equal(t, []string{"zk-4 promote 2", "zk-5 demote 1"}, w.promotions())
	require.Len(t, w.expired, 1, "the old leader decides that the session has expired, and cannot commit it")
	w.agree(1, 2, 3, 4, 5)
}

// TestNothingAcknowledgedIsLost plays clients that create nodes through crashes and cuts: what was acknowledged is in
// the end on all servers, in equal logs, and the same seed plays the same run.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	for seed := range uint64(long.Pick(4, 4, 12)) {
		acked, digest := storm(t, seed)
		again, same := storm(t, seed)
		require.Equal(t, digest, same)
		require.Equal(t, acked, again)
	}
}

func storm(t *testing.T, seed uint64) (acked []string, digest uint64) {
	w := newWorld(t, seed, zookeeper.Config{Servers: 3 + 2*int(seed%2)})
	r := w.Rand("storm")
	node := func() string { return fmt.Sprintf("zk-%d", 1+r.Int64N(int64(len(w.zk.Servers)))) }
	for range 4 {
		at := 5*s + time.Duration(r.Int64N(int64(40*s)))
		lasts := time.Duration(r.Int64N(int64(20 * s)))
		switch r.Int64N(3) {
		case 0:
			w.at(at, crash(node(), r.Int64N(2) == 0, lasts+1))
		case 1:
			w.at(at, sim.Action{Kind: sim.Pause, Node: node()}, lasts+1)
		default:
			if from, to := node(), node(); from != to {
				w.at(at, cut(from, to), lasts+1)
			}
		}
	}
	for i, name := range []string{"a", "b", "c"} {
		w.client(name, func(k *keeper) {
			for n := 0; time.Duration(w.Now()) < 70*s; n++ {
				k.session, k.seen = 0, 0
				if k.dial(1+(i+n)%len(w.zk.Servers), 10*s) == nil {
					k.task.Sleep(s)
					continue
				}
				for step := range 40 {
					path := fmt.Sprintf("/%s-%d-%d", name, n, step)
					a := k.call(create(path))
					if a == nil {
						break
					}
					require.Equal(t, zookeeper.OK, a.Err)
					acked = append(acked, path)
					k.task.Sleep(100 * ms)
				}
			}
			k.task.Sleep(4 * time.Minute)
		})
	}
	w.play()
	require.NotEmpty(t, acked)
	ids := make([]int, len(w.zk.Servers))
	for i := range ids {
		ids[i] = i + 1
		for _, path := range acked {
			require.Equal(t, zookeeper.OK, code(w, ids[i], path), "seed %d: server %d lost %s", seed, ids[i], path)
		}
	}
	w.agree(ids...)
	for i := 1; i < len(w.committed); i++ {
		require.Less(t, w.committed[i-1].Zxid, w.committed[i].Zxid)
	}
	return acked, w.Trace.Digest()
}

// TestNothingIsReportedTwice has a leader stand still before it hears that a majority has a write. When it goes on,
// another has committed that write, and more.
func TestNothingIsReportedTwice(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.Inject(sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "zk-3", Does: trace.Execute, What: "ACK"}, Nth: 3},
		Action:  sim.Action{Kind: sim.Pause, Node: "zk-3"}, For: 25 * s,
	})
	w.client("a", func(k *keeper) {
		k.open(1, 30*s)
		k.call(create("/p"))
		for k.dial(1, 30*s) == nil {
			k.task.Sleep(s)
		}
		require.Less(t, time.Duration(w.Now()), 20*s)
		for range 30 {
			k.must(create("/n", "sequential"))
			k.task.Sleep(s)
		}
	})
	w.play()
	require.Greater(t, len(w.committed), 30)
	for i := 1; i < len(w.committed); i++ {
		require.Less(t, w.committed[i-1].Zxid, w.committed[i].Zxid)
	}
}
