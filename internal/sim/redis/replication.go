package redis

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/sim"
)

// Replication, as in Redis's replication.c. A dataset has a history: a stream of units, each with its offset, under a
// name that the master has given it. A replica holds a prefix of its master's history, and knows where. A promoted
// replica goes on under a new name, but remembers the former one and how much of it is its own, so that the other
// replicas can go on with it, and the old master too if it has written nothing since.
//
// On the wire the replica opens the connection (does: send) and the master answers on it (does: reply): a trigger
// {node: redis-1, does: reply, what: SET, peer: redis-2} is the effect of a SET on its way to a replica.

// Role is a server's part in replication.
type Role uint8

// The roles.
const (
	Master Role = iota
	Replica
)

// String returns the name that ROLE and INFO use.
func (r Role) String() string { return [...]string{"master", "slave"}[r] }

// Role returns the role that the server believes to have. A server that is down keeps the role that it had.
func (s *Server) Role() Role {
	if s.upstream != nil {
		return Replica
	}
	return Master
}

// Offset returns how many units of its history the server holds.
func (s *Server) Offset() int64 { return s.offset }

// replication is a server's place in the history of a dataset, and those who follow it there.
type replication struct {
	history   string // its name
	offset    int64  // of the last unit that the server holds
	former    string // the name until the server was promoted; "" if there is none that anybody could go on with
	shared    int64  // offset of the last unit of the former history
	histories int    // how many have begun here

	backlog  *backlog  // nil as long as nobody has ever followed
	links    []*link   // those who follow, in the order of their coming. A changed list is a new one.
	upstream *upstream // whom the server follows; nil for a master

	cron       *sim.Timer
	crons      int   // how often it has rung
	good       int   // replicas fit to let the master accept writes, when last counted
	aloneSince int64 // wall clock in seconds: when the last replica left
}

// backlog is the latest part of the history.
type backlog struct {
	first int64 // offset of the first unit, or of the next if there is none
	units []*unit
}

// maxBacklog is how many units are kept, about what fits into repl-backlog-size, 1 MB; backlogTTL is after how many
// seconds without replicas a master gives them up (repl-backlog-ttl).
const (
	maxBacklog = 10_000
	backlogTTL = 3600
)

func (b *backlog) append(u *unit) {
	if len(b.units) == cap(b.units) && len(b.units) >= maxBacklog {
		old := len(b.units) - maxBacklog/2
		b.first += int64(old)
		b.units = slices.Delete(b.units, 0, old)
	}
	b.units = append(b.units, u)
}

func (b *backlog) unit(offset int64) *unit { return b.units[offset-b.first] }

// beginHistory gives the dataset a new name.
func (s *Server) beginHistory() {
	s.histories++
	s.history, s.former = s.node.Name+"#"+strconv.Itoa(s.histories), ""
}

// keepBacklog begins to remember the history.
func (s *Server) keepBacklog() {
	s.backlog = &backlog{first: s.offset + 1}
	s.startCron()
}

// propagate puts what a request has done, or nobody's, into the stream. It reports whether there was anything to put.
// Only a master writes history; replicas pass on what they receive, offsets and all.
func (s *Server) propagate(r *Request, changes []Change) bool {
	if s.backlog == nil || s.upstream != nil || len(changes)+len(s.Store.published) == 0 {
		return false
	}
	s.write(&unit{records: AppendRecords(nil, changes), messages: slices.Clone(s.Store.published), request: r})
	return true
}

// write appends to the history and sends it on.
func (s *Server) write(u *unit) {
	s.offset++
	u.offset = s.offset
	s.backlog.append(u)
	s.feedAll()
}

func (s *Server) feedAll() {
	for _, l := range s.links {
		s.feed(l)
	}
}

// feed sends a replica the units that it has not been sent. A unit may trigger a fault, and the fault may make the
// server write more: that follows in order.
func (s *Server) feed(l *link) {
	if l.feeding {
		return
	}
	l.feeding = true
	for l.online && l.sent < s.offset {
		l.sent++
		l.conn.Reply(s.backlog.unit(l.sent))
	}
	l.feeding = false
}

// unixTime is the wall clock in whole seconds, by which Redis measures who is late (server.unixtime).
func (s *Server) unixTime() int64 { return s.node.Wall() / int64(time.Second) }

// loseReplication is what a crash does to it. The role is the configuration's business, see Restart.
func (s *Server) loseReplication() {
	for _, l := range s.links {
		l.online = false
	}
	s.offset, s.former, s.backlog, s.links, s.good = 0, "", nil, nil, 0
	s.waiting, s.after, s.pause = nil, nil, pause{}
}

// replTimeout is for how many seconds master and replica bear each other's silence (repl-timeout).
const replTimeout = 60

type cronAlarm struct{ s *Server }

// startCron has the server look after its replication every second. At which point of the second is up to chance, as is
// when the process was started.
func (s *Server) startCron() {
	if s.cron == nil {
		s.cron = s.node.NewTimer(cronAlarm{s})
	}
	if !s.cron.Armed() {
		phase := s.node.Rand("cron").Int64N(int64(time.Second))
		s.cron.Arm(false, s.node.Monotonic()+phase+1)
	}
}

// Ring is replicationCron, as long as it is needed.
func (a cronAlarm) Ring() {
	s := a.s
	if s.upstream == nil && s.backlog == nil && s.config.MinReplicas == 0 {
		return
	}
	s.cron.Arm(false, s.cron.Reading()+int64(time.Second))
	s.crons++
	if s.upstream != nil {
		s.upstream.everySecond()
	}
	s.ping()
	s.dropSilent()
	s.forgetBacklog()
	s.countGood()
}
