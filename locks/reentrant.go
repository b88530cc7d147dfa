package locks

import (
	"cmp"
	"time"
)

// reentrant is Redisson's lock (RedissonLock.java): a hash with one field, which names the owner and counts how
// often it has entered. The owner is a process and a task of it, not an acquisition, so the holder may enter
// again, and must leave as often. A refused client is told how long the lock will live, subscribes to a channel
// on which releases are published, and sleeps until a release is published or that time is over. A background
// task renews the lease after every third of it.
//
// It promises what watchdog does, and that its owner may enter again. The value that a release names belongs to
// the owner permanently: a late release can end a later hold of the same task, and a repeated request to enter
// whose answer was lost counts twice, so that the owner leaves once too seldom and the lock ends with its
// lease. A lost message delays waiters, at most by the life of a lease, since they check again by themselves.
func reentrant() Algorithm {
	return Algorithm{
		Name:       "reentrant",
		Title:      "Redisson's lock: a hash that counts its owner's holds, with a watchdog and wake-ups by pub/sub",
		Source:     "Redisson, RedissonLock.java",
		New:        newReentrant,
		Authority:  OneNode,
		Scripts:    []Script{enterScript(), leaveScript(), renewOwnScript()},
		Identity:   "owner",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
	}
}

const (
	// enter counts the owner in and answers with nothing, or says how many milliseconds the lock has to live.
	enter = `if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  redis.call("hincrby", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[2])
  return false
end
return redis.call("pttl", KEYS[1])`

	// leave decrements the owner's count. Its last hold deletes the lock and notifies the waiters.
	leave = `if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then
  return false
end
if redis.call("hincrby", KEYS[1], ARGV[1], -1) > 0 then
  redis.call("pexpire", KEYS[1], ARGV[2])
  return 0
end
redis.call("del", KEYS[1])
redis.call("publish", KEYS[2], "released")
return 1`

	// renewOwn gives the lock a whole lease again if it is the owner's.
	renewOwn = `if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  return redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0`
)

func enterScript() Script    { return Script{Name: "acquire", Body: enter} }
func leaveScript() Script    { return Script{Name: "release", Body: leave} }
func renewOwnScript() Script { return Script{Name: "renew", Body: renewOwn} }

type reentrantLock struct {
	oneServer
	channel string
	ask     func(wait time.Duration) (entry, error) // asks once
	leave   func(owner string) (Reply, error)
	giveUp  func(wait time.Duration) // after a wait in vain; nil: nothing is left behind
	leased  bool                     // the lease is not renewed
	holds   int
	stop    Signal // ends the renewal; nil if there is none
}

// entry is the answer to one who asks for a lock of Redisson.
type entry struct {
	refused bool
	life    time.Duration // of the lock, if it refused: how long to wait for it
	token   uint64
}

func newReentrant(o Options) Builder {
	return func(p Process) (Lock, error) { return onRedisson(p, o), nil }
}

// onRedisson returns Redisson's lock. Others of that library differ in how they ask and leave.
func onRedisson(p Process, o Options) *reentrantLock {
	l := &reentrantLock{oneServer: onOneServer(p, o)}
	l.channel = "redisson_lock__channel:{" + l.options.Key + "}"
	l.ask, l.leave = l.enter, func(owner string) (Reply, error) {
		return l.eval(leaveScript(), []string{l.options.Key, l.channel}, owner, millis(l.options.TTL))
	}
	if l.options.Renew == 0 {
		l.options.Renew = l.options.TTL / 3
	}
	return l
}

// Acquire enters, or waits for the lock to be left: a refused client subscribes, tries again, since a release
// may have been published before it subscribed, and from then on tries after every wake-up.
func (l *reentrantLock) Acquire(wait time.Duration) (Lease, error) {
	w := patienceOf(l.p, wait)
	var channel Subscription
	defer func() {
		if channel != nil {
			channel.Close()
		}
	}()
	for {
		wake := l.p.NewSignal()
		if channel != nil {
			wake = channel.Next() // before it tries, so that no message is missed meanwhile
		}
		e, err := l.ask(wait)
		switch {
		case err == nil && !e.refused:
			return l.entered(e.token), nil
		case w.over():
			if l.giveUp != nil && wait != Try {
				l.giveUp(wait)
			}
			return Lease{}, cmp.Or(err, ErrNotAcquired)
		case channel == nil || channel.Over():
			if channel, err = l.redis.Subscribe(l.options.Timeout, l.channel); err != nil {
				channel = nil
				l.p.Sleep(min(l.options.Retry.delay(l.p), w.left()))
			}
		case err != nil:
			l.p.Wait(min(l.options.Retry.Delay, w.left()), wake)
		default:
			l.p.Wait(min(e.life, w.left()), wake)
		}
	}
}

// enter asks once. If it is refused it returns how long the lock has to live.
func (l *reentrantLock) enter(time.Duration) (entry, error) {
	return tell(l.eval(enterScript(), []string{l.options.Key}, l.p.Owner(), millis(l.options.TTL)))
}

// tell reads an answer that is nothing, or the milliseconds that the lock has to live.
func tell(reply Reply, err error) (entry, error) {
	if err != nil || reply.Nil {
		return entry{}, err
	}
	return entry{refused: true, life: max(time.Duration(reply.Int), 1) * time.Millisecond}, nil
}

// entered counts a hold, and starts the renewal with the first.
func (l *reentrantLock) entered(token uint64) Lease {
	l.holds++
	if l.stop == nil && !l.leased {
		l.stop = l.p.NewSignal()
		owner, stop := l.p.Owner(), l.stop
		l.p.Go(func(p Process) { l.keepRenewing(p, owner, stop) })
	}
	return Lease{Value: l.p.Owner(), Token: token}
}

// keepRenewing is the watchdog. As in Redisson it ends when the lock is no longer the owner's, and nobody is told; a
// renewal that fails is tried again after the same time, where Redisson stops.
func (l *reentrantLock) keepRenewing(p Process, owner string, stop Signal) {
	redis := p.Redis(0)
	for p.Wait(l.options.Renew, stop) < 0 {
		renewed, err := Eval(redis, l.options.Timeout, renewOwnScript(), []string{l.options.Key}, owner, millis(l.options.TTL))
		if err == nil && renewed.Int == 0 {
			l.forget(stop)
			return
		}
	}
}

// forget resets the count of holds after they are lost, so that entering again starts another watchdog
// (RedissonBaseLock.java, renewExpiration, which cancels the renewal of the whole entry). Later releases only ask the server.
func (l *reentrantLock) forget(stop Signal) {
	if l.stop == stop {
		l.holds, l.stop = 0, nil
	}
}

// Release leaves once. The renewal ends with the last hold.
func (l *reentrantLock) Release(lease Lease) error {
	if l.holds > 0 {
		l.holds--
	}
	if l.holds == 0 && l.stop != nil {
		l.stop.Fire()
		l.stop = nil
	}
	reply, err := l.leave(lease.Value)
	switch {
	case err != nil:
		return err
	case reply.Nil:
		return ErrNotHeld
	default:
		return nil
	}
}
