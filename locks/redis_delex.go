package locks

// redisDelex is setNXLua on Redis 8.4, whose DELEX with IFEQ does what the script of the release does: it deletes the key if it has
// the value.
//
// It promises the same and fails in the same ways. A server that is older, such as one that has not been upgraded yet, refuses DELEX as
// unknown: then it is told so by each release, and every lock lives for the rest of its lease.
func redisDelex() Algorithm {
	a := setNXLua()
	a.Name, a.Title = "redis-delex", "SET NX PX with a random value, released by DELEX IFEQ of Redis 8.4"
	a.Source, a.Version = "Redis documentation, DELEX (since 8.4)", "redis-8.4"
	a.New, a.Scripts = newCompareAndDelete("DELEX", "IFEQ"), nil
	return a
}

// newCompareAndDelete makes locks that are released by a command of the server in the place of a script.
func newCompareAndDelete(command string, words ...string) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			return &compareAndDeleteLock{setNXLuaLock{onOneServer(p, o)}, command, words}, nil
		}
	}
}

type compareAndDeleteLock struct {
	setNXLuaLock
	command string
	words   []string // between the key and the value
}

// Release removes the key if it is still the holder's own.
func (l *compareAndDeleteLock) Release(lease Lease) error {
	reply, err := l.do(l.command, append(l.words[:len(l.words):len(l.words)], lease.Value)...)
	return heldIfOne(reply, err)
}
