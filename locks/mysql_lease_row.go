package locks

import "time"

// mysqlLeaseRow is a row that says whose the lease is, until when by the database's own clock, and how often it has
// changed hands, which makes a fencing token.
//
// It promises what a single Redis node does: one owner at a time by one clock, an end by itself, a release that leaves
// another's lease alone. The server keeps it on its disk. It does not keep a holder from working on after the end.
func mysqlLeaseRow() Algorithm {
	return Algorithm{
		Name:      "mysql-lease-row",
		Title:     "a unique row with owner and expiry by the database's clock",
		Source:    "tutorials; ShedLock's JdbcTemplateLockProvider with usingDbTime",
		Servers:   "mysql",
		New:       newMySQLLeaseRow,
		Authority: OneNode,
		Key:       func(o Options) string { return "leases/" + o.withDefaults().Key },
		Token:     true,
		Identity:  "owner",
		Lease:     true,
	}
}

type mysqlLeaseRowLock struct{ onConnection }

func newMySQLLeaseRow(o Options) Builder {
	return func(p Process) (Lock, error) { return &mysqlLeaseRowLock{newConnection(p, o)}, nil }
}

// Acquire takes the row over if its lease has ended, or makes it. It can use any connection.
func (l *mysqlLeaseRowLock) Acquire(wait time.Duration) (Lease, error) {
	owner, life := l.p.RandomValue(), l.options.TTL.Microseconds()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		taken, err := l.do(SQLStatement{
			"acquire", "UPDATE leases SET owner = ?, expires_at = NOW(6) + INTERVAL ? MICROSECOND, " +
				"version = LAST_INSERT_ID(version + 1) WHERE name = ? AND expires_at <= NOW(6)",
		}, owner, life, l.options.Key)
		if err != nil {
			return Lease{}, err
		}
		if taken.Affected == 1 {
			return Lease{Value: owner, Token: uint64(taken.InsertID)}, nil
		}
		made, err := l.do(SQLStatement{
			"acquire", "INSERT IGNORE INTO leases (name, owner, expires_at, version) " +
				"VALUES (?, ?, NOW(6) + INTERVAL ? MICROSECOND, 1)",
		}, l.options.Key, owner, life)
		switch {
		case err != nil:
			return Lease{}, err
		case made.Affected == 0:
			return Lease{}, ErrNotAcquired
		}
		return Lease{Value: owner, Token: 1}, nil
	})
}

// Release ends the lease, if it is the holder's own. The row stays, so that the versions continue.
func (l *mysqlLeaseRowLock) Release(lease Lease) error {
	ended, err := l.do(SQLStatement{
		"release", "UPDATE leases SET owner = '', expires_at = NOW(6) WHERE name = ? AND owner = ?",
	}, l.options.Key, lease.Value)
	if err == nil && ended.Affected == 0 {
		return ErrNotHeld
	}
	return err
}
