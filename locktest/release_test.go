package locktest_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// datesOnce is a lock whose value says when it ends by its client's clock, which that has read before it waited.
func datesOnce(p locks.Process) (locks.Lock, error) {
	swap := locks.Script{Body: `if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2]) return 1`}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		value := strconv.FormatInt(int64(p.Wall().Add(10*time.Second)), 10) + " " + p.RandomValue()
		return poll(p, wait, func() (locks.Lease, bool) {
			is, err := p.Redis(0).Do(time.Second, "GET", "lock")
			ends, _, _ := strings.Cut(is.Str, " ")
			if end, _ := strconv.ParseInt(ends, 10, 64); err != nil || int64(p.Wall()) < end {
				return locks.Lease{}, false
			}
			reply, err := locks.Eval(p.Redis(0), time.Second, swap, []string{"lock"}, is.Str, value)
			return locks.Lease{Value: value}, err == nil && reply.Int == 1
		})
	}, func(lease locks.Lease) error {
		reply, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: deleteOwn}, []string{"lock"}, lease.Value)
		return heldIf(reply.Int == 1, err)
	}}, nil
}

// A lock of which only beliefs can be judged is accused of its releases only where one was executed: two that hold at once for another
// reason break exclusion.
func TestReleasesAreAccusedOnlyOfWhatTheyCanHaveDone(t *testing.T) {
	for seed := range uint64(2) {
		o := locktest.Options{Seed: seed, Only: []locktest.Promise{locktest.ReleaseSafety}}
		found, err := locktest.Check(datesOnce, o)
		require.NoError(t, err)
		require.Nil(t, found, "no release ends anything")
		schedule, _, err := locktest.FirstBreach(note().leaving(`return redis.call("del", KEYS[1])`).build, o)
		require.NoError(t, err)
		require.NotZero(t, schedule, "a release deletes whatever is there")
		o.Only = []locktest.Promise{locktest.ExclusionWithinLease}
		schedule, _, err = locktest.FirstBreach(datesOnce, o)
		require.NoError(t, err)
		require.NotZero(t, schedule, "the lease is short")
	}
}
