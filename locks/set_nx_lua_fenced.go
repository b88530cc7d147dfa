package locks

import "time"

// setNXLuaFenced is setNXLua with a fencing token (Kleppmann, "How to do distributed locking", 2016): the script that
// makes the key also increments a counter beside it.
//
// It promises what setNXLua does, and tokens that grow in the order of the grants for as long as the server keeps
// the counter, which has no expiry. A holder that overruns still believes that it holds: the token does not prevent
// that, it lets the resource refuse the holder's late writes.
func setNXLuaFenced() Algorithm {
	return Algorithm{
		Name:      "set-nx-lua-fenced",
		Title:     "set-nx-lua with a fencing token from INCR in the same script",
		Source:    "Kleppmann 2016, on the Redis documentation's single-instance lock",
		New:       newSetNXLuaFenced,
		Authority: OneNode,
		Scripts:   []Script{acquireScript(), releaseScript()},
		Token:     true,
		Identity:  "value",
		Lease:     true,
	}
}

type setNXLuaFencedLock struct {
	oneServer
	keys []string // the lock's key, the counter's key
}

func newSetNXLuaFenced(o Options) Builder {
	return func(p Process) (Lock, error) {
		s := onOneServer(p, o)
		return &setNXLuaFencedLock{s, []string{s.options.Key, s.options.Key + ":token"}}, nil
	}
}

// Acquire makes the key if there is none, and draws the next token in the same step.
func (l *setNXLuaFencedLock) Acquire(wait time.Duration) (Lease, error) {
	value := l.p.RandomValue()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		token, err := l.eval(acquireScript(), l.keys, value, millis(l.options.TTL))
		if err != nil {
			return Lease{}, err
		}
		if token.Nil { // Lua's false
			return Lease{}, ErrNotAcquired
		}
		return Lease{Value: value, Token: uint64(token.Int)}, nil
	})
}

// Release removes the key if it is still the holder's own. The counter stays.
func (l *setNXLuaFencedLock) Release(lease Lease) error { return l.compareAndDelete(lease.Value) }
