package database

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// session is a connection at the server, with what belongs to it: its locks, its transaction, its settings.
type session struct {
	server   *Server
	conn     *sim.Conn
	id       int64 // CONNECTION_ID(), pg_backend_pid()
	settings settings
	tx       transaction
	held     []*lock
	insertID int64

	executing *execution // nil between statements
	queue     []*Request // what came while it was executing
	awaits    *lock      // what the statement waits for; nil if it does not
	orphan    bool       // its client is gone, which it has not noticed
	over      bool
	timer     *sim.Timer // of the wait, see patience; between statements the end of an idle session
	waits     int64      // reading of the monotonic clock when the wait began
	waitEnds  int64      // the one at which the wait is too long; never
}

// never is no reading of a clock.
const never int64 = math.MaxInt64

// after returns the reading of the monotonic clock when so much time has passed; a limit of 0 is none.
func (s *session) after(limit time.Duration) int64 {
	if limit <= 0 {
		return never
	}
	return s.server.node.Monotonic() + int64(limit)
}

// start begins to execute a statement and returns the answer; nil if it has to wait.
func (s *session) start(r *Request) *Response {
	s.timer.Stop()
	r.Alone = !s.tx.explicit
	s.executing = &execution{session: s, server: s.server, request: r, now: s.server.node.Wall()}
	s.executing.ends = s.after(s.settings.statement)
	if !s.tx.explicit {
		s.tx.began = s.executing.now
	}
	return s.proceed()
}

// proceed executes the statement, or goes on with it, until it is done or has to wait.
func (s *session) proceed() *Response {
	x := s.executing
	err := x.run()
	var b *blocked
	if errors.As(err, &b) {
		s.await(b)
		return nil
	}
	s.executing = nil
	s.settle(x, err)
	s.awaitNext()
	if o := s.server.config.Observer; o != nil {
		o.Executed(s.server, x.request, x.answer)
	}
	return x.answer
}

// await puts the session into the queue for a lock.
func (s *session) await(b *blocked) {
	s.awaits = b.lock
	b.lock.queue = append(b.lock.queue, s)
	if o := s.server.config.Observer; o != nil {
		o.Waits(s.server, b.lock.key, s.executing.request)
	}
	s.waits, s.waitEnds = s.server.node.Monotonic(), s.after(b.wait)
	s.armWait(s.after(s.settings.deadlock))
	if s.orphan {
		s.lookAfterClient()
	}
}

// lookAfterClient ends a wait for a user lock when the server finds that the client is gone, as if it had waited for too long
// (mdl.cc, MDL_context::acquire_lock): it looks once in a second, and takes a client for connected from whom it still has
// something to read (vio_is_connected). Any other wait goes on: InnoDB does not look, and PostgreSQL does if it is told to
// (client_connection_check_interval, 0 by default).
func (s *session) lookAfterClient() {
	if s.awaits.key.Space != UserLocks || len(s.queue) > 0 {
		return
	}
	now := s.server.node.Monotonic()
	s.waitEnds = min(s.waitEnds, now+int64(time.Second)-(now-s.waits)%int64(time.Second))
	s.armWait(never)
}

// armWait has the wait looked at when it is too long, when the statement is, or when a deadlock is looked for.
func (s *session) armWait(deadlock int64) {
	s.timer.Stop()
	if next := min(s.waitEnds, s.executing.ends, deadlock); next != never {
		s.timer.Arm(false, next)
	}
}

// settle does what the end of a statement does to its transaction and its locks.
func (s *session) settle(x *execution, err error) {
	x.answer.Request = x.request
	if err != nil {
		var refused *Error
		if !errors.As(err, &refused) {
			panic("database: " + err.Error())
		}
		*x.answer = Response{Request: x.request, Err: refused}
	}
	switch {
	case !s.tx.explicit:
		s.endTransaction(err == nil, x.request, Ended)
	case x.rollsBack: // InnoDB resolves a deadlock so, and then there is no transaction any more
		s.endTransaction(false, x.request, Ended)
	case err != nil && s.server.config.Dialect == PostgreSQL:
		s.abort(x.request)
	}
	s.drop()
	x.answer.Open = s.tx.explicit
}

// refused is settle for a statement that has failed for a reason that is not simulated. A COMMIT that fails has rolled
// back (xact.c, CommitTransaction; in InnoDB every cause of such a failure does so).
func (s *session) refused(r *Request, a *Response) {
	parsed, err := s.server.statement(r.Statement)
	switch {
	case !s.tx.explicit:
	case err == nil && (parsed.verb == commit || parsed.verb == rollback):
		s.endTransaction(false, r, Ended)
	case s.server.config.Dialect == PostgreSQL:
		s.abort(r)
	case a.Err.Code == s.server.config.Dialect.problem(deadlock, "").Code:
		s.endTransaction(false, r, Ended)
	}
	s.drop()
	a.Open = s.tx.explicit
}

// abort is what an error does to a transaction of PostgreSQL: it is rolled back at once, its locks are free, and until the
// client ends it nothing else is accepted (xact.c, AbortCurrentTransaction).
func (s *session) abort(r *Request) {
	s.endTransaction(false, r, Ended)
	s.tx.explicit, s.tx.failed = true, true
}

// awaitNext limits the time until the next statement. MySQL's wait_timeout ends any idle session; PostgreSQL has one limit
// for sessions outside of a transaction and another for those within (postgres.c, PostgresMain).
func (s *session) awaitNext() {
	s.timer.Stop()
	limit := s.settings.idle
	if s.tx.explicit && s.server.config.Dialect == PostgreSQL {
		limit = s.settings.idleOpen
	}
	if limit != 0 {
		s.timer.Arm(false, s.server.node.Monotonic()+int64(limit))
	}
}

// Ring ends a session that was idle for too long, or looks at the wait of a statement.
func (s *session) Ring() {
	switch now := s.server.node.Monotonic(); {
	case s.awaits == nil:
		s.end(Idle)
		s.conn.Hangup()
	case now >= s.executing.ends:
		s.stopWaiting(overdue)
	case now >= s.waitEnds:
		s.stopWaiting(waited)
	case s.server.config.Dialect.detects(s, s.awaits):
		s.stopWaiting(deadlock)
	default:
		s.armWait(never) // PostgreSQL looks for a deadlock once a wait
	}
	s.server.wake()
}

// stopWaiting goes on with the statement without the lock.
func (s *session) stopWaiting(because problem) {
	s.giveUp()
	s.executing.inVain, s.executing.because = true, because
	s.resume()
}

// resume goes on with a statement that has waited, and with what came after it.
func (s *session) resume() {
	for answer := s.proceed(); answer != nil; answer = s.start(s.pop()) {
		s.conn.Reply(answer)
		if s.orphan {
			s.end(Disconnected)
		}
		if s.over || len(s.queue) == 0 {
			return
		}
	}
}

func (s *session) pop() *Request {
	r := s.queue[0]
	s.queue = s.queue[1:]
	return r
}

// end ends the session: its transaction is rolled back, and its locks are free.
func (s *session) end(why Why) {
	s.over = true
	s.timer.Stop()
	s.giveUp()
	s.executing, s.queue = nil, nil
	s.endTransaction(false, nil, why)
	for _, l := range s.locks() {
		s.leave(l, &l.inSession, 0, nil, why)
	}
	s.drop()
	s.server.sessions = slices.DeleteFunc(s.server.sessions, func(other *session) bool { return other == s })
}

// disconnected ends the session when the client is gone; one that waits for a lock does not notice it at once.
func (s *session) disconnected() {
	if s.awaits == nil {
		s.end(Disconnected)
		return
	}
	s.orphan = true
	s.lookAfterClient()
}

// patience is how long a statement may wait for a row, in PostgreSQL for any lock.
func (s *session) patience() time.Duration {
	if s.settings.lockWait == 0 {
		return forever
	}
	return s.settings.lockWait
}
