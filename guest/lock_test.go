package guest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// clock is one that stands still, far from this machine's.
type clock struct{}

func (clock) Wall() locks.Wall           { return 5e18 }
func (clock) Monotonic() locks.Monotonic { return 7e9 }

// built is a registered lock, as the workload has it.
func built(t *testing.T, m Mutex) locks.Lock {
	t.Helper()
	registered = nil
	Register(func(Config) (Mutex, error) { return m, nil })
	t.Cleanup(func() { registered = nil })
	lock, err := build(Config{TTL: 70 * time.Minute, Renew: 20 * time.Minute}, 0, clock{})
	require.NoError(t, err)
	return lock
}

func TestADeadlineIsOnTheClockThatItWasReadFrom(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	for _, c := range []struct {
		until time.Time
		on    locks.ClockKind
	}{
		{time.Time{}, locks.NoClock}, {soon, locks.OnMonotonic},
		{soon.Round(0), locks.OnWall}, {soon.UTC(), locks.OnWall},
	} {
		lock := built(t, Mutex{Lock: func(context.Context) (Lease, error) {
			return Lease{Until: c.until, Value: "v", Token: 3}, nil
		}})
		lease, err := lock.Acquire(locks.Forever)
		require.NoError(t, err)
		require.Equal(t, c.on, lease.Deadline.On)
		require.Equal(t, "v", lease.Value)
		require.Equal(t, uint64(3), lease.Token)
		switch c.on {
		case locks.NoClock:
			require.Zero(t, lease.Deadline.At)
		case locks.OnWall:
			require.Equal(t, soon.UnixNano(), lease.Deadline.At)
		case locks.OnMonotonic:
			require.InDelta(t, int64(7*time.Second+time.Hour), lease.Deadline.At, float64(time.Minute))
		}
	}
}

func TestWhatIsNotKnownToHaveFailedMayHaveBeenDone(t *testing.T) {
	var says error
	lock := built(t, Mutex{
		Lock:   func(context.Context) (Lease, error) { return Lease{}, says },
		Unlock: func(context.Context) error { return says },
		Valid:  func(context.Context) error { return says },
	})
	for _, c := range []struct{ says, acquire, release error }{
		{ErrNotAcquired, locks.ErrNotAcquired, locks.ErrUnknown},
		{fmt.Errorf("redsync: %w", ErrNotHeld), locks.ErrUnknown, locks.ErrNotHeld},
		{errors.New("i/o timeout"), locks.ErrUnknown, locks.ErrUnknown},
	} {
		says = c.says
		_, err := lock.Acquire(locks.Forever)
		require.ErrorIs(t, err, c.acquire)
		require.ErrorIs(t, lock.Release(locks.Lease{}), c.release)
		require.ErrorIs(t, lock.(locks.Verifier).Verify(locks.Lease{}), c.release)
	}
	says = nil
	require.NoError(t, lock.Release(locks.Lease{}))
	_, verifies := built(t, Mutex{}).(locks.Verifier)
	require.False(t, verifies)
}

func TestPatienceIsAContext(t *testing.T) {
	called := ""
	note := func(name string) func(context.Context) (Lease, error) {
		return func(ctx context.Context) (Lease, error) {
			_, limited := ctx.Deadline()
			called = fmt.Sprint(name, " ", limited)
			return Lease{}, nil
		}
	}
	lock := built(t, Mutex{Lock: note("lock"), TryLock: note("try")})
	for wait, want := range map[time.Duration]string{
		locks.Forever: "lock false", time.Hour: "lock true", locks.Try: "try false",
	} {
		_, err := lock.Acquire(wait)
		require.NoError(t, err)
		require.Equal(t, want, called)
	}
	_, err := built(t, Mutex{Lock: note("lock")}).Acquire(locks.Try)
	require.NoError(t, err)
	require.Equal(t, "lock false", called)
}

func TestNoticesAreHeardWhileWaiting(t *testing.T) {
	lost, suspended := make(chan struct{}), make(chan struct{})
	lock := built(t, Mutex{Lock: func(context.Context) (Lease, error) {
		return Lease{Lost: lost, Suspended: suspended}, nil
	}})
	lease, err := lock.Acquire(locks.Forever)
	require.NoError(t, err)
	require.Equal(t, -1, process{}.Wait(0, lease.Lost, lease.Suspended))
	close(suspended)
	require.Equal(t, 1, process{}.Wait(locks.Forever, lease.Lost, lease.Suspended))
	close(lost)
	require.Equal(t, 0, process{}.Wait(locks.Forever, lease.Lost, lease.Suspended))
}

// TestALeaseIsProlongedWhileItIsHeld, and is lost when the library says so or nothing is heard before it ends. It is
// prolonged every 20 minutes and lives for 70.
func TestALeaseIsProlongedWhileItIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		lock := built(t, Mutex{
			Lock: func(context.Context) (Lease, error) { return Lease{Until: time.Now().Add(time.Hour)}, nil },
			Extend: func(ctx context.Context) (until time.Time, err error) {
				switch n := calls.Add(1); {
				case n <= 30:
					return until, nil
				case n <= 32:
					return until, errors.New("i/o timeout")
				case n == 33:
					return until, fmt.Errorf("redsync: %w", ErrNotHeld)
				default:
					<-ctx.Done()
					return until, ctx.Err()
				}
			},
			Unlock: func(context.Context) error { return nil },
		})
		acquired := func() locks.Lease {
			lease, err := lock.Acquire(locks.Forever)
			require.NoError(t, err)
			require.Equal(t, locks.NoClock, lease.Deadline.On)
			return lease
		}
		lease := acquired()
		require.Equal(t, -1, process{}.Wait(11*time.Hour-time.Second, lease.Lost), "what has failed is tried again")
		require.Equal(t, 0, process{}.Wait(2*time.Second, lease.Lost))
		require.NoError(t, lock.Release(lease))

		lease = acquired()
		require.Equal(t, -1, process{}.Wait(time.Hour-time.Second, lease.Lost))
		require.Equal(t, 0, process{}.Wait(2*time.Second, lease.Lost))
		require.NoError(t, lock.Release(lease))
		synctest.Wait()
		require.EqualValues(t, 34, calls.Load())
	})
}

// TestALateApplicationLearnsOfItsLossFromExtendAlone prolongs a lease of 70 minutes after 100, by when the library knows nothing of
// it any more.
func TestALateApplicationLearnsOfItsLossFromExtendAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := built(t, Mutex{
			Lock:   func(context.Context) (Lease, error) { return Lease{Until: time.Now().Add(70 * time.Minute)}, nil },
			Extend: func(context.Context) (time.Time, error) { return time.Time{}, ErrNotHeld },
			Unlock: func(context.Context) error { return nil },
		}).(*lock)
		l.late = 80 * time.Minute
		lease, err := l.Acquire(locks.Forever)
		require.NoError(t, err)
		require.Equal(t, -1, process{}.Wait(100*time.Minute-time.Second, lease.Lost), "it looks at no clock")
		require.Equal(t, 0, process{}.Wait(2*time.Second, lease.Lost))
		require.NoError(t, l.Release(lease))
	})
}

func TestRegisterIsForOneLock(t *testing.T) {
	built(t, Mutex{})
	require.Panics(t, func() { Register(nil) })
}

// TestALeaseCountsFromTheAnswerOfLock has a library wait for most of a lease before it gets the lock, and state no end: its
// holder knows of nothing but the answer.
func TestALeaseCountsFromTheAnswerOfLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		extended := 0
		lock := built(t, Mutex{
			Lock: func(context.Context) (Lease, error) {
				time.Sleep(65 * time.Minute) // of 70, and the first Extend comes after 20
				return Lease{}, nil
			},
			Extend: func(context.Context) (until time.Time, err error) {
				extended++
				return until, errors.New("i/o timeout")
			},
			Unlock: func(context.Context) error { return nil },
		})
		lease, err := lock.Acquire(locks.Forever)
		require.NoError(t, err)
		require.Equal(t, -1, process{}.Wait(69*time.Minute, lease.Lost), "it holds for a lease after Lock returned")
		synctest.Wait()
		require.Equal(t, 3, extended)
		require.Equal(t, 0, process{}.Wait(2*time.Minute, lease.Lost))
		require.NoError(t, lock.Release(lease))
	})
}

// TestALockIsMadeOnTheClientsThatHaveConnected makes it with and without connections.
func TestALockIsMadeOnTheClientsThatHaveConnected(t *testing.T) {
	t.Cleanup(func() { registered, connecting = nil, nil })
	for _, connects := range []bool{false, true} {
		registered = nil
		made, opened := 0, 0
		RegisterConnecting(func(c Config) (*int, error) {
			require.Equal(t, Config{Servers: []string{"here"}, Timeout: 1}, c, "nothing of the lock")
			made++
			return &made, nil
		}, func(_ context.Context, client *int) error {
			require.Same(t, &made, client)
			opened++
			return nil
		}, func(c Config, client *int) (Mutex, error) {
			require.Equal(t, "key", c.Key)
			require.Same(t, &made, client)
			return Mutex{}, nil
		})
		all := Config{Name: "a", Servers: []string{"here"}, Timeout: 1, Key: "key", TTL: 1}
		if connects {
			require.NoError(t, connecting(all))
		}
		_, err := registered(all)
		require.NoError(t, err)
		require.Equal(t, [2]int{1, one(connects)}, [2]int{made, opened})
	}
	refused := errors.New("refused")
	registered = nil
	RegisterConnecting(func(Config) (int, error) { return 0, nil }, func(context.Context, int) error { return refused },
		func(Config, int) (Mutex, error) { return Mutex{}, nil })
	require.ErrorIs(t, connecting(Config{}), refused)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
