package locktest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// deciding has for each faulty lock what its story must say of the deciding request: which it was, what became of it, or what
// should have followed. The stories of the other locks must not say it, since they do not have that mistake.
var deciding = map[string]string{
	"looks first":                                "'s SET without NX overwrites",
	"looks for an item first":                    "'s set overwrites",
	"takes what is nearly over":                  "'s SET without NX overwrites",
	"gets an item and sets it again":             "its set overwrites b's key",
	"trusts nil":                                 "a/1's second SET is answered (nil) at 206 ms",
	"trusts unknown":                             "'s SET gets no answer",
	"assumes its own key after two lost answers": "'s GET gets no answer",
	"constant value":                             "both have the value locked",
	"deletes any":                                "a DEL does not compare whose key it is",
	"looks and deletes":                          "what its GET had found is no longer so",
	"cuts short":                                 "'s PEXPIRE gives b/0's key an earlier end",
	"prolongs any":                               "the renewals (PEXPIRE) of a keep it, which b had made",
	"looks and prolongs":                         "late renewal (PEXPIRE) prolongs b's key",
	"renews by setting":                          "second SET to redis-1 is executed at 14.3 s, and overwrites b's key",
	"renews any":                                 "second SET to redis-1 is executed at 14.3 s, and overwrites b's key",
	"renews forever":                             "its renewals (EVAL) went on after Unlock",
	"never deletes":                              "a's Unlock sends nothing",
	"leaves its node":                            "b's Lock should have deleted it when it gave up",
	"watches from now":                           "last request for the lock (Watch) is executed, when a's key is gone already",
	"watches own node":                           "last request for the lock (getData) watches its own znode instead of a's znode",
	"a failed release goes on with keep-alives":  "a's keep-alives (LeaseKeepAlive) went on after Unlock, and keep it",
	"sends no keep-alive":                        "has sent no keep-alive for its lease",
	"sleeps through":                             "last request for the lock (getData) finds that a's znode is gone, and b asks for nothing more",
	"watches once":                               "last request for the lock (getChildren) watches nothing",
	"deletes first":                              "release (delete) deletes a/1's znode",
	"renews any row beside the dead":             "the renewals (UPDATE) of ",
	"row forever":                                "'s INSERT is answered 0 rows",
	"leaves all":                                 "own release (EVAL) deletes f's key",
	"minority":                                   "though only redis-2 has granted it",
	"deadline from the reply":                    " s after its SET was sent",
	"first of a sorted set removed":              "'s release (EVAL) is executed",
}

// unclear are faulty locks that no lock of the catalogue can be compared with in the scenario that shows their mistake.
var unclear = []string{"renews forever", "row forever", "first of a sorted set removed"}

func TestTheDecidingRequestIsNamed(t *testing.T) {
	long.NotShort(t)
	list := slices.DeleteFunc(wrong(), func(l lock) bool { return deciding[l.name] == "" })
	require.Len(t, list, len(deciding))
	for _, l := range some(list, long.Every(20, 1)) {
		mine := deciding[l.name]
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			found, err := locktest.Check(l.build, l.o)
			require.NoError(t, err)
			require.NotNil(t, found)
			story := strings.Join(strings.Fields(found.Story()), " ")
			require.Contains(t, story, mine)
			for name, other := range deciding {
				if name != l.name && !strings.Contains(mine, other) {
					require.NotContains(t, story, other, "the mistake of %s", name)
				}
			}
			if !slices.Contains(unclear, l.name) {
				require.Equal(t, minimal.ThisLock, found.Party(), found.Blame)
			}
		})
	}
}

func TestAMistakeIsToldOnce(t *testing.T) {
	long.NotShort(t)
	for _, c := range []struct {
		name  string
		build locks.Builder
		told  []locktest.Promise
		least int // other promises that it breaks
	}{
		{"a DEL", plant{deletesAny: true}.build, []locktest.Promise{locktest.ReleaseSafety}, 1},
		{"a SET without NX", plant{overwrites: true}.build, []locktest.Promise{locktest.ExclusionAtService}, 1},
		{"an answer that is ignored", plant{trustsNil: true}.build, []locktest.Promise{locktest.ExclusionWithinLease}, 0},
		{"two mistakes", plant{deletesAny: true, renews: true, tooLate: true}.build, []locktest.Promise{locktest.ReleaseSafety, locktest.NoSilentLoss}, 1},
		{"a release that does nothing", plant{neverDeletes: true}.build, []locktest.Promise{locktest.NothingLeft}, 1},
		{"an entry that never ends", plant{expiresLater: true}.build, []locktest.Promise{locktest.NothingLeft}, 1},
		{"a release on another connection", unlocksElsewhere, []locktest.Promise{locktest.NothingLeft}, 2},
		{"none", plant{}.build, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := locktest.Mistakes(c.build, locktest.Options{Runs: long.Pick(20, 20, 200)})
			require.NoError(t, err)
			var told, also []locktest.Promise
			for _, f := range found {
				told, also = append(told, f.Promise), append(also, f.Also...)
			}
			require.Equal(t, c.told, told, "and %v", also)
			require.GreaterOrEqual(t, len(also), c.least)
		})
	}
}

// hostLock is a lock of which all tasks of a process have one value. If its request for the key fails it looks at the key, and takes the
// value for its own; a correct one gives up.
type hostLock struct {
	p     locks.Process
	looks bool
	sends bool // a DEL, in a task of its own, when Lock has given up
}

func (l *hostLock) Acquire(time.Duration) (locks.Lease, error) {
	value, _, _ := strings.Cut(l.p.Owner(), ":")
	reply, err := l.p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
	switch {
	case err != nil:
		return locks.Lease{}, err
	case reply.OK():
		return locks.Lease{Value: value}, nil
	case l.sends:
		l.p.Go(func(p locks.Process) {
			p.Sleep(100 * time.Millisecond)
			_, _ = p.Redis(0).Do(time.Second, "DEL", "lock")
		})
	case l.looks:
		reply, err = l.p.Redis(0).Do(time.Second, "GET", "lock")
		if err == nil && reply.Str == value {
			return locks.Lease{Value: value}, nil
		}
	}
	return locks.Lease{}, locks.ErrNotAcquired
}

func (l *hostLock) Release(locks.Lease) error {
	_, err := l.p.Redis(0).Do(time.Second, "DEL", "lock")
	return err
}

func TestARequestIsTheTasksThatSentIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock  hostLock
		tells string
	}{
		{hostLock{looks: true}, "'s GET is answered \""},
		{hostLock{sends: true}, "is refused the lock, but a background task of its lock sends DEL though Unlock is not called"},
	} {
		found, err := locktest.Check(func(p locks.Process) (locks.Lock, error) {
			l := c.lock
			l.p = p
			return &l, nil
		}, locktest.Options{})
		require.NoError(t, err)
		require.NotNil(t, found)
		story := strings.Join(strings.Fields(found.Story()), " ")
		require.Contains(t, story, c.tells)
		require.NotContains(t, story, "second SET")
		require.NotContains(t, found.String(), "a/1's release deletes a/0's key", "Unlock is not called")
	}
}

func TestATokenIsWrittenInOneNotation(t *testing.T) {
	t.Parallel()
	found, err := locktest.Check(plant{token: true, tokenOfClock: true}.build, locktest.Options{Only: []locktest.Promise{locktest.TokenOrder}})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Contains(t, found.Headline(), "token 0x")
	require.NotRegexp(t, `token \d{10}`, found.String())
}
