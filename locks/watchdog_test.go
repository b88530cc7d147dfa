package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// renewals returns when the server was asked to renew.
func renewals(w *world) []time.Duration {
	var times []time.Duration
	for _, q := range w.asked {
		if q.name() == "EVAL" && strings.Contains(q.args[1], `"pexpire"`) {
			times = append(times, q.at)
		}
	}
	return times
}

// watch has a hold a watchdog lock for the given time.
func watch(t *testing.T, w *world, o locks.Options, work time.Duration) {
	w.start("a", func(p locks.Process) {
		l := mustBuild(t, p, "watchdog", o)
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		p.Sleep(work)
		_ = l.Release(lease)
	})
}

func TestWatchdogKeepsTheLockBeyondTheLease(t *testing.T) {
	w := newWorld(1)
	watch(t, w, locks.Options{}, 33*time.Second)
	b := ask(t, w, "watchdog", locks.Options{}, 30*time.Second)
	w.run(32 * time.Second)
	require.ErrorIs(t, b.err, locks.ErrNotAcquired)
}

func TestWatchdogRenewsAfterFourFifthsOfTheLease(t *testing.T) {
	w := newWorld(1)
	watch(t, w, locks.Options{}, 20*time.Second)
	w.run(time.Minute)
	require.Equal(t, []time.Duration{8*time.Second + 2*latency, 16*time.Second + 4*latency}, renewals(w))
}

func TestWatchdogRenewsAsOftenAsItIsTold(t *testing.T) {
	w := newWorld(1)
	watch(t, w, locks.Options{TTL: 30 * time.Second, Renew: 10 * time.Second}, 25*time.Second)
	w.run(time.Minute)
	require.Len(t, renewals(w), 2)
}

func TestReleaseEndsTheRenewal(t *testing.T) {
	w := newWorld(1)
	watch(t, w, locks.Options{}, 9*time.Second)
	w.run(time.Hour)
	require.Len(t, renewals(w), 1)
	require.Empty(t, w.servers[0].keys)
}

func TestWatchdogStopsWhenTheKeyIsAnothers(t *testing.T) {
	w := newWorld(1)
	watch(t, w, locks.Options{}, time.Hour)
	w.at(5*time.Second, func() { w.servers[0].keys["lock"] = entry{"another", locks.Forever} })
	w.run(30 * time.Minute)
	require.Len(t, renewals(w), 1)
	value, _ := w.servers[0].holds("lock")
	require.Equal(t, "another", value)
}

func TestWatchdogTriesAgainAfterAFailedRenewal(t *testing.T) {
	w := newWorld(1)
	w.servers[0].fault = func(q request) fault {
		return fault{loseRequest: q.name() == "EVAL" && q.at < 4*time.Second}
	}
	watch(t, w, locks.Options{Renew: 3 * time.Second, Timeout: time.Second}, time.Hour)
	w.run(time.Minute)
	_, held := w.servers[0].holds("lock")
	require.True(t, held)
}
