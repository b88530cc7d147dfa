package locktest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// acquireOnly is a lock of which only Acquire does something.
type acquireOnly func(wait time.Duration) (locks.Lease, error)

func (f acquireOnly) Acquire(wait time.Duration) (locks.Lease, error) { return f(wait) }
func (acquireOnly) Release(locks.Lease) error                         { return nil }

// never is waited for by code that does not come back.
var never = make(chan struct{})

// A lock that cannot be tested is refused with what its author needs to know.
func TestOddLocksAreRefusedInTheirOwnWords(t *testing.T) {
	for name, c := range map[string]struct {
		build  locks.Builder
		refuse string
	}{
		"builder panics": {
			func(locks.Process) (locks.Lock, error) { panic("no config") },
			"the lock cannot be built: the code of client a panicked: no config",
		},
		"builder fails": {
			func(locks.Process) (locks.Lock, error) { return nil, errors.New("no config") },
			"the lock cannot be built: no config",
		},
		"builder fails later": {
			func(p locks.Process) (locks.Lock, error) { p.Redis(0); return nil, errors.New("no config") },
			"alone and without any fault: no config",
		},
		"builder returns nothing": {
			func(locks.Process) (locks.Lock, error) { return nil, nil }, "neither a lock nor an error",
		},
		"no such server": {
			func(p locks.Process) (locks.Lock, error) { p.Redis(7); return nil, nil }, "there is no Redis server 7 of",
		},
		"asks without a pause": {
			func(p locks.Process) (locks.Lock, error) {
				return acquireOnly(func(time.Duration) (locks.Lease, error) {
					for {
						_, _ = p.Redis(0).Do(time.Second, "GET", "lock")
					}
				}), nil
			}, "Acquire does not return",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := locktest.Check(c.build, locktest.Options{})
			require.ErrorContains(t, err, c.refuse)
		})
	}
}

// TestCodeThatDoesNotComeBackIsGivenUp waits for it in real time, but not for long.
func TestCodeThatDoesNotComeBackIsGivenUp(t *testing.T) {
	defer locktest.SetStuckAfter(time.Second)()
	t.Run("builder", func(t *testing.T) {
		_, err := locktest.Check(func(locks.Process) (locks.Lock, error) { <-never; return nil, nil }, locktest.Options{})
		require.ErrorContains(t, err, "does not come back to the simulator: a run without faults")
	})
	t.Run("release that fails", func(t *testing.T) {
		build := func(p locks.Process) (locks.Lock, error) {
			lock, err := plant{}.build(p)
			return &sulking{lock}, err
		}
		found, err := locktest.Check(build, locktest.Options{Only: []locktest.Promise{locktest.ReleaseSafety}})
		require.NoError(t, err)
		require.Contains(t, found.Text, "does not come back to the simulator: a schedule for release-safety")
	})
}

// sulking waits forever when a release could not be told, or has no answer.
type sulking struct{ locks.Lock }

func (l *sulking) Release(lease locks.Lease) error {
	err := l.Lock.Release(lease)
	if err != nil && !errors.Is(err, locks.ErrNotHeld) {
		<-never
	}
	return err
}

// TestAPanicIsToldOnce: with the place in the lock's code, whichever client it was and whatever the lock was asked.
func TestAPanicIsToldOnce(t *testing.T) {
	found, err := locktest.Mistakes(func(p locks.Process) (locks.Lock, error) {
		lock, err := plant{}.build(p)
		return &startled{lock}, err
	}, locktest.Options{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Regexp(t, `(?s)^the lock's code failed when \S+ was asked of it: the code of client . panicked: an error\s.*odd_test.go:\d+\n`+
		`it failed likewise when these were asked: .*exclusion-within-lease`, found[0].String())
}

// forgetful knows what it holds until the first release.
type forgetful struct {
	locks.Lock
	held map[string]*int
}

func (l *forgetful) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(wait)
	l.held[lease.Value] = new(int)
	return lease, err
}

func (l *forgetful) Release(lease locks.Lease) error {
	*l.held[lease.Value]++
	delete(l.held, lease.Value)
	return l.Lock.Release(lease)
}

func TestAPanicOfASecondReleaseIsCalledThat(t *testing.T) {
	found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) {
		lock, err := plant{}.build(p)
		return &forgetful{lock, map[string]*int{}}, err
	}, locktest.Options{})
	require.NoError(t, err)
	require.Contains(t, found.Text, "This application calls Release once more after an error (unlock-again), as applications may.")
}

// TestAListOfChildrenIsTheCallersOwn: who sorts it changes nothing of what others are shown.
func TestAListOfChildrenIsTheCallersOwn(t *testing.T) {
	asked := false
	_, _, _ = locktest.Describe(func(p locks.Process) (locks.Lock, error) {
		return acquireOnly(func(time.Duration) (locks.Lease, error) {
			h := p.ZooKeeper().Open("curator", 10*time.Second)
			for _, path := range []string{"/list", "/list/a", "/list/b"} {
				_, _ = h.Create(path, "", locks.ZKPersistent)
			}
			mine, err := h.Children("/list")
			if err == nil && len(mine) == 2 {
				was := slices.Clone(mine)
				slices.Reverse(mine)
				again, _ := h.Children("/list")
				require.Equal(t, was, again)
				asked = true
			}
			return locks.Lease{}, err
		}), nil
	}, locktest.Options{})
	require.True(t, asked)
}

// startled panics when a release could not be told, or has no answer.
type startled struct{ locks.Lock }

func (l *startled) Release(lease locks.Lease) error {
	err := l.Lock.Release(lease)
	if err != nil && !errors.Is(err, locks.ErrNotHeld) {
		panic("an error")
	}
	return err
}

// TestWhatIsNoPromiseIsNamed: a try that waits, and an entry that the first of two releases ends, which a lock may mean to do.
func TestWhatIsNoPromiseIsNamed(t *testing.T) {
	waits := func(p locks.Process) (locks.Lock, error) {
		lock, err := plant{}.build(p)
		return patient{lock}, err
	}
	sentence, _, err := locktest.Describe(waits, locktest.Options{})
	require.NoError(t, err)
	require.Contains(t, sentence, "Acquire with locks.Try, which is to return at once, waits for another holder")
	require.NotContains(t, sentence, "again")

	mine := locks.Script{Body: `local by = redis.call("get", KEYS[1])
if by and by ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[1], "PX", "10000")
return 1`}
	once := func(p locks.Process) (locks.Lock, error) {
		return oddLock{func(wait time.Duration) (locks.Lease, error) {
			return asking(p, wait, func() (locks.Lease, bool, error) {
				reply, err := locks.Eval(p.Redis(0), time.Second, mine, []string{"lock"}, p.Owner())
				return locks.Lease{Value: p.Owner()}, reply.Int == 1, err
			})
		}, func(l locks.Lease) error {
			_, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: deleteOwn}, []string{"lock"}, l.Value)
			return err
		}}, nil
	}
	sentence, promises, err := locktest.Describe(once, locktest.Options{})
	require.NoError(t, err)
	require.Contains(t, sentence, "it lets its holder in again, and one Unlock frees it")
	require.NotContains(t, promises, locktest.Reentrance)
}

// patient is a lock that waits even if it is only to try.
type patient struct{ locks.Lock }

func (l patient) Acquire(time.Duration) (locks.Lease, error) { return l.Lock.Acquire(locks.Forever) }

// asksFor is a lock that sends one command, and no other.
func asksFor(command ...string) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		return oddLock{func(time.Duration) (locks.Lease, error) {
			_, err := p.Redis(0).Do(time.Second, command...)
			return locks.Lease{}, err
		}, func(locks.Lease) error { return nil }}, nil
	}
}
