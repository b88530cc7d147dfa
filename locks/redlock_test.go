package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// taking is what came of one Acquire that began at true time 0.
type taking struct {
	lease locks.Lease
	err   error
	start locks.Monotonic
	wall  locks.Wall
	took  time.Duration
	ended bool
}

// take has process a acquire the named lock and lets the world run for an hour.
func take(t *testing.T, w *world, name string, o locks.Options, wait time.Duration) taking {
	r := taking{}
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, name, o)
		r.start, r.wall = p.Monotonic(), p.Wall()
		r.lease, r.err = l.Acquire(wait)
		r.took, r.ended = p.Monotonic().Sub(r.start), true
	})
	w.run(time.Hour)
	return r
}

// slow makes every server answer its SETs late.
func slow(w *world, by time.Duration) {
	for _, s := range w.servers {
		s.fault = func(q request) fault {
			if q.name() == "SET" {
				return fault{late: by}
			}
			return fault{}
		}
	}
}

func TestRedlockRefusesWhenAcquiringTookLongerThanTheLease(t *testing.T) {
	for _, name := range []string{"redlock", "redlock-no-drift", "redlock-quorum-prose", "redlock-py"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(5)
			slow(w, 2100*time.Millisecond) // five times: all five vote yes, 10.51 s after the start
			r := take(t, w, name, locks.Options{Timeout: 5 * time.Second}, locks.Try)
			require.ErrorIs(t, r.err, locks.ErrNotAcquired)
			require.NotErrorIs(t, r.err, locks.ErrUnknown, "all have answered")
		})
	}
}

func TestRedlockThatCountsVotesOnlyAcceptsALeaseThatIsOver(t *testing.T) {
	w := newWorld(5)
	slow(w, 2100*time.Millisecond)
	r := take(t, w, "redlock-no-check", locks.Options{Timeout: 5 * time.Second}, locks.Try)
	require.NoError(t, r.err)
	require.Greater(t, r.took, 10*time.Second)
}

// 9.890 s leave 8 ms of 9.898 s; 9.900 s leave nothing. Both are within the ttl: only the allowance refuses.
func TestRedlockRefusesWhenOnlyTheDriftAllowanceIsLeft(t *testing.T) {
	o := locks.Options{Timeout: 5 * time.Second}
	for _, c := range []struct {
		name string
		late time.Duration
		ok   bool
	}{
		{"redlock", 1976 * time.Millisecond, true},
		{"redlock", 1978 * time.Millisecond, false},
		{"redlock-no-drift", 1978 * time.Millisecond, true},
		{"redlock-no-drift", 1998 * time.Millisecond, false},
	} {
		w := newWorld(5)
		slow(w, c.late)
		r := take(t, w, c.name, o, locks.Try)
		require.Equal(t, c.ok, r.err == nil, "%s, %v each: %v", c.name, c.late, r.err)
	}
}

func TestRedlockDeadlineIsCountedFromBeforeTheFirstRequest(t *testing.T) {
	for name, length := range map[string]time.Duration{
		"redlock":              9898 * time.Millisecond,
		"redlock-parallel":     9898 * time.Millisecond,
		"redlock-quorum-prose": 9898 * time.Millisecond,
		"redlock-no-drift":     10 * time.Second,
	} {
		w := newWorld(5)
		slow(w, 10*time.Millisecond)
		r := take(t, w, name, locks.Options{}, locks.Try)
		require.NoError(t, r.err)
		require.Equal(t, locks.MonotonicDeadline(r.start.Add(length)), r.lease.Deadline, name)
	}
}

// Holder slow by r, server fast by r: safe while the holder's deadline comes first, r <= d/(2T-d).
func TestRedlockDriftAllowanceCoversFiveThousandPartsPerMillion(t *testing.T) {
	const ttl = 1000 * time.Second
	r := take(t, newWorld(5), "redlock", locks.Options{TTL: ttl}, locks.Try)
	require.NoError(t, r.err)
	drift := ttl - time.Duration(r.lease.Deadline.At-int64(r.start))
	require.Equal(t, 10_002*time.Millisecond, drift)
	ppm := int64(drift/time.Millisecond) * 1_000_000 / int64((2*ttl-drift)/time.Millisecond)
	require.EqualValues(t, 5_026, ppm)
}

func TestRedlockReleasesOnAllNodesAfterAFailedTry(t *testing.T) {
	for _, name := range []string{"redlock", "redlock-no-drift", "redlock-parallel", "redlock-py"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(5)
			w.servers[0].keys["lock"] = entry{"another", locks.Forever} // says no
			w.servers[1].keys["lock"] = entry{"another", locks.Forever}
			w.servers[2].fault = func(q request) fault { return fault{loseReply: q.name() == "SET"} }
			w.servers[3].fault = func(q request) fault { return fault{refuse: q.name() == "SET"} }
			r := take(t, w, name, locks.Options{Timeout: 50 * time.Millisecond}, locks.Try)
			require.ErrorIs(t, r.err, locks.ErrNotAcquired)
			for i, s := range w.servers {
				require.Equal(t, "EVAL", s.executed[len(s.executed)-1], "server %d", i)
				_, held := s.holds("lock")
				require.Equal(t, i < 2, held, "server %d", i)
			}
		})
	}
}

// valuesOf returns the values with which the first server was asked, try by try.
func valuesOf(w *world) []string {
	var values []string
	for _, q := range w.asked {
		if q.server == 0 && q.name() == "SET" {
			values = append(values, q.args[2])
		}
	}
	return values
}

func TestRedlockDrawsAFreshValueForEveryTry(t *testing.T) {
	w := newWorld(5)
	majorityTaken(w)
	take(t, w, "redlock", locks.Options{Retry: locks.Retry{Tries: 3}}, locks.Forever)
	require.Equal(t, []string{"value-1", "value-2", "value-3"}, valuesOf(w))
}

func majorityTaken(w *world) {
	for _, s := range w.servers[:3] {
		s.keys["lock"] = entry{"another", locks.Forever}
	}
}

func TestRedlockNeedsAMajority(t *testing.T) {
	for _, c := range []struct {
		name string
		down int
		ok   bool
	}{
		{"redlock", 2, true},
		{"redlock", 3, false},
		{"redlock-parallel", 2, true},
		{"redlock-parallel", 3, false},
		{"redlock-quorum-prose", 1, true},
		{"redlock-quorum-prose", 2, false},
		{"redlock-no-check", 2, true},
		{"redlock-no-check", 3, false},
	} {
		w := newWorld(5)
		for _, s := range w.servers[:c.down] {
			s.silent()
		}
		r := take(t, w, c.name, locks.Options{}, locks.Try)
		require.True(t, r.ended, "a silent server costs its time-out only")
		require.Equal(t, c.ok, r.err == nil, "%s with %d of 5 silent: %v", c.name, c.down, r.err)
		if !c.ok {
			require.ErrorIs(t, r.err, locks.ErrNotAcquired)
			require.ErrorContains(t, r.err, "redis server 0: outcome unknown")
		}
	}
}

func TestRedlockAsksOneServerAfterAnother(t *testing.T) {
	w := newWorld(5)
	r := take(t, w, "redlock", locks.Options{}, locks.Try)
	require.NoError(t, r.err)
	for i, q := range w.asked {
		require.Equal(t, i, q.server)
		require.Equal(t, time.Duration(i)*2*latency, q.at)
	}
}

func TestParallelRedlockAsksAllServersAtOnce(t *testing.T) {
	w := newWorld(5)
	w.servers[4].silent()
	r := take(t, w, "redlock-parallel", locks.Options{}, locks.Try)
	require.NoError(t, r.err)
	for _, q := range w.asked {
		require.Zero(t, q.at)
	}
	require.Equal(t, 50*time.Millisecond, r.took, "it waits for the last server's time-out, no longer")
}

func TestRedlockWaitsARandomTimeBetweenTries(t *testing.T) {
	o := locks.Options{Retry: locks.Retry{Delay: 100 * time.Millisecond, Tries: 40}}
	for name, fixed := range map[string]bool{
		"redlock": false, "redlock-parallel": false, "redlock-parallel-fixed-delay": true, "redlock-py": true,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1)
			w.servers[0].keys["lock"] = entry{"another", locks.Forever}
			take(t, w, name, o, locks.Forever)
			shortest, longest := time.Hour, time.Duration(0)
			for _, d := range delaysOf(w, "a") {
				d -= 2 * latency // the release
				shortest, longest = min(shortest, d), max(longest, d)
			}
			if fixed {
				require.Equal(t, shortest, longest)
				require.Equal(t, 100*time.Millisecond, longest)
				return
			}
			require.Less(t, shortest, 20*time.Millisecond)
			require.Greater(t, longest, 80*time.Millisecond)
			require.LessOrEqual(t, longest, 100*time.Millisecond)
		})
	}
}

func TestRedlockReleaseNeedsAMajorityToHaveBeenHeld(t *testing.T) {
	for lost, want := range map[int]error{2: nil, 3: locks.ErrNotHeld} {
		w := newWorld(5)
		var err error
		w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, "redlock", locks.Options{})
			lease, failure := l.Acquire(locks.Try)
			require.NoError(t, failure)
			for _, s := range w.servers[:lost] {
				clear(s.keys)
			}
			err = l.Release(lease)
		})
		w.run(time.Second)
		require.ErrorIs(t, err, want)
	}
}

func TestWallClockStepMovesOnlyTheWallClocksDeadline(t *testing.T) {
	for name, moved := range map[string]time.Duration{"redlock": 0, "redlock-py": 5 * time.Second} {
		w := newWorld(5)
		slow(w, 100*time.Millisecond)
		var early, late time.Duration
		process := w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, name, locks.Options{Timeout: time.Second})
			lease, err := l.Acquire(locks.Try)
			require.NoError(t, err)
			p.Sleep(9*time.Second - w.now)
			require.False(t, lease.Deadline.Passed(p))
			for !lease.Deadline.Passed(p) {
				early = w.now
				p.Sleep(time.Millisecond)
			}
			late = w.now
		})
		w.at(250*time.Millisecond, func() { process.wall -= 5 * time.Second })
		w.run(time.Minute)
		passes := 9898*time.Millisecond + moved
		require.Less(t, early, passes, name)
		require.GreaterOrEqual(t, late, passes, name)
	}
}

func TestRefusalSaysWhy(t *testing.T) {
	w := newWorld(5)
	majorityTaken(w)
	r := take(t, w, "redlock", locks.Options{}, locks.Try)
	require.EqualError(t, r.err, "lock not acquired: 2 votes, 3 needed")

	w = newWorld(3)
	slow(w, 4*time.Second)
	r = take(t, w, "redlock", locks.Options{Timeout: 5 * time.Second}, locks.Try)
	require.True(t, strings.HasPrefix(r.err.Error(), "lock not acquired: the lease was over by 2.1"), r.err)
}
