package locks

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// shedlock is ShedLock over JDBC (net.javacrumbs.shedlock, JdbcTemplateLockProvider): a row that says until when the lock is
// taken, and which host has taken it. Who finds no row inserts one, once in the life of its process; from then on it updates the row
// if its time has passed. A release sets the time to now. All times are those of the client's wall clock.
//
// It promises one holder at a time if the clocks of all hosts show the same and tasks end within the lease (lockAtMostFor). It fails
// when clocks differ: a host that is ahead takes a lock that is held, and one that was ahead when it died keeps all others
// away. And a holder that works for longer than the lease is not alone, is not told, and has no fencing token. The row names a host
// (by default), not an acquisition: a late release ends what another task of the same host has taken meanwhile.
// If the answer to the statement that took the lock is lost, the caller is told of an error, and nobody has the lock until its time
// has passed. If a deadlock or a lock's time-out ends the first INSERT, the row counts as there from then on (unless the UPDATE that
// follows fails by another error): if it is not, the client never gets the lock, and takes it for another's.
//
// A task's lockAtLeastFor, which is 0 by default, lets the row be taken for longer than the task runs. It keeps a host whose clock is
// behind from running a short task once more, and has no part in keeping tasks apart.
//
// A lease in a row of one's own design that is timed by clients' clocks is the same algorithm, mostly with a value for each
// acquisition in the place of the host's name.
func shedlock() Algorithm {
	return Algorithm{
		Name:    "shedlock",
		Title:   "ShedLock's row on MySQL: host, and expiry by the clients' clocks",
		Source:  "net.javacrumbs.shedlock 7.9, JdbcTemplateLockProvider",
		Servers: "mysql",
		Status:  Superseded, // its documentation strongly recommends usingDbTime
		New: newShedlock(shedlockSQL{
			insert: "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES (?, ?, ?, ?)",
			update: "UPDATE shedlock SET lock_until = ?, locked_at = ?, locked_by = ? WHERE name = ? AND lock_until <= ?",
			unlock: "UPDATE shedlock SET lock_until = ? WHERE name = ? AND locked_by = ?",
		}),
		Authority: OneNode,
		Key:       func(o Options) string { return "shedlock/" + o.withDefaults().Key },
		Identity:  "owner",
		Lease:     true,
	}
}

// shedlockSQL are the statements of one database.
type shedlockSQL struct {
	byServer               bool // they take the time from the server
	insert, update, unlock string
}

func newShedlock(statements shedlockSQL) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			return &shedlockLock{onConnection: newConnection(p, o), sql: statements}, nil
		}
	}
}

type shedlockLock struct {
	onConnection
	sql     shedlockSQL
	created bool // there is a row: LockRecordRegistry
}

// Acquire asks for the lock again and again, as a task does that is due again each time.
func (l *shedlockLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, l.lock)
}

// lock is doLock of StorageBasedLockProvider.
func (l *shedlockLock) lock() (Lease, error) {
	created := l.p.Wall()
	until := timestamp(created.Add(l.options.TTL))
	first := !l.created
	if first {
		args := []any{l.options.Key, until, timestamp(l.p.Wall()), l.host()}
		if l.sql.byServer {
			args = []any{l.options.Key, l.options.TTL.Microseconds(), l.host()}
		}
		made, err := l.do(SQLStatement{"acquire", l.sql.insert}, args...)
		switch {
		case err != nil && !refusedBy(err, "1062") && !concurrent(err): // MySQL: duplicate key
			return Lease{}, err
		case err == nil && made.Affected > 0:
			l.created = true
			return Lease{Value: l.host()}, nil
		}
		l.created = true
	}
	now := timestamp(l.p.Wall())
	args := []any{until, now, l.host(), l.options.Key, now}
	if l.sql.byServer {
		args = []any{l.options.TTL.Microseconds(), l.host(), l.options.Key}
	}
	taken, err := l.do(SQLStatement{"acquire", l.sql.update}, args...)
	switch {
	case err != nil && !concurrent(err):
		l.created = !first
		return Lease{}, err
	case taken.Affected == 0:
		return Lease{}, ErrNotAcquired
	}
	return Lease{Value: l.host()}, nil
}

// concurrent reports whether Spring takes an error for one of concurrent transactions (ConcurrencyFailureException), which the
// library takes for another holder.
func concurrent(err error) bool { return refusedBy(err, "1205", "1213", "40001", "40P01", "55P03") }

func refusedBy(err error, codes ...string) bool {
	var refused *SQLError
	return errors.As(err, &refused) && slices.Contains(codes, refused.Code)
}

// host is what the process is called by, whichever of its tasks asks (Utils.getHostname).
func (l *shedlockLock) host() string {
	host, _, _ := strings.Cut(l.p.Owner(), ":")
	return host
}

// Release sets the time of the row to now, if it names the own host. The caller is not told whether it does.
func (l *shedlockLock) Release(Lease) error {
	args := []any{timestamp(l.p.Wall()), l.options.Key, l.host()}
	if l.sql.byServer {
		args = args[1:]
	}
	_, err := l.do(SQLStatement{"release", l.sql.unlock}, args...)
	return err
}

// timestamp is a time as JDBC passes it to a column of milliseconds.
func timestamp(w Wall) string { return time.Unix(0, int64(w)).UTC().Format("2006-01-02 15:04:05.000") }
