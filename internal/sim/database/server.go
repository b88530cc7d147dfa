// Package database simulates one MySQL or PostgreSQL server, as far as a lock can notice it: locks that belong to a
// connection and are free when the server learns that the connection is over, rows that transactions lock and change,
// and the database's own clock. Requests are SQL statements, answered as the server would.
//
// Create a server with [New], add it with sim.Engine.AddServer, then call [Server.Attach].
//
// Sessions, locks and rows are compared with real servers, see TestPostgresAnswersAsTheRealOneDoes.
//
// Left out: replication and failover, everything but exclusive locks, gap locks, indexes besides the primary key,
// isolation levels besides the default ones, savepoints, types of columns, and the loss of commits (both servers write
// them to the disk before they answer, as they come).
package database

import (
	"time"

	"github.com/locksim/locksim/sim"
)

// Config configures a server.
type Config struct {
	Dialect Dialect
	Tables  []Table
	// Idle is how long a session may be silent before the server ends it; the dialect's default if 0.
	Idle time.Duration
	// LockWait is how long a statement waits for a row, in PostgreSQL for any lock; the dialect's default if 0.
	LockWait time.Duration
	// DeadlockTimeout is how long a statement of PostgreSQL waits before it looks for a deadlock; one second if 0.
	DeadlockTimeout time.Duration
	// KeepAlive is how long the client's machine may be silent before its connection is considered dead; 0: forever,
	// since the operating systems' default of more than two hours is longer than a run.
	KeepAlive time.Duration
	// Observer is called for every event of the server; it may be nil.
	Observer Observer
	_        struct{}
}

// Observer sees the ground truth about a server's locks and rows, which no client can see.
type Observer interface {
	// Executed is called after a statement has been answered.
	Executed(s *Server, r *Request, a *Response)
	// Waits is called when a request has to wait for a lock.
	Waits(s *Server, k Key, r *Request)
	// Took is called when the connection of a request has acquired a lock; times is how often it now holds it.
	Took(s *Server, k Key, r *Request, times int)
	// Left is called when a lock was released, by the request unless r is nil; times is how often it is still
	// held.
	Left(s *Server, k Key, r *Request, why Why, times int)
	// Committed is called when a request has committed changes of rows.
	Committed(s *Server, r *Request, changes []Change)
	// RolledBack is called when changes of rows will not be committed.
	RolledBack(s *Server, changes []Change)
}

var (
	_ sim.Listener = (*Server)(nil)
	_ sim.Refuser  = (*Server)(nil)
)

// Server is a database server in the simulation.
type Server struct {
	config     Config
	node       *sim.Node
	tables     []*table
	locks      map[Key]*lock
	sessions   []*session
	woken      []*session // those that have just got a lock that they waited for, or were told that they will not
	lastID     int64
	statements map[string]*statement // parsed ones, by their text
	emptied    bool                  // the last crash has taken the data along
}

// New returns a server with the configured tables.
func New(c Config) *Server {
	s := &Server{config: c, locks: make(map[Key]*lock), statements: make(map[string]*statement)}
	s.load()
	return s
}

func (s *Server) load() {
	s.tables = nil
	for i := range s.config.Tables {
		s.tables = append(s.tables, newTable(&s.config.Tables[i]))
	}
}

// Attach tells the server which node it runs on.
func (s *Server) Attach(n *sim.Node) { s.node = n }

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// Execute executes a *Request. The *Response comes later if a lock has to be waited for.
func (s *Server) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	peer := s.sessionOf(c)
	r := p.(*Request)
	if peer.executing != nil {
		peer.queue = append(peer.queue, r)
		return nil
	}
	answer := peer.start(r)
	s.wake()
	if answer == nil {
		return nil
	}
	return answer
}

// Refused applies the effect that an injected error has on the transaction of a *Request.
func (s *Server) Refused(c *sim.Conn, request, answer sim.Payload) sim.Payload {
	s.sessionOf(c).refused(request.(*Request), answer.(*Response))
	s.wake()
	return answer
}

// wake lets those go on who have got what they waited for. It does so at the end of what happens at an instant, so that
// nothing changes under the hands of what is going on.
func (s *Server) wake() {
	for len(s.woken) > 0 {
		next := s.woken[0]
		s.woken = s.woken[1:]
		if !next.over {
			next.resume()
		}
	}
}

func (s *Server) sessionOf(c *sim.Conn) *session {
	if peer, ok := c.Session.(*session); ok {
		return peer
	}
	s.lastID++
	peer := &session{server: s, conn: c, id: s.lastID, settings: s.config.Dialect.defaults()}
	peer.timer = s.node.NewTimer(peer)
	if s.config.Idle != 0 {
		peer.settings.idle = s.config.Idle
	}
	if s.config.LockWait != 0 {
		peer.settings.lockWait = s.config.LockWait
	}
	if s.config.DeadlockTimeout != 0 {
		peer.settings.deadlock = s.config.DeadlockTimeout
	}
	if s.config.KeepAlive != 0 {
		c.KeepAlive(s.config.KeepAlive)
	}
	c.Session = peer
	s.sessions = append(s.sessions, peer)
	return peer
}

// Disconnected ends the session of a closed connection.
func (s *Server) Disconnected(c *sim.Conn) {
	if peer, ok := c.Session.(*session); ok {
		peer.disconnected()
		s.wake()
	}
}

// Kill ends the sessions of a client, as KILL and pg_terminate_backend do: the server closes the connection, and the
// client learns of it at its next statement. It reports whether there was one.
func (s *Server) Kill(client string) bool {
	var killed []*session
	for _, peer := range s.sessions {
		if peer.conn.Client().Name == client {
			killed = append(killed, peer)
		}
	}
	for _, peer := range killed {
		peer.end(Killed)
		peer.conn.Hangup()
	}
	s.wake()
	return len(killed) > 0
}

// statement parses a statement, or remembers it.
func (s *Server) statement(text string) (*statement, error) {
	if known := s.statements[text]; known != nil {
		return known, nil
	}
	parsed, err := parse(s.config.Dialect, text)
	if err == nil {
		s.statements[text] = parsed
	}
	return parsed, err
}

// table finds a table; nil if there is none of that name.
func (s *Server) table(name string) *table {
	for _, t := range s.tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Crash discards the table of locks and uncommitted changes.
func (s *Server) Crash(_ bool, keep string) {
	for len(s.sessions) > 0 {
		s.sessions[0].end(Crashed)
	}
	s.woken = nil
	s.emptied = keep == "nothing"
}

// Restart starts the server with all committed rows and no locks.
func (s *Server) Restart() {
	clear(s.locks)
	if s.emptied {
		s.load()
	}
}

// Size counts rows, locks, sessions, and the statements that have been parsed.
func (s *Server) Size() int {
	n := len(s.locks) + len(s.sessions) + len(s.statements)
	for _, t := range s.tables {
		n += len(t.records)
	}
	return n
}
