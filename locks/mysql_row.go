package locks

import (
	"errors"
	"time"
)

// mysqlRow locks a row by SELECT … FOR UPDATE: the lock belongs to the transaction, which begins with it and ends with
// its release.
//
// It promises what mysqlGetLock does. If the data are in the same database and are changed in the same transaction,
// then it keeps its promise to the end: with the lock goes everything that was done under it.
func mysqlRow() Algorithm {
	return Algorithm{
		Name:       "mysql-row",
		Title:      "SELECT … FOR UPDATE on a row, bound to the transaction",
		Source:     "MySQL Reference Manual, \"Locking Reads\"",
		Servers:    "mysql",
		Guard:      true,
		New:        newMySQLRow,
		Authority:  OneNode,
		Key:        func(o Options) string { return "locks/" + o.withDefaults().Key },
		Identity:   "transaction",
		HeedsRenew: true,
	}
}

type mysqlRowLock struct{ onConnection }

func newMySQLRow(o Options) Builder {
	return func(p Process) (Lock, error) { return &mysqlRowLock{newConnection(p, o)}, nil }
}

func begin() SQLStatement    { return SQLStatement{"begin", "BEGIN"} }
func rollback() SQLStatement { return SQLStatement{"rollback", "ROLLBACK"} }

// Acquire begins a transaction and locks the row in it. InnoDB gives up waiting after innodb_lock_wait_timeout;
// Acquire then continues to wait.
func (l *mysqlRowLock) Acquire(wait time.Duration) (Lease, error) {
	start := l.p.Monotonic()
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		if wait != Forever && wait != Try {
			left := seconds(max(wait-l.p.Monotonic().Sub(start), time.Second))
			if _, err := l.do(SQLStatement{"set", "SET SESSION innodb_lock_wait_timeout = ?"}, left); err != nil {
				return Lease{}, err
			}
		}
		return l.lock(wait == Try)
	})
}

// lock locks the row. If it is not there it makes it, outside of the transaction, and tries again.
func (l *mysqlRowLock) lock(try bool) (Lease, error) {
	statement := SQLStatement{"acquire", "SELECT name FROM locks WHERE name = ? FOR UPDATE"}
	if try {
		statement.Text += " NOWAIT"
	}
	for {
		if _, err := l.do(begin()); err != nil {
			return Lease{}, err
		}
		found, err := l.on(l.conn, statement, l.options.Key)
		if err == nil && len(found.Rows) == 1 {
			return l.lease(), nil
		}
		if _, rolledBack := l.on(l.conn, rollback()); err != nil || rolledBack != nil {
			return Lease{}, waitedInVain(errors.Join(err, rolledBack))
		}
		if _, err := l.do(SQLStatement{"make", "INSERT IGNORE INTO locks (name) VALUES (?)"}, l.options.Key); err != nil {
			return Lease{}, err
		}
	}
}

// waitedInVain reads the errors by which InnoDB says that somebody else has the row.
func waitedInVain(err error) error {
	var refused *SQLError
	if errors.As(err, &refused) && (refused.Code == "1205" || refused.Code == "3572") {
		return ErrNotAcquired
	}
	return err
}

// Release commits the transaction.
func (l *mysqlRowLock) Release(Lease) error {
	_, err := l.leave(SQLStatement{"release", "COMMIT"})
	return err
}

// Read reads a register in the transaction. It is the transaction's first plain read, so that it sees the last
// holder's writes.
func (l *mysqlRowLock) Read(_ Lease, register int) (uint64, error) { return l.read(register) }

// Write writes a register in the transaction.
func (l *mysqlRowLock) Write(_ Lease, register int, _, version uint64) error {
	return l.write(register, version)
}
