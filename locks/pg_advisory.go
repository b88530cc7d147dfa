package locks

import (
	"hash/crc32"
	"strconv"
	"time"
)

// pgAdvisory is PostgreSQL's lock by a number, which belongs to the connection, or session (PostgreSQL documentation,
// "Advisory Locks"). The number is a checksum of the key, as golang-migrate's is.
//
// It promises and does not promise what mysqlGetLock does. A pooler that lends its connections to one transaction at a
// time takes even the promise away.
func pgAdvisory() Algorithm {
	return Algorithm{
		Name:       "pg-advisory",
		Title:      "PostgreSQL's advisory lock, bound to the connection",
		Source:     "PostgreSQL documentation, \"Advisory Locks\"",
		Servers:    "postgres",
		New:        newPgAdvisory,
		Authority:  OneNode,
		Key:        func(o Options) string { return "advisory/" + strconv.FormatInt(advisoryKey(o), 10) },
		Identity:   "connection",
		HeedsRenew: true,
	}
}

func advisoryKey(o Options) int64 { return int64(crc32.ChecksumIEEE([]byte(o.withDefaults().Key))) }

type pgAdvisoryLock struct{ onConnection }

func newPgAdvisory(o Options) Builder {
	return func(p Process) (Lock, error) { return &pgAdvisoryLock{newConnection(p, o)}, nil }
}

// Acquire waits at the server if it may wait forever, and polls if it may not: there is no statement with a
// time limit.
func (l *pgAdvisoryLock) Acquire(wait time.Duration) (Lease, error) {
	statement := SQLStatement{"acquire", "SELECT pg_try_advisory_lock($1)"}
	if wait == Forever {
		statement.Text = "SELECT pg_advisory_lock($1)"
	}
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		got, err := l.do(statement, advisoryKey(l.options))
		switch {
		case err != nil:
			return Lease{}, err
		case wait != Forever && !got.True():
			return Lease{}, ErrNotAcquired
		}
		return l.lease(), nil
	})
}

// Release frees the lock, if the connection that holds it is still open.
func (l *pgAdvisoryLock) Release(Lease) error {
	freed, err := l.leave(SQLStatement{"release", "SELECT pg_advisory_unlock($1)"}, advisoryKey(l.options))
	if err == nil && !freed.True() {
		return ErrNotHeld
	}
	return err
}
