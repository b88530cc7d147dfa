package locks

import "time"

// mysqlGetLockInTransaction is mysqlGetLock as it is taken within a transaction that has begun before, which is what
// becomes of it in a method that a framework wraps into a transaction. It is released before the transaction is
// committed.
//
// It excludes others as mysqlGetLock does. But what it protects is in the database, and what the transaction sees of
// that is as old as the transaction's first read, which was before the lock; and what it writes nobody sees before the
// commit, which is after it.
func mysqlGetLockInTransaction() Algorithm {
	return Algorithm{
		Name:       "mysql-get-lock-in-transaction",
		Title:      "GET_LOCK and RELEASE_LOCK within a transaction that begins before and ends after",
		Source:     "questions about @Transactional methods; MySQL Reference Manual, \"Consistent Nonlocking Reads\"",
		Status:     Mistake,
		Servers:    "mysql",
		Guard:      true,
		New:        newMySQLGetLockInTransaction,
		Authority:  OneNode,
		Key:        mysqlGetLock().Key,
		Identity:   "connection",
		HeedsRenew: true,
	}
}

type mysqlGetLockInTransactionLock struct{ mysqlGetLockLock }

func newMySQLGetLockInTransaction(o Options) Builder {
	return func(p Process) (Lock, error) {
		return &mysqlGetLockInTransactionLock{mysqlGetLockLock{newConnection(p, o)}}, nil
	}
}

// Acquire begins the transaction, reads an unrelated row, and requests the lock.
func (l *mysqlGetLockInTransactionLock) Acquire(wait time.Duration) (Lease, error) {
	if _, err := l.do(begin()); err != nil {
		return Lease{}, err
	}
	if _, err := l.do(SQLStatement{"look", "SELECT name FROM locks"}); err != nil {
		return Lease{}, err
	}
	return l.mysqlGetLockLock.Acquire(wait)
}

// Release frees the lock, and then commits.
func (l *mysqlGetLockInTransactionLock) Release(lease Lease) error {
	if err := l.mysqlGetLockLock.Release(lease); err != nil {
		return err
	}
	_, err := l.on(l.conn, SQLStatement{"commit", "COMMIT"})
	return err
}

// Read reads a register in the transaction.
func (l *mysqlGetLockInTransactionLock) Read(_ Lease, register int) (uint64, error) {
	return l.read(register)
}

// Write writes a register in the transaction.
func (l *mysqlGetLockInTransactionLock) Write(_ Lease, register int, _, version uint64) error {
	return l.write(register, version)
}
