package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// extended has a hold redlock-extend with a lease of 10 s on five servers until it is told of its loss, for at most a minute. It returns when
// that is; 0 if it is not.
func extended(t *testing.T, trouble func(w *world)) time.Duration {
	w, told := newWorld(5), time.Duration(0)
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "redlock-extend", locks.Options{TTL: 10 * time.Second, Renew: 3 * time.Second})
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		require.False(t, lease.Deadline.Stated())
		if p.Wait(time.Minute, lease.Lost) == 0 {
			told = w.now
		}
		_ = l.Release(lease)
	})
	trouble(w)
	w.run(time.Hour)
	return told
}

func TestRedlockExtendHoldsForAsLongAsAMajorityExtends(t *testing.T) {
	require.Zero(t, extended(t, func(*world) {}))
	require.Zero(t, extended(t, func(w *world) {
		w.at(time.Second, func() { w.servers[0].silent(); w.servers[1].silent() })
	}))
}

func TestRedlockExtendTellsOfTheEndWhenNoMajorityAnswers(t *testing.T) {
	told := extended(t, func(w *world) {
		w.at(4*time.Second, func() { w.servers[0].silent(); w.servers[1].silent(); w.servers[2].silent() })
	})
	require.Equal(t, 3*time.Second+2*latency+9898*time.Millisecond, told, "the lease counts from its extension at 3 s, less the allowance")
}

func TestRedlockExtendTellsAtOnceThatNoMajorityIsLeft(t *testing.T) {
	lose := func(servers int) func(w *world) {
		return func(w *world) {
			w.at(4*time.Second, func() {
				for _, s := range w.servers[:servers] {
					_, err := s.execute([]string{"DEL", "lock"})
					require.NoError(t, err)
				}
			})
		}
	}
	require.Zero(t, extended(t, lose(2)), "three of five are a majority")
	require.Equal(t, 6*time.Second+6*latency, extended(t, lose(3)))
}

// Three servers lose what comes between 2.5 s and 5 s, so the extension at 3 s finds no majority. The next one is due at once, rather than
// after another third of the lease, and so the lease that is lost with the servers at 5.5 s is the one that it extended.
func TestRedlockExtendTriesAgainSoon(t *testing.T) {
	told := extended(t, func(w *world) {
		three := func(do func(s *server)) func() {
			return func() {
				for _, s := range w.servers[:3] {
					do(s)
				}
			}
		}
		silent, heard := (*server).silent, func(s *server) { s.fault = nil }
		w.at(2500*time.Millisecond, three(silent))
		w.at(5*time.Second, three(heard))
		w.at(5500*time.Millisecond, three(silent))
	})
	require.Greater(t, told, 14*time.Second, "the lease was last extended when the servers were heard again")
}
