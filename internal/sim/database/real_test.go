package database_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
)

// realSQL is the real side of a story: a database server, and a connection to it for each client.
type realSQL struct {
	sqlTelling
	t       require.TestingT
	server  sqlServer
	monitor sqlWire
	clients map[string]*realSQLClient
	orphans map[int]string // whose sessions lost their client, by their number at the server
	silent  map[int]bool   // those whose client's machine is
	events  chan sqlEvent

	slept    time.Duration
	looks    time.Duration // how long PostgreSQL is left to look for a deadlock
	resolves bool          // circles of sessions that wait for each other are waited for to be resolved
}

// sqlServer is what differs between real servers.
type sqlServer interface {
	dial() (sqlWire, error)
	makes() []string // the statements that make the tables
	end(session int) string
	sessions(monitor *realSQL) map[int]bool
	waits(monitor *realSQL) map[int]bool // sessions that wait for a lock
	restart() error
}

type realSQLClient struct {
	wire  sqlWire
	asked string // the statement that has not been answered
	over  bool   // the client has closed it
}

// sqlEvent is what a connection has brought.
type sqlEvent struct {
	name   string
	client *realSQLClient
	answer sqlAnswer
	err    error
}

// playSQL tells a story of a real server.
func playSQL(t require.TestingT, server sqlServer, lines []string) []string {
	log, _ := retellSQL(t, server, lines, false, 0)
	return log
}

// retellSQL tells a story of a real server, and whether it was told in time, see sqlInTime. Each time that it is told again it
// leaves the server more time to look for deadlocks.
func retellSQL(t require.TestingT, server sqlServer, lines []string, resolves bool, again int) (log []string, inTime bool) {
	s := &realSQL{
		sqlTelling: newSQLTelling(), t: t, server: server,
		clients: make(map[string]*realSQLClient), orphans: make(map[int]string), silent: make(map[int]bool), events: make(chan sqlEvent, 100),
		resolves: resolves, looks: realConfigs["postgres"].DeadlockTimeout * 3 / 2 << (2 * again),
	}
	s.connect()
	defer func() { _ = s.monitor.socket().Close() }()
	for _, statement := range resetsSQL {
		s.ask(statement)
	}
	began := time.Now()
	for _, line := range lines {
		s.act(line)
		s.settle()
		s.tell(line)
	}
	_, mariadb := s.server.(mariadbServer)
	inTime = !mariadb || time.Since(began)-s.slept < sqlInTime
	for _, name := range sortedNames(s.clients) {
		s.close(name)
	}
	for _, id := range slices.Concat(sortedKeys(s.orphans), sortedKeys(s.silent)) { // what waits in vain
		_, _ = s.monitor.query(s.server.end(id))
	}
	s.settle()
	return s.log, inTime
}

// sqlInTime is how long a story of MariaDB may take, its sleeps apart: a session that waits for a lock looks once a second whether
// its client is there, see beat.
const sqlInTime = time.Second / 2

// resetsSQL are the statements that leave the tables as they are when a story begins, see sqlTables.
var resetsSQL = []string{
	"DELETE FROM locks", "DELETE FROM leases", "DELETE FROM resource",
	"INSERT INTO locks VALUES ('p', '', 0), ('q', 'o', 0)", "INSERT INTO resource VALUES (0, 0), (1, 0)",
}

func sortedKeys[V any](m map[int]V) (list []int) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (s *realSQL) connect() {
	var err error
	s.monitor, err = s.server.dial()
	require.NoError(s.t, err)
}

// ask has the monitor ask, which has its own connection.
func (s *realSQL) ask(statement string) [][]string {
	a, err := s.monitor.query(statement)
	require.NoError(s.t, err, statement)
	require.Empty(s.t, a.code, "%s: %s", statement, a.text)
	return a.rows
}

func (s *realSQL) act(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "sleep":
		d := duration(s.t, rest)
		time.Sleep(d)
		s.slept += d
		for _, name := range sortedNames(s.clients) {
			if s.clients[name].asked == "" {
				s.listen(name)
			}
		}
	case "restart":
		require.NoError(s.t, s.server.restart())
		clear(s.orphans)
		clear(s.silent)
		for _, name := range sortedNames(s.clients) {
			s.awaitEnd(name)
		}
		_ = s.monitor.socket().Close()
		s.connect()
	case "vanish":
		require.NoError(s.t, deafen(s.clients[rest].wire))
		delete(s.waiting, rest)
		s.clients[rest].over = true
		s.silent[s.clients[rest].wire.id()] = true
		delete(s.clients, rest) // its session lives on until the server misses it
	case "close":
		s.close(rest)
	case "kill": // all sessions of the client, those that have lost it too
		for _, id := range sortedKeys(s.orphans) {
			if s.orphans[id] == rest {
				_, _ = s.monitor.query(s.server.end(id))
			}
		}
		if c := s.clients[rest]; c != nil {
			_, _ = s.monitor.query(s.server.end(c.wire.id()))
			s.awaitEnd(rest)
		}
	default:
		s.statement(word, rest)
	}
}

// orphan has the client's connection be nobody's.
func (s *realSQL) orphan(name string) {
	c := s.clients[name]
	c.over = true
	s.orphans[c.wire.id()] = name
	delete(s.clients, name)
}

func (s *realSQL) close(name string) {
	delete(s.waiting, name)
	if c := s.clients[name]; c != nil {
		s.orphan(name)
		_ = c.wire.socket().Close()
	}
}

// awaitEnd waits until a client has heard that its connection is over.
func (s *realSQL) awaitEnd(name string) {
	c := s.clients[name]
	for deadline := time.Now().Add(sqlPatience); s.clients[name] == c; {
		require.True(s.t, time.Now().Before(deadline), "the connection of %s does not end", name)
		if c.asked == "" {
			s.listen(name)
		} else {
			s.take(<-s.events)
		}
	}
}

// listen has an idle client look whether its connection is over.
func (s *realSQL) listen(name string) {
	if c := s.clients[name]; c.wire.ended() {
		_ = c.wire.socket().Close()
		delete(s.clients, name)
		s.hears(name, "closed")
	}
}

func (s *realSQL) statement(name, text string) {
	if s.waiting[name] {
		s.heard[name] = append(s.heard[name], name+": skipped")
		return
	}
	c := s.clients[name]
	if c == nil {
		wire, err := s.server.dial()
		require.NoError(s.t, err)
		c = &realSQLClient{wire: wire}
		s.clients[name] = c
	}
	c.asked = text
	s.waiting[name] = true
	go func() {
		a, err := c.wire.query(text)
		s.events <- sqlEvent{name, c, a, err}
	}()
}

func (s *realSQL) take(e sqlEvent) {
	switch e.client.asked = ""; {
	case e.client.over:
	case e.err != nil:
		delete(s.clients, e.name)
		_ = e.client.wire.socket().Close()
		s.hears(e.name, "closed")
	default:
		s.hears(e.name, e.answer.String())
	}
}

// sqlPatience is how long a statement may take on a machine under load that waits for no lock.
const sqlPatience = 20 * time.Second

// settle takes what is answered until all who have no answer wait for locks, so that nothing happens any more by itself. On
// PostgreSQL they have then looked for a deadlock, which each does once: the session that closes a circle later is its victim.
func (s *realSQL) settle() {
	_, looks := s.server.(postgresServer)
	deadline := time.Now().Add(sqlPatience)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		require.True(s.t, time.Now().Before(deadline), "%v neither answered nor waiting, after %s", s.waiting, strings.Join(s.log, "\n"))
		s.takeAll(pause)
		if len(s.waiting) == 0 && len(s.orphans) == 0 {
			return
		}
		// In this order: a session that ends in between may only now give way to one that was seen to wait before.
		sessions := s.server.sessions(s)
		waiting := s.server.waits(s)
		for id := range s.orphans {
			if !sessions[id] {
				delete(s.orphans, id)
			}
		}
		switch {
		case len(s.events) > 0 || !s.allWait(waiting):
		case looks:
			looks = false
			time.Sleep(s.looks)
		default:
			return
		}
	}
}

func (s *realSQL) takeAll(pause time.Duration) {
	for {
		select {
		case e := <-s.events:
			s.take(e)
		case <-time.After(pause):
			return
		}
	}
}

func (s *realSQL) allWait(waiting map[int]bool) bool {
	for name := range s.waiting {
		if !waiting[s.clients[name].wire.id()] {
			return false
		}
	}
	for id := range s.orphans {
		if !waiting[id] {
			return false
		}
	}
	return true
}

// postgresServer is a real PostgreSQL.
type postgresServer struct{ *real.Postgres }

func (p postgresServer) dial() (sqlWire, error) { return dialPostgres(p.Address) }
func (p postgresServer) restart() error         { return cmpErr(p.Kill(), p.Restart) }

func (postgresServer) end(session int) string {
	return fmt.Sprintf("SELECT pg_terminate_backend(%d)", session)
}

func (postgresServer) makes() []string {
	return []string{
		"CREATE TABLE locks (name text PRIMARY KEY, owner text, version bigint)",
		"CREATE TABLE leases (name text PRIMARY KEY, owner text, expires_at timestamp, version bigint)",
		"CREATE TABLE resource (id bigint PRIMARY KEY, version bigint)",
	}
}

// waits goes by the table of locks, in which a lock is granted in the moment in which another lets it go.
func (postgresServer) waits(s *realSQL) map[int]bool {
	waiting := make(map[int]bool)
	blockers := make(map[int][]int)
	for _, row := range s.ask("SELECT pid, pg_blocking_pids(pid) FROM pg_locks WHERE NOT granted") {
		pid := numberOf(s.t, row[0])
		waiting[pid] = true
		for _, word := range regexp.MustCompile(`\d+`).FindAllString(row[1], -1) {
			blockers[pid] = append(blockers[pid], numberOf(s.t, word))
		}
	}
	if s.resolves && circle(blockers) {
		return nil
	}
	return waiting
}

func (postgresServer) sessions(s *realSQL) map[int]bool {
	return s.numbers("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
}

// numbers asks for a column of them.
func (s *realSQL) numbers(statement string) map[int]bool {
	set := make(map[int]bool)
	for _, row := range s.ask(statement) {
		set[numberOf(s.t, row[0])] = true
	}
	return set
}

func numberOf(t require.TestingT, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// circle reports whether there is a circle of those who wait for each other.
func circle(blockers map[int][]int) bool {
	for start := range blockers {
		seen := map[int]bool{}
		for list := slices.Clone(blockers[start]); len(list) > 0; list = list[1:] {
			next := list[0]
			if next == start {
				return true
			}
			if !seen[next] {
				seen[next] = true
				list = append(list, blockers[next]...)
			}
		}
	}
	return false
}

// cmpErr does the second thing unless the first has failed.
func cmpErr(first error, second func() error) error {
	if first != nil {
		return first
	}
	return second()
}

// mariadbServer is a real MariaDB.
type mariadbServer struct{ *real.MariaDB }

func (m mariadbServer) dial() (sqlWire, error) {
	w, err := dialMariaDB(m.Address)
	if err == nil {
		_, err = w.query("USE test")
	}
	return w, err
}

func (m mariadbServer) restart() error       { return cmpErr(m.Kill(), m.Restart) }
func (mariadbServer) end(session int) string { return fmt.Sprintf("KILL %d", session) }

func (mariadbServer) makes() []string {
	return []string{
		"CREATE DATABASE test", "USE test",
		"CREATE TABLE locks (name varchar(64) PRIMARY KEY, owner varchar(64), version bigint) ENGINE=InnoDB",
		"CREATE TABLE leases (name varchar(64) PRIMARY KEY, owner varchar(64), expires_at datetime(6), version bigint) ENGINE=InnoDB",
		"CREATE TABLE resource (id bigint PRIMARY KEY, version bigint) ENGINE=InnoDB",
	}
}

var (
	innodbWaits = regexp.MustCompile(`(?s)MariaDB thread id (\d+).*TRX HAS BEEN WAITING`)
	getLock     = regexp.MustCompile(`(?i)GET_LOCK\(('[^']*')`)
)

// waits goes by the engine's report for rows: by the lock that it says a transaction waits for, since its words LOCK WAIT stay until
// the session to which the lock was granted has woken. For user locks it goes by what sessions say, unless the lock is theirs
// already and they have only not woken.
func (mariadbServer) waits(s *realSQL) map[int]bool {
	waiting := make(map[int]bool)
	report := s.ask("SHOW ENGINE INNODB STATUS")[0][2]
	for _, transaction := range strings.Split(report, "---TRANSACTION") {
		if found := innodbWaits.FindStringSubmatch(transaction); found != nil {
			waiting[numberOf(s.t, found[1])] = true
		}
	}
	for _, row := range s.ask("SHOW FULL PROCESSLIST") {
		id := numberOf(s.t, row[0])
		name := getLock.FindStringSubmatch(strings.ReplaceAll(row[7], "''", "'"))
		if row[6] == "'User lock'" && name != nil {
			holder := s.ask("SELECT IS_USED_LOCK(" + name[1] + ")")[0][0]
			waiting[id] = holder != "NULL" && holder != row[0]
		}
	}
	return waiting
}

func (mariadbServer) sessions(s *realSQL) map[int]bool {
	return s.numbers("SELECT id FROM information_schema.processlist")
}

// startSQL starts a real server with the tables that stories are about, or skips the test where none is installed.
func startSQL[S sqlServer](t *testing.T, start func(*real.Host) (S, error)) S {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := start(h)
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	wire, err := server.dial()
	require.NoError(t, err)
	for _, statement := range server.makes() {
		a, err := wire.query(statement)
		require.NoError(t, err)
		require.Empty(t, a.code, "%s: %s", statement, a.text)
	}
	require.NoError(t, wire.socket().Close())
	return server
}

func startPostgres(t *testing.T) postgresServer {
	return startSQL(t, func(h *real.Host) (postgresServer, error) {
		p, err := h.Postgres("postgres", "deadlock_timeout=20",
			"tcp_keepalives_idle=1", "tcp_keepalives_interval=1", "tcp_keepalives_count=2")
		return postgresServer{p}, err
	})
}

func startMariaDB(t *testing.T) mariadbServer {
	return startSQL(t, func(h *real.Host) (mariadbServer, error) {
		m, err := h.MariaDB("mariadb", "--tcp-keepalive-time=1", "--tcp-keepalive-interval=1", "--tcp-keepalive-probes=2")
		return mariadbServer{m}, err
	})
}
