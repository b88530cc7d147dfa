package locks

import (
	"strconv"
	"time"
)

// setNXLuaWait is setNXLua on a master with replicas, which has WAIT tell how many replicas have the key too, and lets
// go of the lock if they are too few. The Redis documentation names WAIT as what makes the loss of an acknowledged write
// less likely in a failover; Redisson checks it after each acquisition (checkLockSyncedSlaves).
//
// It promises that a failover to a replica that has acknowledged the key keeps the lock, as long as that replica's clock
// agrees with the master's. WAIT says that a number of replicas have received the key in memory: not which of them will
// be promoted, and not that it is on a disk. A time-out of WAIT undoes nothing: the lock must be released.
func setNXLuaWait() Algorithm {
	return Algorithm{
		Name:      "set-nx-lua-wait",
		Title:     "set-nx-lua that waits until replicas have the key, and gives up if they do not",
		Source:    "Redis documentation, WAIT; Redisson's check for synced replicas",
		New:       newSetNXLuaWait,
		Authority: Replicated,
		Scripts:   []Script{releaseScript()},
		Identity:  "value",
		Lease:     true,
	}
}

// waitForReplicas is how long replicas may take to acknowledge: Redisson's default (slavesSyncTimeout).
const waitForReplicas = time.Second

type setNXLuaWaitLock struct{ oneServer }

func newSetNXLuaWait(o Options) Builder {
	if o.Acks == 0 {
		o.Acks = 1
	}
	return func(p Process) (Lock, error) { return &setNXLuaWaitLock{onOneServer(p, o)}, nil }
}

// Acquire makes the key if there is none, and keeps it if enough replicas have it.
func (l *setNXLuaWaitLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		value := l.p.RandomValue()
		if err := l.set(value); err != nil {
			return Lease{}, err
		}
		acks, err := l.redis.Do(l.options.Timeout, "WAIT", strconv.Itoa(l.options.Acks), millis(waitForReplicas))
		if err == nil && acks.Int >= int64(l.options.Acks) {
			return Lease{Value: value}, nil
		}
		if _, releasing := l.eval(releaseScript(), []string{l.options.Key}, value); releasing != nil {
			return Lease{}, releasing
		}
		if err == nil {
			err = ErrNotAcquired
		}
		return Lease{}, err
	})
}

// Release removes the key if it is still the holder's own.
func (l *setNXLuaWaitLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
