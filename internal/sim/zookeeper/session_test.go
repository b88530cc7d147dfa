package zookeeper_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

func TestTimeoutIsNegotiatedInTicks(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	for name, c := range map[string]struct{ asked, given time.Duration }{
		"a": {s, 4 * s}, "b": {7 * s, 7 * s}, "c": {time.Hour, 40 * s},
	} {
		w.client(name, func(k *keeper) {
			k.open(1, c.asked)
			require.Equal(t, c.given, k.timeout)
		})
	}
	w.play()
}

// TestSilentSessionExpiresWithinATickOfItsTimeout holds on leader and followers; the follower's touch comes to the
// leader with the answer to a ping, up to half a tick late.
func TestSilentSessionExpiresWithinATickOfItsTimeout(t *testing.T) {
	for seed := range uint64(20) {
		for server := 1; server <= 3; server++ {
			w := newWorld(t, seed, zookeeper.Config{})
			var opened, gone time.Duration
			w.client("a", func(k *keeper) {
				k.open(server, 5*s)
				k.must(create("/e", "ephemeral"))
				opened = time.Duration(w.Now())
				k.waitUntil(30 * s)
				require.True(t, k.closed, "the application of closeSession closes the connection")
				gone = k.ended
			})
			w.play()
			latest := 7 * s
			if server != 3 {
				latest += s
			}
			require.Greater(t, gone-opened, 5*s-10*ms)
			require.Less(t, gone-opened, latest+10*ms)
			require.Len(t, w.expired, 1)
			require.Equal(t, zookeeper.NoNode, code(w, 2, "/e"))
		}
	}
}

// code says what a server knows of a node.
func code(w *world, server int, path string) zookeeper.Code {
	_, err := w.zk.Servers[server-1].Tree().Stat(path)
	return err
}

func TestPingsKeepASessionAliveThroughAnyServer(t *testing.T) {
	w := newWorld(t, 3, zookeeper.Config{Servers: 5})
	for server, name := range []string{"a", "b", "c", "d", "e"} {
		w.client(name, func(k *keeper) {
			k.open(server+1, 4*s)
			k.pingUntil(60 * s)
			require.False(t, k.closed)
		})
	}
	w.play()
	require.Empty(t, w.expired)
}

func TestClosedSessionTakesItsEphemeralsAtOneZxid(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		k.must(create("/e1", "ephemeral"))
		k.must(create("/e2", "ephemeral"))
		k.must(create("/p"))
		k.must(ask(zookeeper.CloseSession, ""))
		k.waitUntil(20 * s)
		require.True(t, k.closed, "the connection is closed after the answer")
	})
	w.play()
	last := w.committed[len(w.committed)-1]
	require.Len(t, last.Changes, 3)
	for server := 1; server <= 3; server++ {
		require.Equal(t, []zookeeper.Code{-101, -101, 0}, []zookeeper.Code{code(w, server, "/e1"), code(w, server, "/e2"), code(w, server, "/p")})
	}
}

func TestSessionMovesAndItsOldServerMayNoLongerWrite(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		k.must(create("/e", "ephemeral"))
		k2 := &keeper{w: w, task: k.task, session: k.session, seen: k.seen}
		k2.open(2, 10*s)
		require.Equal(t, k.session, k2.session)
		require.NotNil(t, k.call(ask(zookeeper.GetData, "/e")), "reads are still answered")
		require.Nil(t, k.call(create("/late")), "SESSIONMOVED is told by closing the connection")
		require.Equal(t, k.session, k2.must(ask(zookeeper.Exists, "/e")).Stat.EphemeralOwner)
		require.Equal(t, zookeeper.NoNode, k2.call(ask(zookeeper.Exists, "/late")).Err)
	})
	w.play()
	require.Equal(t, zookeeper.SessionMoved, w.committed[len(w.committed)-1].Err)
}

func TestExpiryIsLearntOnReconnection(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, cut("a", "zk-1"), 60*s)
	w.client("a", func(k *keeper) {
		k.open(1, 4*s)
		k.pingUntil(30 * s)
		require.False(t, k.closed, "nothing reaches it")
		r := k.dial(2, 4*s)
		require.NotNil(t, r)
		require.Zero(t, r.Session, "expired")
		require.Zero(t, r.Timeout)
		k.waitUntil(40 * s)
		require.True(t, k.closed)
	})
	w.play()
	require.Len(t, w.expired, 1)
}

func TestServerThatIsBehindTurnsTheClientAway(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, cut("zk-1", "zk-2", "zk-3"), 3*s)
	w.client("a", func(k *keeper) {
		k.open(2, 10*s)
		w.sleepUntil(k.task, 6*s)
		k.must(create("/new"))
		require.Nil(t, k.dial(1, 10*s), "no answer, the connection is closed")
		k.session = 0
		k.seen = 0
	})
	w.client("b", func(k *keeper) {
		w.sleepUntil(k.task, 20*s)
		k.open(1, 10*s)
		k.must(ask(zookeeper.Exists, "/new"))
	})
	w.play()
}

func TestNewLeaderGivesSessionsAFreshTimeout(t *testing.T) {
	w := newWorld(t, 4, zookeeper.Config{})
	w.at(10*s, crash("zk-3", false, 0))
	var crashed, ended time.Duration = 10 * s, 0
	w.client("a", func(k *keeper) {
		k.open(1, 9*s)
		k.must(create("/e", "ephemeral"))
		w.sleepUntil(k.task, 9*s)
		for k.w.Now() < 60_000_000_000 && code(w, 1, "/e") == zookeeper.OK {
			k.task.Sleep(100 * ms)
		}
		ended = time.Duration(w.Now())
	})
	w.play()
	require.Greater(t, ended-crashed, 9*s)
	require.Less(t, ended-crashed, 9*s+2*s+s)
}

// TestClientsOfAMinorityLeaderAreToldBeforeTheirSessionsExpire: the others give all sessions a fresh timeout.
func TestClientsOfAMinorityLeaderAreToldBeforeTheirSessionsExpire(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, zookeeper.Config{})
		w.at(10*s, cut("zk-3", "zk-1", "zk-2"))
		var told, gone time.Duration
		w.client("a", func(k *keeper) {
			k.open(3, 4*s)
			k.must(create("/lock", "ephemeral"))
			k.pingUntil(60 * s)
			told = k.ended
		})
		w.client("b", func(k *keeper) {
			w.sleepUntil(k.task, 5*s)
			for code(w, 1, "/lock") == zookeeper.OK {
				k.task.Sleep(10 * ms)
			}
			gone = time.Duration(w.Now())
		})
		w.play()
		require.Less(t, told, gone, "seed %d", seed)
	}
}

// TestFollowerThatIsNotHeardIsGivenUp cuts one direction only: the follower hears its leader, which does not hear it.
func TestFollowerThatIsNotHeardIsGivenUp(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	oneWay := cut("zk-1", "zk-3")
	oneWay.Link.OneWay = true
	w.at(10*s, oneWay, 60*s)
	w.client("a", func(k *keeper) {
		k.open(1, 40*s)
		k.pingUntil(60 * s)
		require.True(t, k.closed)
		require.Greater(t, k.ended, 10*s+(5*2-1)*s, "it had last spoken up to half a tick before")
		require.Less(t, k.ended, 10*s+5*2*s+100*ms)
		w.sleepUntil(k.task, 3*time.Minute)
		k.session = 0
		k.open(1, 40*s) // it is part of the ensemble again
	})
	w.play()
	w.agree(1, 2, 3)
}
