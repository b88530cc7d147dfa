package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// overrun makes a hold the lock for longer than its lease of 10 s; b gets it meanwhile. It returns what a's release
// reports, and the value of b's lease.
func overrun(t *testing.T, w *world, name string) (released error, lease locks.Lease) { //nolint:staticcheck // the error is a result like the other
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, name, locks.Options{})
		mine, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		p.Sleep(12 * time.Second)
		released = l.Release(mine)
	})
	w.start("b", func(p locks.Process) {
		p.Sleep(time.Second)
		var err error
		lease, err = mustBuild(t, p, name, locks.Options{TTL: time.Minute}).Acquire(locks.Forever)
		require.NoError(t, err)
	})
	w.run(13 * time.Second)
	return released, lease
}

func TestReleaseLeavesAnothersKey(t *testing.T) {
	for _, name := range []string{
		"set-nx-lua", "set-nx-lua-fenced", "set-nx-get-del", "set-nx-lua-reused-value", "set-without-nx", "redlock",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			err, lease := overrun(t, w, name)
			require.ErrorIs(t, err, locks.ErrNotHeld)
			value, held := w.servers[0].holds("lock")
			require.True(t, held)
			require.Equal(t, lease.Value, value)
		})
	}
}

func TestPlainDelRemovesAnothersKey(t *testing.T) {
	for _, name := range []string{"set-nx-ex-del", "setnx-expire"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			err, _ := overrun(t, w, name)
			require.NoError(t, err)
			_, held := w.servers[0].holds("lock")
			require.False(t, held)
		})
	}
}

func TestConstantOwnerRemovesAnothersKey(t *testing.T) {
	w := newWorld(1)
	_, _ = overrun(t, w, "jedis-sample")
	_, held := w.servers[0].holds("lock")
	require.False(t, held)
}

func TestReleaseOfALeaseThatIsOverReportsNotHeld(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		var err error
		ended := false
		w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, a.Name, locks.Options{})
			lease, failure := l.Acquire(locks.Try)
			require.NoError(t, failure)
			for _, s := range w.servers {
				clear(s.keys)
			}
			err, ended = l.Release(lease), true
		})
		w.run(time.Minute)
		require.True(t, ended)
		if a.Name == "redlock-py" {
			require.NoError(t, err, "its unlock never reports")
			return
		}
		require.ErrorIs(t, err, locks.ErrNotHeld)
	})
}

func TestReleaseWithoutAnswerIsUnknown(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		var err error
		w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, a.Name, locks.Options{Timeout: 20 * time.Millisecond})
			lease, failure := l.Acquire(locks.Try)
			require.NoError(t, failure)
			for _, s := range w.servers {
				s.silent()
			}
			err = l.Release(lease)
		})
		w.run(time.Minute)
		require.ErrorIs(t, err, locks.ErrUnknown)
	}, "redlock-py")
}

func TestGetThenSetLetsTwoInAtOnce(t *testing.T) {
	w := newWorld(1)
	got := 0
	for _, name := range []string{"a", "b"} {
		w.start(name, func(p locks.Process) {
			_, err := mustBuild(t, p, "get-then-set", locks.Options{}).Acquire(locks.Try)
			require.NoError(t, err)
			got++
		})
	}
	w.run(time.Second)
	require.Equal(t, 2, got)
}

func TestSetWithoutNXTakesTheLockFromItsHolder(t *testing.T) {
	w := newWorld(1)
	holdFor(t, w, "set-without-nx", 5*time.Second)
	b := ask(t, w, "set-without-nx", locks.Options{}, locks.Try)
	w.run(2 * time.Second)
	require.True(t, b.ended)
	require.NoError(t, b.err)
	value, _ := w.servers[0].holds("lock")
	require.Equal(t, "value-2", value)
}

func TestLockWithoutExpiryOutlivesItsHolder(t *testing.T) {
	for _, name := range []string{"get-then-set", "setnx"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			w.start("dies", func(p locks.Process) {
				_, err := mustBuild(t, p, name, locks.Options{}).Acquire(locks.Try)
				require.NoError(t, err)
			})
			b := ask(t, w, name, locks.Options{}, time.Hour)
			w.run(2 * time.Hour)
			require.ErrorIs(t, b.err, locks.ErrNotAcquired)
		})
	}
}

func TestSetnxWithoutItsExpireLocksOutEvenItsOwner(t *testing.T) {
	w := newWorld(1)
	w.servers[0].fault = func(q request) fault { return fault{loseRequest: q.name() == "EXPIRE"} }
	b := ask(t, w, "setnx-expire", locks.Options{Timeout: time.Second}, time.Hour)
	w.run(2 * time.Hour)
	require.ErrorIs(t, b.err, locks.ErrNotAcquired)
}

func TestExpireCountsInWholeSecondsUpwards(t *testing.T) {
	w := newWorld(1)
	b := ask(t, w, "setnx-expire", locks.Options{TTL: 2500 * time.Millisecond}, locks.Try)
	w.run(time.Minute)
	require.NoError(t, b.err)
	require.Equal(t, []string{"EXPIRE", "lock", "3"}, w.asked[1].args)
}

// The lease of a ends between its GET and its DEL, and b gets the lock in between.
func TestReleaseByGetAndDelRemovesTheKeyMadeInBetween(t *testing.T) {
	w := newWorld(1)
	w.servers[0].fault = func(q request) fault {
		if q.name() == "DEL" {
			return fault{late: time.Second}
		}
		return fault{}
	}
	var released error
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "set-nx-get-del", locks.Options{})
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		p.Sleep(9500 * time.Millisecond)
		released = l.Release(lease)
	})
	b := ask(t, w, "set-nx-get-del", locks.Options{}, locks.Forever)
	w.run(12 * time.Second)
	require.NoError(t, b.err)
	require.NoError(t, released, "a believes that it has removed its own")
	_, held := w.servers[0].holds("lock")
	require.False(t, held)
}

func TestRetryAfterALostReplyWaitsForItsOwnLease(t *testing.T) {
	for _, name := range []string{"set-nx-lua", "set-nx-lua-fenced", "watchdog"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			first := true
			w.servers[0].fault = func(request) fault {
				f := fault{loseReply: first}
				first = false
				return f
			}
			b := ask(t, w, name, locks.Options{Timeout: 100 * time.Millisecond}, locks.Forever)
			w.run(15 * time.Second)
			require.NoError(t, b.err)
			require.InDelta(t, 10*time.Second, b.took, float64(300*time.Millisecond))
		})
	}
}

func TestServersErrorReachesTheCaller(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		for _, s := range w.servers {
			s.fault = func(request) fault { return fault{fail: "LOADING Redis is loading the dataset in memory"} }
		}
		b := ask(t, w, a.Name, locks.Options{}, locks.Try)
		w.run(time.Minute)
		var refused *locks.RedisError
		require.ErrorAs(t, b.err, &refused)
		require.ErrorContains(t, b.err, "LOADING")
	}, "redlock-py")
}

func TestForeverOutlastsAServersErrors(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		for _, s := range w.servers {
			s.fault = func(q request) fault { return fault{refuse: q.at < 2*time.Second} }
		}
		o := locks.Options{Retry: locks.Retry{Tries: 1_000}}
		b := ask(t, w, a.Name, o, locks.Forever)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.NoError(t, b.err)
	})
}

func TestFencingTokensGrowFromGrantToGrant(t *testing.T) {
	w := newWorld(1)
	var tokens []uint64
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "set-nx-lua-fenced", locks.Options{})
		for range 3 {
			lease, err := l.Acquire(locks.Try)
			require.NoError(t, err)
			_, err = l.Acquire(locks.Try)
			require.ErrorIs(t, err, locks.ErrNotAcquired, "a refusal draws no token")
			tokens = append(tokens, lease.Token)
			require.NoError(t, l.Release(lease))
		}
	})
	w.run(time.Second)
	require.Equal(t, []uint64{1, 2, 3}, tokens)
}

// The first try's SET and release are both late; the release arrives when the second try's key is there.
func TestReusedValueLetsALateReleaseRemoveTheLaterLock(t *testing.T) {
	late := func(q request) fault {
		switch {
		case q.at < 1500*time.Millisecond && q.name() == "SET":
			return fault{loseRequest: true}
		case q.at < 1500*time.Millisecond:
			return fault{late: 3 * time.Second}
		}
		return fault{}
	}
	o := locks.Options{Timeout: 100 * time.Millisecond, Retry: locks.Retry{Delay: time.Second}}
	for name, kept := range map[string]bool{"set-nx-lua-reused-value": false, "set-nx-lua": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			w.servers[0].fault = late
			b := ask(t, w, name, o, locks.Forever)
			w.run(6 * time.Second)
			require.NoError(t, b.err)
			_, held := w.servers[0].holds("lock")
			require.Equal(t, kept, held)
		})
	}
}

func TestJedisSampleReportsFailureAlthoughItDeleted(t *testing.T) {
	w := newWorld(1)
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "jedis-sample", locks.Options{})
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		require.ErrorIs(t, l.Release(lease), locks.ErrNotHeld)
	})
	w.run(time.Second)
	require.Empty(t, w.servers[0].keys)
}

func TestJedisSampleThatGivesUpFreesTheHoldersLock(t *testing.T) {
	w := newWorld(1)
	holdFor(t, w, "jedis-sample", 5*time.Second)
	b := ask(t, w, "jedis-sample", locks.Options{}, locks.Try)
	w.run(2 * time.Second)
	require.ErrorIs(t, b.err, locks.ErrNotAcquired)
	require.Empty(t, w.servers[0].keys)
}

func TestJitterIsAddedToTheDelay(t *testing.T) {
	w := newWorld(1)
	holdFor(t, w, "set-nx-lua", 30*time.Second)
	o := locks.Options{Retry: locks.Retry{Delay: 100 * time.Millisecond, Jitter: 50 * time.Millisecond}}
	ask(t, w, "set-nx-lua", o, 20*time.Second)
	w.run(10 * time.Second)
	delays := delaysOf(w, "b")
	require.Greater(t, len(delays), 50)
	for _, d := range delays {
		require.GreaterOrEqual(t, d, 100*time.Millisecond)
		require.LessOrEqual(t, d, 150*time.Millisecond)
	}
	require.NotEqual(t, delays[0], delays[1])
}

// delaysOf returns the times between a process's asking of the first server, less the round trip.
func delaysOf(w *world, process string) []time.Duration {
	var delays []time.Duration
	last := time.Duration(-1)
	for _, q := range w.asked {
		if q.process != process || q.server != 0 || q.name() != "SET" {
			continue
		}
		if last >= 0 {
			delays = append(delays, q.at-last-2*latency)
		}
		last = q.at
	}
	return delays
}

func TestWaitIsSentTogetherWithItsSet(t *testing.T) {
	for name, together := range map[string]bool{"set-nx-lua-wait": true, "set-nx-lua-wait-elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			b := ask(t, w, name, locks.Options{Acks: 2}, locks.Try)
			w.run(time.Minute)
			require.NoError(t, b.err)
			require.Len(t, w.asked, 2)
			require.Equal(t, []string{"SET", "WAIT"}, []string{w.asked[0].name(), w.asked[1].name()})
			require.Equal(t, "2", w.asked[1].args[1])
			require.Equal(t, together, w.asked[0].at == w.asked[1].at)
		})
	}
}

func TestABatchOfSetAndWaitThatIsNotAnsweredIsAFailedTry(t *testing.T) {
	w := newWorld(1)
	w.servers[0].fault = func(q request) fault { return fault{loseReply: q.name() == "SET"} }
	b := ask(t, w, "set-nx-lua-wait", locks.Options{Timeout: 100 * time.Millisecond}, locks.Try)
	w.run(time.Minute)
	require.ErrorIs(t, b.err, locks.ErrUnknown)
	require.InDelta(t, 1100*time.Millisecond, b.took, float64(5*time.Millisecond), "WAIT may take its own second")
	require.Equal(t, []string{"SET", "WAIT", "EVAL"}, w.servers[0].executed)
	require.Empty(t, w.servers[0].keys, "released by value")
}
