package locks

import (
	"errors"
	"fmt"
	"time"
)

// SQL is a client of a MySQL or PostgreSQL server. Their locks belong to a connection: a lock opens its own,
// and does not take one from a pool, which would give it to others. The simulated servers have the tables locks (name), leases (name, owner,
// expires_at, version) and shedlock (name, lock_until, locked_at, locked_by); see docs/your-own-lock.md.
type SQL interface {
	// Connect opens a connection within timeout; 0 waits forever. The error is ErrNotDone.
	Connect(timeout time.Duration) (SQLConn, error)
	// Share returns this task's handle of a connection that another task of the process has opened.
	Share(c SQLConn) SQLConn
}

// SQLConn is one task's handle of a connection to a database. Tasks that use a connection at once take turns.
type SQLConn interface {
	// Do sends one statement and waits for its result, at most timeout; 0 waits forever. An argument is a string,
	// an int or an int64. An error of the server comes back as a *SQLError. If no result arrived the error is ErrNotDone
	// or ErrUnknown, and the connection is closed: on it an old answer could be mistaken for a new one.
	Do(timeout time.Duration, s SQLStatement, args ...any) (SQLResult, error)
	// Over fires when the library finds that the connection is closed. It checks only when a statement is sent.
	Over() Signal
	// Close ends the connection. The server is told, if it can be reached.
	Close()
}

// SQLStatement is a statement, and what it is for, as faults, traces and verdicts have it: "acquire", "renew", "release".
type SQLStatement struct{ Name, Text string }

// SQLResult is the result of a statement.
type SQLResult struct {
	Rows     [][]any // of strings, int64 and nil
	Affected int64   // rows that were inserted, deleted or changed
	InsertID int64   // the argument of LAST_INSERT_ID(…)
}

// True reports whether the first value of the first row is a number other than 0.
func (r SQLResult) True() bool {
	if len(r.Rows) == 0 {
		return false
	}
	n, ok := r.Rows[0][0].(int64)
	return ok && n != 0
}

// SQLError is a database's refusal of a statement: MySQL's number or PostgreSQL's SQLSTATE, and a text.
type SQLError struct{ Code, Text string }

// Error returns the code and the text.
func (e *SQLError) Error() string { return e.Code + " " + e.Text }

// onConnection is what the locks share that live on a connection of their own. The lease is lost with the connection,
// of which the client learns at the next statement that it sends: by verifying, or by a heartbeat, if it has one.
type onConnection struct {
	p       Process
	options Options
	conn    SQLConn // nil if there is none, or it is over
	beat    *heartbeat
}

func newConnection(p Process, o Options) onConnection {
	return onConnection{p: p, options: o.withDefaults()}
}

// do sends a statement, on a new connection if the last one is over.
func (c *onConnection) do(s SQLStatement, args ...any) (SQLResult, error) {
	if c.conn == nil || c.conn.Over().Fired() {
		conn, err := c.p.SQL().Connect(c.options.Timeout)
		if err != nil {
			return SQLResult{}, err
		}
		c.conn = conn
	}
	return c.on(c.conn, s, args...)
}

// on sends a statement on a connection, which is to be the same as before, and names the statement in the error.
func (c *onConnection) on(conn SQLConn, s SQLStatement, args ...any) (SQLResult, error) {
	result, err := conn.Do(c.options.Timeout, s, args...)
	if err != nil {
		return SQLResult{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	return result, nil
}

// lease is one that is lost with the connection.
func (c *onConnection) lease() Lease {
	if c.options.Renew > 0 {
		c.beat = newHeartbeat(c.p, c.conn, c.options)
	}
	return Lease{Lost: c.conn.Over()}
}

// leave ends the heartbeat before the statement that releases the lock.
func (c *onConnection) leave(s SQLStatement, args ...any) (SQLResult, error) {
	if c.beat != nil {
		c.beat.end()
		c.beat = nil
	}
	return c.on(c.conn, s, args...)
}

// read reads a register of the protected data, which are in the same database, in the transaction that is open.
func (c *onConnection) read(register int) (uint64, error) {
	found, err := c.on(c.conn, SQLStatement{"read", "SELECT version FROM resource WHERE id = ?"}, int64(register))
	if err != nil {
		return 0, err
	}
	version, _ := found.Rows[0][0].(int64)
	return uint64(version), nil
}

// write writes a register in the transaction: it is done when that is committed, or not at all. A connection that is
// over has taken the transaction along.
func (c *onConnection) write(register int, version uint64) error {
	statement := SQLStatement{"write", "UPDATE resource SET version = ? WHERE id = ?"}
	_, err := c.on(c.conn, statement, int64(version), int64(register))
	if errors.Is(err, ErrNotDone) {
		return ErrNotHeld
	}
	return err
}

// Verify asks the server whether the connection is open, and with it the lock held.
func (c *onConnection) Verify(Lease) error {
	_, err := c.on(c.conn, ping())
	return err
}

func ping() SQLStatement { return SQLStatement{"ping", "SELECT 1"} }

// heartbeat is a task that sends a statement from time to time, so that the client learns of the connection's end, and
// the server does not take it for abandoned.
type heartbeat struct {
	p          Process
	stop, done Signal
}

func newHeartbeat(p Process, conn SQLConn, o Options) *heartbeat {
	h := &heartbeat{p: p, stop: p.NewSignal()}
	h.done = p.Go(func(p Process) {
		conn := p.SQL().Share(conn)
		for p.Wait(o.Renew, h.stop, conn.Over()) < 0 {
			if _, err := conn.Do(o.Timeout, ping()); err != nil {
				return
			}
		}
	})
	return h
}

func (h *heartbeat) end() {
	h.stop.Fire()
	h.p.Wait(Forever, h.done)
}

// seconds rounds a wait up to what MySQL counts it in.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
