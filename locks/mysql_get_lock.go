package locks

import "time"

// mysqlGetLock is MySQL's lock by a name, which belongs to the connection (MySQL Reference Manual, "Locking
// Functions").
//
// It promises that the server gives a name to one connection at a time, in the order of asking, and frees it when the
// connection is over. It does not promise that the client knows: the server may end the connection while the client
// works on, and hold the lock for a client that is gone until it misses it. It is not replicated, and hands out no
// token.
func mysqlGetLock() Algorithm {
	return Algorithm{
		Name:       "mysql-get-lock",
		Title:      "MySQL's GET_LOCK and RELEASE_LOCK, bound to the connection",
		Source:     "MySQL Reference Manual, \"Locking Functions\"",
		Servers:    "mysql",
		New:        newMySQLGetLock,
		Authority:  OneNode,
		Key:        func(o Options) string { return "user/" + o.withDefaults().Key },
		Identity:   "connection",
		HeedsRenew: true,
	}
}

type mysqlGetLockLock struct{ onConnection }

func newMySQLGetLock(o Options) Builder {
	return func(p Process) (Lock, error) { return &mysqlGetLockLock{newConnection(p, o)}, nil }
}

// Acquire makes the server wait, in whole seconds. A connection that breaks meanwhile loses its place in the
// queue.
func (l *mysqlGetLockLock) Acquire(wait time.Duration) (Lease, error) {
	start := l.p.Monotonic()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		limit := int64(-1)
		if wait != Forever {
			limit = seconds(max(wait-l.p.Monotonic().Sub(start), 0))
		}
		got, err := l.do(SQLStatement{"acquire", "SELECT GET_LOCK(?, ?)"}, l.options.Key, limit)
		switch {
		case err != nil:
			return Lease{}, err
		case !got.True():
			return Lease{}, ErrNotAcquired
		}
		return l.lease(), nil
	})
}

// Release frees the lock, if the connection that holds it is still open.
func (l *mysqlGetLockLock) Release(Lease) error {
	freed, err := l.leave(SQLStatement{"release", "SELECT RELEASE_LOCK(?)"}, l.options.Key)
	if err == nil && !freed.True() {
		return ErrNotHeld
	}
	return err
}

// Verify asks the server which connection has the lock.
func (l *mysqlGetLockLock) Verify(Lease) error {
	own, err := l.on(l.conn, SQLStatement{"look", "SELECT IS_USED_LOCK(?) = CONNECTION_ID()"}, l.options.Key)
	if err == nil && !own.True() {
		return ErrNotHeld
	}
	return err
}
