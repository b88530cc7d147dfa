package locks

import "time"

// setNXLuaReusedValue is setNXLua with one mistake, made on purpose: a handle draws its value once and uses it for
// all tries and all acquisitions. Like redlock-py, it cleans up after a failed try by releasing that value.
//
// It promises what setNXLua does as long as no request is late. A late release of an earlier try finds the value of
// the later one, removes the lock that is held, and lets the next client in beside the holder.
func setNXLuaReusedValue() Algorithm {
	return Algorithm{
		Name:      "set-nx-lua-reused-value",
		Title:     "set-nx-lua with one value for all of its tries: a late release removes its own later lock",
		Source:    "the value of redlock-py, moved to a single server",
		Status:    Mistake,
		New:       newSetNXLuaReusedValue,
		Authority: OneNode,
		Scripts:   []Script{releaseScript()},
		Identity:  "value",
		Lease:     true,
	}
}

type setNXLuaReusedValueLock struct {
	oneServer
	value string
}

func newSetNXLuaReusedValue(o Options) Builder {
	return func(p Process) (Lock, error) {
		return &setNXLuaReusedValueLock{onOneServer(p, o), p.RandomValue()}, nil
	}
}

// Acquire makes the key if there is none, and releases what a failed try may have made.
func (l *setNXLuaReusedValueLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		err := l.set(l.value)
		if err != nil {
			_ = l.compareAndDelete(l.value) // clean up as well as can be; the try has failed either way
		}
		return Lease{Value: l.value}, err
	})
}

// Release removes the key if it has the value of this handle.
func (l *setNXLuaReusedValueLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
