package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

func TestRedlockPyKeepsOneValueForAllTries(t *testing.T) {
	w := newWorld(5)
	majorityTaken(w)
	r := take(t, w, "redlock-py", locks.Options{}, locks.Forever)
	require.ErrorIs(t, r.err, locks.ErrNotAcquired)
	require.Equal(t, []string{"value-1", "value-1", "value-1"}, valuesOf(w))
}

func TestRedlockPyAlsoWaitsAfterItsLastTry(t *testing.T) {
	w := newWorld(5)
	majorityTaken(w)
	r := take(t, w, "redlock-py", locks.Options{}, locks.Forever)
	const oneTry = 2 * 5 * 2 * latency
	require.Equal(t, 3*(oneTry+200*time.Millisecond), r.took)
}

func TestRedlockPyRaisesAndLeaksWhenAServerErrsAlthoughItWon(t *testing.T) {
	w := newWorld(5)
	w.servers[4].fault = func(request) fault { return fault{refuse: true} }
	r := take(t, w, "redlock-py", locks.Options{}, locks.Forever)
	require.EqualError(t, r.err, "won 4 votes: redis server 4: certainly not done")
	require.ErrorIs(t, r.err, locks.ErrNotDone)
	require.Len(t, valuesOf(w), 1, "it does not try again")
	for i, s := range w.servers[:4] {
		require.Equal(t, []string{"SET"}, s.executed, "server %d is not asked to release", i)
	}
}

func TestRedlockPyIsBlockedByOneSilentServer(t *testing.T) {
	w := newWorld(5)
	w.servers[2].silent()
	r := take(t, w, "redlock-py", locks.Options{}, locks.Try)
	require.False(t, r.ended)

	w = newWorld(5)
	w.servers[2].silent()
	r = take(t, w, "redlock-py", locks.Options{Timeout: time.Second}, locks.Try)
	require.ErrorIs(t, r.err, locks.ErrUnknown, "a socket time-out helps, and ends in the exception")
}

func TestRedlockPyUnlockSwallowsErrors(t *testing.T) {
	w := newWorld(5)
	ended := false
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "redlock-py", locks.Options{})
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		for _, s := range w.servers {
			s.fault = func(request) fault { return fault{refuse: true} }
		}
		require.NoError(t, l.Release(lease))
		ended = true
	})
	w.run(time.Second)
	require.True(t, ended)
}

// The release of the first try is late on three servers and meets the keys of the second, which has won.
func TestRedlockPyLateUnlockRemovesTheKeysOfTheNextTry(t *testing.T) {
	for name, left := range map[string]int{"redlock-py": 2, "redlock": 5} {
		w := newWorld(5)
		for i, s := range w.servers {
			s.fault = func(q request) fault {
				first := q.at < 400*time.Millisecond
				switch {
				case first && q.name() == "SET" && i < 3:
					return fault{refuse: true}
				case first && q.name() == "EVAL" && i < 3:
					return fault{late: 2 * time.Second}
				}
				return fault{}
			}
		}
		o := locks.Options{
			Timeout: 50 * time.Millisecond,
			Retry:   locks.Retry{Delay: 500 * time.Millisecond, Jitter: 1},
		}
		held := 0
		w.start("a", func(p locks.Process) {
			_, err := mustBuild(t, p, name, o).Acquire(locks.Forever)
			require.NoError(t, err)
			p.Sleep(5 * time.Second)
			for _, s := range w.servers {
				if _, ok := s.holds("lock"); ok {
					held++
				}
			}
		})
		w.run(time.Minute)
		require.Equal(t, left, held, name)
	}
}

func TestRedlockPyDeadlineIsOnTheWallClock(t *testing.T) {
	w := newWorld(5)
	r := take(t, w, "redlock-py", locks.Options{}, locks.Try)
	require.NoError(t, r.err)
	require.Equal(t, locks.WallDeadline(r.wall.Add(9898*time.Millisecond)), r.lease.Deadline)
}
