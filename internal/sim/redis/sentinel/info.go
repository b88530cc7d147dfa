package sentinel

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// server is the master, or what is to be a replica of it.
type server struct {
	watched
	info        redis.Info    // the last that it told
	informed    time.Duration // when it did; 0: never
	roleSince   time.Duration // since when it has told this role
	masterSince time.Duration // since when it has told this master

	promoted bool          // it has been selected to become master
	reconf   reconf        // how far it has been given the new master
	reconfAt time.Duration // when it was told
}

// newServer begins to watch a server. It is taken to play its part until it says otherwise.
func (s *Sentinel) newServer(n *sim.Node, role redis.Role) *server {
	now := s.now()
	m := &server{watched: s.watch(n, true), info: redis.Info{Role: role}, roleSince: now, masterSince: now}
	m.take = func(r *redis.Response) { s.learn(m, r.Reply) }
	return m
}

// infoIsDue reports whether the server should be asked for INFO again. Replicas are watched closely while their
// master is down, or they have lost it.
func (m *server) infoIsDue() bool {
	s, period := m.s, infoPeriod
	if m != s.master && (s.failover.objectivelyDown || s.failover.state != idle || m.info.LinkDown != 0) {
		period = infoPeriodWatch
	}
	return m.informed == 0 || s.now()-m.informed > period
}

// denies reports whether the master has said for long that it is a replica.
func (m *server) denies() bool {
	return m.info.Role == redis.Replica && m.s.now()-m.roleSince > m.s.config.DownAfter+2*infoPeriod
}

// learn takes what a server tells of itself, and acts on it (sentinelRefreshInstanceInfo).
func (s *Sentinel) learn(m *server, r redis.Reply) {
	if r.Type != redis.ReplyBulk {
		return // it is loading its dataset, or a fault has answered
	}
	info, err := redis.ParseInfo(r.Text)
	if err != nil {
		panic("sentinel: " + err.Error())
	}
	now, before := s.now(), m.info
	m.info, m.informed = info, now
	if m == s.master {
		s.discover(info)
	}
	if before.RunID != "" && info.RunID != before.RunID {
		s.event("+reboot", &m.watched)
	}
	if info.Role != before.Role {
		m.roleSince = now
	}
	if info.Role == redis.Replica && (before.Role != info.Role || before.Master != info.Master) {
		m.masterSince = now
	}
	if m != s.master && !s.tilt.on {
		s.correct(m)
	}
}

// discover begins to watch replicas that the master tells of.
func (s *Sentinel) discover(info redis.Info) {
	for _, told := range info.Replicas {
		if n := s.node.Peer(told.Node); n != nil && s.replica(n) == nil && n != s.master.node {
			s.file.replicas = append(s.file.replicas[:len(s.file.replicas):len(s.file.replicas)], n)
			s.replicas = append(s.replicas, s.newServer(n, redis.Replica))
			s.event("+slave", &s.replicas[len(s.replicas)-1].watched)
		}
	}
}

// replica returns what is known of a replica; nil if it is none.
func (s *Sentinel) replica(n *sim.Node) *server {
	for _, r := range s.replicas {
		if r.node == n {
			return r
		}
	}
	return nil
}

// masterLooksSane reports whether the master may be given replicas (sentinelMasterLooksSane).
func (s *Sentinel) masterLooksSane() bool {
	m := s.master
	return m.info.Role == redis.Master && !m.down && !s.failover.objectivelyDown && s.now()-m.informed < 2*infoPeriod
}

// correct sees to it that what is to be a replica is one, and of the right master. It waits for some time before it
// does: there may be news of a failover on their way that make the replica right and the Sentinel wrong. That is why
// a master of old that is back goes on as a master for so long: four hellos, and then until it is next asked for
// INFO.
func (s *Sentinel) correct(r *server) {
	now := s.now()
	if r.info.Role == redis.Master {
		const patience = 4 * helloPeriod
		switch {
		case r.promoted && s.failover.state == waitPromotion:
			s.promoted()
		case !r.promoted && s.masterLooksSane() && r.upFor(patience) && now-r.roleSince > patience:
			r.replicate(s.master.node)
		}
		return
	}
	patience := s.config.FailoverTimeout
	if r.info.Master != s.master.node.Name && s.masterLooksSane() && r.upFor(patience) && now-r.masterSince > patience {
		r.replicate(s.master.node)
	}
	r.noteReconf()
}

// replicate makes a server a replica of another, or a master if that is nil, for good, and has its clients find out
// (sentinelSendSlaveOf). Whether it worked, INFO will tell. It reports whether the commands could be sent.
func (m *server) replicate(master *sim.Node) bool {
	host, at := "NO", "ONE"
	if master != nil {
		host, at = master.Name, port
	}
	if !m.send("", "MULTI") {
		return false
	}
	m.send("", "SLAVEOF", host, at)
	m.send("", "CONFIG", "REWRITE")
	m.send("", "CLIENT", "KILL", "TYPE", "normal")
	m.send("", "CLIENT", "KILL", "TYPE", "pubsub")
	m.send("", "EXEC")
	return true
}
