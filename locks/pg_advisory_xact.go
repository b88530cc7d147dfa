package locks

import (
	"strconv"
	"time"
)

// pgAdvisoryXact is PostgreSQL's lock by a number that belongs to a transaction (PostgreSQL documentation, "Advisory
// Locks"). The transaction stays open for as long as the lock is held.
//
// It promises what pgAdvisory does, also behind a pooler that lends its connections to one transaction at a time.
func pgAdvisoryXact() Algorithm {
	return Algorithm{
		Name:       "pg-advisory-xact",
		Title:      "PostgreSQL's advisory lock, bound to the transaction",
		Source:     "PostgreSQL documentation, \"Advisory Locks\"",
		Servers:    "postgres",
		New:        newPgAdvisoryXact,
		Authority:  OneNode,
		Key:        func(o Options) string { return "advisory/" + strconv.FormatInt(advisoryKey(o), 10) },
		Identity:   "transaction",
		HeedsRenew: true,
	}
}

type pgAdvisoryXactLock struct{ onConnection }

func newPgAdvisoryXact(o Options) Builder {
	return func(p Process) (Lock, error) { return &pgAdvisoryXactLock{newConnection(p, o)}, nil }
}

// Acquire begins a transaction and takes the lock in it. A transaction without the lock is useless.
func (l *pgAdvisoryXactLock) Acquire(wait time.Duration) (Lease, error) {
	statement := SQLStatement{"acquire", "SELECT pg_try_advisory_xact_lock($1)"}
	if wait == Forever {
		statement.Text = "SELECT pg_advisory_xact_lock($1)"
	}
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		if _, err := l.do(begin()); err != nil {
			return Lease{}, err
		}
		got, err := l.on(l.conn, statement, advisoryKey(l.options))
		if err == nil && (wait == Forever || got.True()) {
			return l.lease(), nil
		}
		if _, rolledBack := l.on(l.conn, rollback()); err == nil && rolledBack == nil {
			err = ErrNotAcquired
		} else if err == nil {
			err = rolledBack
		}
		return Lease{}, err
	})
}

// Release commits the transaction.
func (l *pgAdvisoryXactLock) Release(Lease) error {
	_, err := l.leave(SQLStatement{"release", "COMMIT"})
	return err
}
