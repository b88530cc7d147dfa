package database

import (
	"slices"
	"time"
)

// Key identifies a lockable object: a name in the space "user" (MySQL's GET_LOCK), a number in the space
// "advisory" (PostgreSQL), or a row by its key in the space of its table.
type Key struct{ Space, Name string }

// The spaces that are no tables.
const (
	UserLocks     = "user"
	AdvisoryLocks = "advisory"
)

// String names the lock.
func (k Key) String() string { return k.Space + "/" + k.Name }

// row reports whether it is the lock of a row.
func (k Key) row() bool { return k.Space != UserLocks && k.Space != AdvisoryLocks }

// Why says how a lock was released.
type Why uint8

// The ways.
const (
	Released     Why = iota // by a statement that names it
	Ended                   // with its transaction
	Disconnected            // the server has noticed that the client is gone
	Idle                    // the server has ended a session that was silent for too long
	Killed                  // the session was ended by an administrator
	Crashed                 // the server has lost its table of locks
)

// lock is an exclusive lock that belongs to a connection; the locks of both servers are such locks, though their
// statements have different names. Waiting sessions get it in the order of their requests (MySQL: mdl.cc,
// reschedule_waiters; PostgreSQL: proc.c, ProcLockWakeup), the next one at the very instant at which it is released.
//
// Invariant: queue is empty unless holder != nil. Between statements holder != nil implies counts() > 0.
type lock struct {
	key           Key
	holder        *session
	inSession     int // how often it is held until it is released, or the session ends
	inTransaction int // how often it is held until the transaction ends
	queue         []*session
}

func (l *lock) counts() int { return l.inSession + l.inTransaction }

// lock finds or makes the lock of a key.
func (s *Server) lock(k Key) *lock {
	l := s.locks[k]
	if l == nil {
		l = &lock{key: k}
		s.locks[k] = l
	}
	return l
}

// locks are those that the session holds, in the order in which it got them.
func (s *session) locks() []*lock { return slices.Clone(s.held) }

// take takes a lock for the statement: it is kept only if hold counts it before the statement ends. Without the lock
// and without an error the time for waiting is over; blocked says that the statement waits.
func (x *execution) take(k Key, wait time.Duration) (l *lock, ok bool, err error) {
	l = x.server.lock(k)
	switch {
	case l.holder == x.session:
		return l, true, nil
	case l.holder == nil:
		l.give(x.session)
		return l, true, nil
	case x.inVain:
		x.inVain = false
		return l, false, x.vain(l)
	case wait == 0:
		return l, false, nil
	case x.server.config.Dialect == MySQL && x.server.config.Dialect.detects(x.session, l):
		return l, false, x.deadlock(l)
	}
	return l, false, &blocked{l, wait}
}

// vain returns the error with which a statement fails that has waited for a lock in vain; nil if that is its own affair.
func (x *execution) vain(l *lock) error {
	switch x.because {
	case overdue:
		return x.problem(overdue, "")
	case deadlock:
		return x.deadlock(l)
	default:
		return nil
	}
}

// blocked says that a statement waits for a lock.
type blocked struct {
	lock *lock
	wait time.Duration // forever: without limit
}

// Error names the lock that the statement waits for.
func (b *blocked) Error() string { return "waits for " + b.lock.key.String() }

// detects reports whether waiting for a lock would close a circle of sessions that wait for each other. MySQL has two
// detectors, one for rows and one for the rest, neither of which sees a circle that goes through both; they look when a
// session begins to wait, which is the one to fail here. PostgreSQL looks once, when a session has waited for deadlock_timeout.
func (d Dialect) detects(s *session, l *lock) bool {
	for next := l; next != nil && next.holder != nil; next = next.holder.awaits {
		if d == MySQL && next.key.row() != l.key.row() {
			return false
		}
		if next.holder == s {
			return true
		}
	}
	return false
}

// give hands the lock to a session, for the statement that it executes.
func (l *lock) give(s *session) {
	l.holder = s
	s.held = append(s.held, l)
}

// hold keeps a lock that the statement has taken, for another time.
func (x *execution) hold(l *lock, count *int) {
	*count++
	if o := x.server.config.Observer; o != nil {
		o.Took(x.server, l.key, x.request, l.counts())
	}
}

// holdRow keeps the lock of a row until the transaction ends.
func (x *execution) holdRow(l *lock) {
	if l.inTransaction == 0 {
		x.hold(l, &l.inTransaction)
	}
}

// leave sets back how often a lock is held, and lets it go if that was the last time.
func (s *session) leave(l *lock, count *int, to int, r *Request, why Why) {
	if *count == to {
		return
	}
	*count = to
	if o := s.server.config.Observer; o != nil {
		o.Left(s.server, l.key, r, why, l.counts())
	}
	s.dropIfUnused(l)
}

// drop lets go of what a statement took and did not keep: nobody has held it.
func (s *session) drop() {
	for _, l := range s.locks() {
		s.dropIfUnused(l)
	}
}

// dropIfUnused hands a lock that is not held any more to the next in the queue.
func (s *session) dropIfUnused(l *lock) {
	if l.counts() > 0 {
		return
	}
	l.holder = nil
	s.held = slices.DeleteFunc(s.held, func(other *lock) bool { return other == l })
	if len(l.queue) > 0 {
		next := l.queue[0]
		l.queue = l.queue[1:]
		next.awaits = nil
		l.give(next)
		s.server.woken = append(s.server.woken, next)
	}
}

// giveUp takes a session out of the queue that it waits in.
func (s *session) giveUp() {
	if l := s.awaits; l != nil {
		l.queue = slices.DeleteFunc(l.queue, func(other *session) bool { return other == s })
		s.awaits = nil
	}
}

// releaseAll releases all locks of a space that the session holds until it releases them, and returns how often it held
// one.
func (x *execution) releaseAll(space string) (released int64) {
	for _, l := range x.session.locks() {
		if l.key.Space == space {
			released += int64(l.inSession)
			x.session.leave(l, &l.inSession, 0, x.request, Released)
		}
	}
	return released
}

// deadlock refuses to close a circle of waiting sessions. For rows MySQL rolls the whole transaction back, for a user
// lock the statement alone; PostgreSQL's transaction has failed in any case.
func (x *execution) deadlock(l *lock) error {
	if x.server.config.Dialect == MySQL && !l.key.row() {
		return x.problem(lockDeadlock, l.key.Name)
	}
	x.rollsBack = x.server.config.Dialect == MySQL
	return x.problem(deadlock, l.key.String())
}
