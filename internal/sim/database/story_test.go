package database_test

import (
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A story of SQL is what clients of one database server do, a line each: "a SELECT 1" is client a's statement, on the
// connection that it has or opens; "close a" has it close its connection, "kill a" has the server end all its sessions,
// "vanish a" takes its machine off the network, "restart" kills the server and starts it again, "sleep 2s" lets time pass. A
// client that waits for an answer sends nothing; its line is told to be skipped.
//
// After each line it is told what every client has heard, in the order of their names, and who still waits for an answer.

// sqlTables are there when a story begins: on the simulated server as such, on a real one as made by statements.
func sqlTables() []database.Table {
	return []database.Table{
		{Name: "locks", Columns: []string{"name", "owner", "version"}, Rows: [][]database.Value{
			{database.Text("p"), database.Text(""), database.Int(0)},
			{database.Text("q"), database.Text("o"), database.Int(0)},
		}},
		{Name: "leases", Columns: []string{"name", "owner", "expires_at", "version"}},
		{Name: "resource", Columns: []string{"id", "version"}, Rows: [][]database.Value{
			{database.Int(0), database.Int(0)}, {database.Int(1), database.Int(0)},
		}},
	}
}

// sqlTelling collects what is told of a story.
type sqlTelling struct {
	heard   map[string][]string // since the last line, by client
	waiting map[string]bool     // clients without an answer
	log     []string
}

func newSQLTelling() sqlTelling {
	return sqlTelling{heard: make(map[string][]string), waiting: make(map[string]bool)}
}

func (s *sqlTelling) hears(client, what string) {
	s.heard[client] = append(s.heard[client], client+": "+what)
	delete(s.waiting, client)
}

// tell ends a line of the story.
func (s *sqlTelling) tell(line string) {
	s.log = append(s.log, "> "+line)
	for _, client := range sortedNames(s.heard) {
		s.log = append(s.log, s.heard[client]...)
	}
	if len(s.waiting) > 0 {
		s.log = append(s.log, "waiting: "+strings.Join(sortedNames(s.waiting), " "))
	}
	clear(s.heard)
}

func sortedNames[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// beat is how long a line takes in the simulation: in PostgreSQL until deadlocks have been looked for. A drawn story of MySQL
// ends within a second, its sleeps apart, as it does on a real server, where the state of clients is looked at once a second.
func beat(d database.Dialect) time.Duration {
	if d == database.MySQL {
		return 10 * time.Millisecond
	}
	return 100 * time.Millisecond
}

// simSQL is the simulated side of a story.
type simSQL struct {
	sqlTelling
	t       require.TestingT
	engine  *sim.Engine
	dialect database.Dialect
	server  *database.Server
	clients map[string]*simSQLClient
	plant   func(text string) string // a mistake that is made with each statement, or with the end of a connection; nil: none
}

// simSQLClient is a process that sends what the story says.
type simSQLClient struct {
	side   *simSQL
	name   string
	orders []func(*sim.Task)
	wakes  sim.Signal
	conn   *sim.Conn
	gone   bool
}

// simulateSQL tells a story of the simulated server. Its configuration is as given, but for the tables.
func simulateSQL(t require.TestingT, c database.Config, lines []string, plant func(string) string) []string {
	s := &simSQL{sqlTelling: newSQLTelling(), t: t, clients: make(map[string]*simSQLClient), plant: plant}
	s.dialect = c.Dialect
	s.engine = sim.New(sim.Config{Seed: 1, Until: trace.Instant(24 * time.Hour), Latency: sim.Constant(time.Millisecond)}, nil)
	c.Tables = sqlTables()
	s.server = database.New(c)
	s.server.Attach(s.engine.AddServer("db", s.server))
	s.schedule(lines)
	s.engine.AddClient("driver", func(task *sim.Task) {
		for _, line := range lines {
			s.act(task, line)
			s.tell(line)
		}
		for _, name := range sortedNames(s.clients) {
			s.clients[name].order(nil)
		}
	})
	ending := s.engine.Run()
	require.Nil(t, ending.Panic, "%v", ending.Panic)
	return s.log
}

// schedule adds the clients, and the faults at the moments at which their lines come.
func (s *simSQL) schedule(lines []string) {
	at := time.Duration(0)
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		lasts := beat(s.dialect)
		switch word {
		case "sleep":
			lasts = duration(s.t, rest)
		case "restart":
			s.inject(at, sim.Action{Kind: sim.Crash, Node: "db", Restart: beat(s.dialect) / 2})
		case "vanish":
			s.inject(at, sim.Action{Kind: sim.Crash, Node: rest, Host: true})
		case "close", "kill":
		default:
			if s.clients[word] == nil {
				c := &simSQLClient{side: s, name: word}
				s.clients[word] = c
				s.engine.AddClient(word, c.live)
			}
		}
		at += lasts
	}
}

func duration(t require.TestingT, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func (s *simSQL) inject(at time.Duration, a sim.Action) {
	s.engine.Inject(sim.Fault{Trigger: sim.Trigger{When: sim.At, At: at}, Action: a})
}

func (s *simSQL) act(task *sim.Task, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "sleep":
		task.Sleep(duration(s.t, rest))
		return
	case "restart":
	case "vanish":
		s.clients[rest].gone = true
		delete(s.waiting, rest)
	case "close":
		s.clients[rest].close()
		if s.plant != nil && s.plant(line) != line {
			s.server.Kill(rest)
		}
	case "kill":
		s.server.Kill(rest)
	default:
		s.clients[word].statement(rest)
	}
	task.Sleep(beat(s.dialect))
}

func (c *simSQLClient) close() {
	delete(c.side.waiting, c.name)
	if conn := c.conn; conn != nil {
		c.conn = nil
		c.order(func(*sim.Task) { conn.Close() })
	}
}

func (c *simSQLClient) statement(text string) {
	if c.gone || c.side.waiting[c.name] {
		c.side.heard[c.name] = append(c.side.heard[c.name], c.name+": skipped")
		return
	}
	c.side.waiting[c.name] = true
	if c.side.plant != nil {
		text = c.side.plant(text)
	}
	c.order(func(task *sim.Task) {
		if c.conn == nil {
			conn, err := task.Dial(c.side.server.Node(), c.receiver(), 0)
			require.NoError(c.side.t, err)
			c.conn = conn
		}
		require.NoError(c.side.t, c.conn.Send(task, &database.Request{Statement: text, Origin: sim.Origin{Client: c.name}}))
	})
}

// order has the process do something; nil ends it.
func (c *simSQLClient) order(what func(*sim.Task)) {
	c.orders = append(c.orders, what)
	c.wakes.Fire()
}

func (c *simSQLClient) live(task *sim.Task) {
	for {
		for len(c.orders) == 0 {
			c.wakes = sim.Signal{}
			task.Wait(sim.Forever, &c.wakes)
		}
		next := c.orders[0]
		c.orders = c.orders[1:]
		if next == nil {
			return
		}
		next(task)
	}
}

// receiver hears for one connection of a client.
func (c *simSQLClient) receiver() sim.Receiver { return &simSQLReceiver{client: c} }

type simSQLReceiver struct {
	client *simSQLClient
}

func (r *simSQLReceiver) Deliver(p sim.Payload) {
	a := p.(*database.Response)
	shown := a.String()
	if a.Err != nil {
		shown = "error " + a.Err.Code
	}
	if a.Open && (a.Err == nil || r.client.side.dialect == database.PostgreSQL) { // MySQL's errors do not say it
		shown += ", in a transaction"
	}
	r.client.side.hears(r.client.name, shown)
}

func (r *simSQLReceiver) Closed() {
	if c := r.client; c.conn != nil {
		c.conn = nil
		c.side.hears(c.name, "closed")
	}
}
