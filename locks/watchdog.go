package locks

import "time"

// watchdog is setNXLua with a background task that renews the lease while the process lives. Redisson
// popularized the scheme: it renews a lease of 30 s after every third of it (set Options.TTL and Options.Renew
// for that); the defaults here are those of the tutorials, a lease of 10 s renewed when 8 s of it have passed.
//
// It promises that work may last longer than the lease, and that the lock of a dead process ends by itself. It
// fails where the task cannot run or cannot reach the server: a pause stops it together with the worker, a cut
// link separates it from the server, and the lease of a hung worker is renewed forever.
//
// A renewal that the server refuses tells the task that the lock is lost; the task ends. As in Redisson, the
// application is not told: the lease has no notice of loss. A failed renewal is repeated after the same
// interval, where Redisson stops renewing; with these defaults that next renewal is too late in either case.
func watchdog() Algorithm {
	return Algorithm{
		Name:       "watchdog",
		Title:      "set-nx-lua whose lease a background task renews",
		Source:     "Redisson's lock watchdog, in the tutorials' simplified form",
		New:        newWatchdog,
		Authority:  OneNode,
		Scripts:    []Script{releaseScript(), renewScript()},
		Identity:   "value",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
	}
}

type watchdogLock struct {
	setNXLuaLock
	stops map[string]Signal // by the value of the lease: ends its renewal
}

func newWatchdog(o Options) Builder {
	return func(p Process) (Lock, error) {
		l := &watchdogLock{setNXLuaLock: setNXLuaLock{onOneServer(p, o)}, stops: map[string]Signal{}}
		if l.options.Renew == 0 {
			l.options.Renew = l.options.TTL - l.options.TTL/5
		}
		return l, nil
	}
}

// Acquire makes the key if there is none, and starts its renewal.
func (l *watchdogLock) Acquire(wait time.Duration) (Lease, error) {
	lease, err := l.setNXLuaLock.Acquire(wait)
	if err != nil {
		return Lease{}, err
	}
	stop := l.p.NewSignal()
	l.stops[lease.Value] = stop
	l.p.Go(func(p Process) { keepRenewing(p, l.options, lease.Value, stop) })
	return lease, nil
}

// Release ends the renewal, and removes the key if it is still the holder's own. A concurrent renewal can only
// prolong the holder's own key.
func (l *watchdogLock) Release(lease Lease) error {
	if stop, ok := l.stops[lease.Value]; ok {
		stop.Fire()
		delete(l.stops, lease.Value)
	}
	return l.setNXLuaLock.Release(lease)
}

// keepRenewing gives the key a whole lease again, whenever Renew has passed, until it is told to stop or learns that
// the key is another's.
func keepRenewing(p Process, o Options, value string, stop Signal) {
	redis := p.Redis(0)
	for p.Wait(o.Renew, stop) < 0 {
		renewed, err := Eval(redis, o.Timeout, renewScript(), []string{o.Key}, value, millis(o.TTL))
		if err == nil && renewed.Int == 0 {
			return
		}
	}
}
