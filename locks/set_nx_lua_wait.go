package locks

import (
	"errors"
	"fmt"
	"time"
)

// setNXLuaWait is setNXLua on a master with replicas, which has WAIT tell how many replicas have the key too, and lets
// go of the lock if they are too few. The Redis documentation names WAIT as what makes the loss of an acknowledged write
// less likely in a failover; Redisson sends it in one batch with the script that acquires (RedissonBaseLock.java,
// CommandBatchService.java), and lets go if too few have answered (checkLockSyncedSlaves).
//
// It promises that a failover to a replica that has acknowledged the key keeps the lock, as long as that replica's clock
// agrees with the master's. WAIT speaks of the writes of its own connection, so both must take the same one: a master
// that is replaced meanwhile breaks the connection, and the try has failed. It says that a number of replicas have
// received the key in memory: not which of them will be promoted, and not that it is on a disk. A time-out of WAIT
// undoes nothing: the lock must be released.
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
	return func(p Process) (Lock, error) { return onReplicas(p, o), nil }
}

func onReplicas(p Process, o Options) *setNXLuaWaitLock {
	if o.Acks == 0 {
		o.Acks = 1
	}
	return &setNXLuaWaitLock{onOneServer(p, o)}
}

// Acquire makes the key if there is none, and keeps it if enough replicas have it.
func (l *setNXLuaWaitLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		value := l.p.RandomValue()
		replies, err := l.setAndWait(value)
		switch {
		case len(replies) > 0 && !replies[0].OK():
			return Lease{}, ErrNotAcquired
		case len(replies) == 0 && !errors.Is(err, ErrUnknown):
			return Lease{}, err // SET was not executed
		case err == nil && replies[1].Int >= int64(l.options.Acks):
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

// setAndWait makes the key on a connection and has WAIT speak of that. The time that WAIT may take is not the server's.
func (l *setNXLuaWaitLock) setAndWait(value string) ([]Reply, error) {
	timeout := l.options.Timeout
	if timeout > 0 {
		timeout += waitForReplicas
	}
	replies, err := l.redis.Pipeline(timeout,
		[]string{"SET", l.options.Key, value, "NX", "PX", millis(l.options.TTL)},
		[]string{"WAIT", itoa(l.options.Acks), millis(waitForReplicas)})
	if err != nil {
		return replies, fmt.Errorf("redis SET and WAIT %s: %w", l.options.Key, err)
	}
	return replies, nil
}

// Release removes the key if it is still the holder's own.
func (l *setNXLuaWaitLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
