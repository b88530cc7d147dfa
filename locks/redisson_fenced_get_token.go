package locks

import (
	"fmt"
	"strconv"
	"time"
)

// redissonFencedGetToken is redissonFenced as one uses it who has called lock before: the token is asked for by getToken, which reads
// the counter. Between the two requests the lease may end, and another client may enter: then both have the token of the second, and
// the resource cannot tell them apart.
func redissonFencedGetToken() Algorithm {
	a := redissonFenced()
	a.Name = "redisson-fenced-get-token"
	a.Title = "Redisson's fenced lock, whose holder reads the token in a request of its own"
	a.Source = "Redisson, RedissonFencedLock.getToken after lock"
	a.Status = Mistake
	a.New = func(o Options) Builder {
		return func(p Process) (Lock, error) {
			l := redissonFencedLock{onRedisson(p, o)}
			l.ask = l.enterFenced
			return fencedByCounter{l}, nil
		}
	}
	return a
}

type fencedByCounter struct{ redissonFencedLock }

// Acquire enters, and reads the counter.
func (l fencedByCounter) Acquire(wait time.Duration) (Lease, error) {
	lease, err := l.redissonFencedLock.Acquire(wait)
	if err != nil {
		return Lease{}, err
	}
	reply, err := l.redis.Do(l.options.Timeout, "GET", l.counter())
	if err != nil {
		_ = l.Release(lease)
		return Lease{}, fmt.Errorf("redis GET %s: %w", l.counter(), err)
	}
	lease.Token, err = strconv.ParseUint(reply.Str, 10, 64)
	return lease, err
}
