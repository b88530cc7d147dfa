package locks

import (
	"cmp"
	"time"
)

// redlockExtend is Redlock whose lease a background task extends, as the Redis documentation describes it ("Making the algorithm more
// reliable: Extending the lock"): a script gives each server's key a whole lease again if it is still the holder's own, and the lock counts
// as extended only if a majority did so while the lease lasted. The task sends that so often as Options.Renew says, or after every third of
// the lease, again after Options.Retry when no majority did, and for as long as its holder is at work: the documentation advises a limit,
// and gives none.
//
// Its holder is told of the loss: when the lease, as extended last, is over by its own monotonic clock, and when so many servers have
// refused that no majority is left. So it promises what Redlock does to a holder that heeds the notice. It fails when a holder goes on
// (in a pause it is not told), and where a server's clock jumps, or a server restarts without its keys; an extension does not put a key back
// that a server has lost.
func redlockExtend() Algorithm {
	a := redlock()
	a.Name = "redlock-extend"
	a.Title = "Redlock whose lease a background task extends on a majority"
	a.Source = "Redis documentation, Distributed Locks with Redis: extending the lock"
	a.New = newRedlockExtend
	a.Scripts = []Script{releaseScript(), renewScript()}
	a.Deadline = NoClock
	a.HeedsRenew, a.Keeps = true, true
	return a
}

type redlockExtendLock struct {
	*redlockLock
	stops map[string]Signal // by the value of the lease: ends its extension
}

func newRedlockExtend(o Options) Builder {
	build := newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: atOnce})(o)
	return func(p Process) (Lock, error) {
		l, err := build(p)
		if err != nil {
			return nil, err
		}
		of := l.(*redlockLock)
		of.options.Renew = cmp.Or(of.options.Renew, of.options.TTL/3)
		return &redlockExtendLock{redlockLock: of, stops: map[string]Signal{}}, nil
	}
}

// Acquire tries until a try succeeds, and has a task extend the lease.
func (l *redlockExtendLock) Acquire(wait time.Duration) (Lease, error) {
	lease, err := l.redlockLock.Acquire(wait)
	if err != nil {
		return Lease{}, err
	}
	stop, lost := l.p.NewSignal(), l.p.NewSignal()
	l.stops[lease.Value] = stop
	l.p.Go(func(p Process) {
		if l.extendUntil(p, lease, stop) {
			lost.Fire()
		}
	})
	return Lease{Value: lease.Value, Lost: lost}, nil
}

// Release ends the extensions, and removes the key on all servers where it is still the holder's own.
func (l *redlockExtendLock) Release(lease Lease) error {
	if stop, ok := l.stops[lease.Value]; ok {
		stop.Fire()
		delete(l.stops, lease.Value)
	}
	return l.redlockLock.Release(lease)
}

// extendUntil extends the lease whenever Options.Renew has passed, until it is told to stop. It returns whether the lease was lost instead.
func (l *redlockExtendLock) extendUntil(p Process, lease Lease, stop Signal) (lost bool) {
	end, pause := Monotonic(lease.Deadline.At), l.options.Renew
	for {
		if p.Wait(min(pause, end.Sub(p.Monotonic())), stop) >= 0 {
			return false
		}
		start, votes, left := p.Monotonic(), 0, 0
		if start >= end {
			return true
		}
		answered := p.Go(func(p Process) { votes, left = l.extendOnAll(p, lease.Value) })
		switch p.Wait(end.Sub(start), stop, answered) {
		case 0:
			return false
		case -1: // the lease is over
			return true
		}
		until := start.Add(l.options.TTL - l.rules.drift(l.options.TTL))
		switch now := p.Monotonic(); {
		case now >= end || left < l.quorum():
			return true
		case votes >= l.quorum() && now < until:
			end, pause = until, l.options.Renew
		default:
			pause = min(l.options.Renew, l.options.Retry.Delay+l.options.Retry.Jitter)
		}
	}
}

// extendOnAll returns how many servers have extended the lease, and on how many it may be left: those, and those that gave no answer.
func (l *redlockExtendLock) extendOnAll(p Process, value string) (votes, left int) {
	votes, failures := count(l.askAll(p, func(r Redis) (vote, error) {
		reply, err := Eval(r, l.options.Timeout, renewScript(), []string{l.options.Key}, value, millis(l.options.TTL))
		return vote{yes: reply.Int == 1}, err
	}))
	return votes, votes + len(failures)
}
