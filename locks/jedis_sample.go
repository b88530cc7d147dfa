package locks

import "time"

// jedisOwner is the owner's identity in the sample: a constant, so that everybody is the same owner.
const jedisOwner = "1"

// jedisSample is a lock class on the Java client Jedis as widely copied tutorials print it, mistakes included. It
// looks like setNXLua: SET NX PX, released by the same script.
//
// It promises what setNXLua does and keeps little of it. All processes share one owner id, so the script's comparison
// always succeeds. The sample's caller unlocks in a finally block, whether or not lock had succeeded: a client that
// gave up waiting removes the holder's lock. (Here Acquire does so itself before it returns without the lock.) And
// unlock compares the script's number with the string "1L", so it reports failure even after it has deleted the key.
func jedisSample() Algorithm {
	return Algorithm{
		Name:      "jedis-sample",
		Title:     "a much copied Jedis class: one owner id for all, unlock also after a failed lock",
		Source:    "tutorials with Jedis code",
		Status:    Mistake,
		New:       newJedisSample,
		Authority: OneNode,
		Scripts:   []Script{releaseScript()},
		Identity:  "constant",
		Lease:     true,
	}
}

type jedisSampleLock struct{ oneServer }

func newJedisSample(o Options) Builder {
	return func(p Process) (Lock, error) { return &jedisSampleLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none. If it gives up it unlocks, as the sample's finally block does.
func (l *jedisSampleLock) Acquire(wait time.Duration) (Lease, error) {
	lease, err := l.options.Retry.until(l.p, wait, func() (Lease, error) {
		return Lease{Value: jedisOwner}, l.set(jedisOwner)
	})
	if err != nil {
		_ = l.Release(lease) // the sample ignores what unlock returns
	}
	return lease, err
}

// Release removes any client's key, and reports that it did not: `"1L".equals(result)` is never true.
func (l *jedisSampleLock) Release(Lease) error {
	if err := l.compareAndDelete(jedisOwner); err != nil {
		return err
	}
	return ErrNotHeld
}
