// Package servers simulates MySQL and PostgreSQL servers in a run.
package servers

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// service is one MySQL or PostgreSQL server, perhaps behind a pooler.
type service struct {
	server *database.Server
	nodes  []*sim.Node // the server, and the pooler if there is one
}

// MySQL builds a MySQL server.
func MySQL(w simulated.World) simulated.Service { return build(w, database.MySQL) }

// Postgres builds a PostgreSQL server.
func Postgres(w simulated.World) simulated.Service { return build(w, database.PostgreSQL) }

// build builds a server, and its pooler if there is one.
func build(w simulated.World, dialect database.Dialect) simulated.Service {
	deployed := &w.Scenario().Servers
	observer := newTruth(w)
	s := &service{server: database.New(database.Config{
		Dialect: dialect, Tables: tables(w.Scenario().Resource.Registers),
		Idle: deployed.IdleTimeout, KeepAlive: deployed.KeepAlive, Observer: observer,
	})}
	names := deployed.Names()
	node := w.Engine().AddServer(names[0], s.server)
	s.nodes = append(s.nodes, node)
	s.server.Attach(node)
	observer.watch(node)
	if deployed.Pool > 0 {
		pooler := database.NewPooler(deployed.Pool)
		front := w.Engine().AddServer(names[1], pooler)
		pooler.Attach(front, node)
		s.nodes = append(s.nodes, front)
	}
	return s
}

// Servers returns the nodes.
func (s *service) Servers() []*sim.Node { return s.nodes }

// Role finds the node that plays a role.
func (*service) Role(string) string { return "" }

// tables are those that somebody has made for the locks, and for the protected resource.
func tables(registers int) []database.Table {
	resource := database.Table{Name: resourceTable, Columns: []string{"id", "version"}}
	for i := range registers {
		resource.Rows = append(resource.Rows, []database.Value{database.Int(int64(i)), database.Int(0)})
	}
	list := []database.Table{{Name: "locks", Columns: []string{"name"}}, resource}
	for _, r := range leaseRows {
		list = append(list, r.table)
	}
	return list
}

// resourceTable is the table of the protected resource, whose columns the observer of ground truth must know.
const resourceTable = "resource"

// leaseRow is a table of leases, and the columns that say whose a lease is and until when.
type leaseRow struct {
	table        database.Table
	owner, until string
}

var leaseRows = []leaseRow{
	{database.Table{Name: "leases", Columns: []string{"name", "owner", "expires_at", "version"}}, "owner", "expires_at"},
	{database.Table{Name: "shedlock", Columns: []string{"name", "lock_until", "locked_at", "locked_by"}}, "locked_by", "lock_until"},
}

// Command ends the sessions of a client.
func (s *service) Command(n *sim.Node, a *sim.Action) bool {
	return a.Kind == sim.EndSession && s.server.Kill(n.Name)
}

// ErrorReply answers a request with an error.
func (s *service) ErrorReply(request sim.Payload, text string) sim.Payload {
	return database.ErrorResponse(request, text)
}

// clients is a task's client of the server.
type clients struct {
	simulated.None
	front *sim.Node // what it connects to
}

// Clients makes a task's clients of the servers.
func (s *service) Clients(p simulated.Process) locks.Services {
	return &clients{None: simulated.None{Process: p}, front: s.nodes[len(s.nodes)-1]}
}

// SQL returns the client.
func (c *clients) SQL() locks.SQL { return c }

// Connect opens a connection.
func (c *clients) Connect(timeout time.Duration) (locks.SQLConn, error) {
	l, err := simulated.Open(c.Process.Task(), c.front, timeout)
	if err != nil {
		return nil, err
	}
	return &conn{c.Process, &sharedLine{line: l}}, nil
}

// Share returns this task's handle of a connection of the process.
func (c *clients) Share(other locks.SQLConn) locks.SQLConn {
	return &conn{c.Process, other.(*conn).sharedLine}
}

// conn is the locks.SQLConn of one task.
type conn struct {
	process simulated.Process
	*sharedLine
}

// sharedLine is a connection that the tasks of a process use in turns.
type sharedLine struct {
	line *simulated.Line
	over sim.Signal
	busy bool
	free sim.Signal // a task has had its turn
}

// Over fires when a statement has found that the connection is closed.
func (c *conn) Over() locks.Signal { return &c.over }

// Close ends the connection.
func (c *conn) Close() {
	c.line.Close()
	c.over.Fire()
}

// Do sends one statement, when it is the task's turn.
func (c *conn) Do(timeout time.Duration, s locks.SQLStatement, args ...any) (locks.SQLResult, error) {
	p := c.process
	for c.busy {
		p.Task().Wait(sim.Forever, &c.free)
	}
	c.busy, c.free = true, sim.Signal{}
	r := &database.Request{Origin: p.Origin(), Statement: s.Text, Args: values(args), Purpose: s.Name}
	answer, err := c.line.Call(p.Task(), r, timeout)
	c.busy = false
	c.free.Fire()
	if err != nil {
		c.over.Fire()
		if r.Access != 0 && errors.Is(err, locks.ErrNotDone) { // the end of the connection has refused it
			p.World().Recorder().Settled(r.Access, false, 0)
		}
		return locks.SQLResult{}, err
	}
	a := answer.(*database.Response)
	if a.Err != nil {
		return locks.SQLResult{}, &locks.SQLError{Code: a.Err.Code, Text: a.Err.Text}
	}
	return locks.SQLResult{Rows: rows(a.Rows), Affected: a.Affected, InsertID: a.InsertID}, nil
}

func values(args []any) []database.Value {
	list := make([]database.Value, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			list[i] = database.Text(arg)
		case int64:
			list[i] = database.Int(arg)
		case int:
			list[i] = database.Int(int64(arg))
		default:
			panic(fmt.Sprintf("servers: an argument of a statement is a string, an int or an int64, not a %T", arg))
		}
	}
	return list
}

func rows(answered [][]database.Value) [][]any {
	list := make([][]any, len(answered))
	for i, values := range answered {
		list[i] = make([]any, len(values))
		for k, v := range values {
			switch v.Kind {
			case database.KindNull:
			case database.KindInt:
				list[i][k] = v.Int
			default:
				list[i][k] = v.Bare()
			}
		}
	}
	return list
}
