// Package sentinel simulates Redis Sentinels: processes with clocks of their own that watch a master and its
// replicas, agree that the master is down, elect a leader among themselves, and have it promote a replica. Call
// [Deploy] with the engine; clients ask a Sentinel for the master as they would ask Redis, with a request SENTINEL
// get-master-addr-by-name, and subscribe to +switch-master.
//
// All of it follows sentinel.c of Redis 7, whose functions are named where they are followed. Features that cannot
// change which server a process considers the master are left out: several masters, scripts, the discovery of
// Sentinels, and addresses, in place of which nodes have names.
package sentinel

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// Config configures a deployment of Sentinels. Zero values are those of sentinel.conf.
type Config struct {
	Master   *sim.Node
	Replicas []*sim.Node

	Sentinels       int           // how many watch the master; 3 if 0
	Names           string        // prefix of their nodes' names, before a number; "sentinel-" if empty
	Quorum          int           // how many must consider the master down; a majority if 0
	DownAfter       time.Duration // how long a server is silent before it is considered down; 30 s if 0
	FailoverTimeout time.Duration // 3 min if 0
	ParallelSyncs   int           // how many replicas are given their new master at a time; 1 if 0
	// Store returns a store for the i-th Sentinel, which is fresh or has been Reset; a new one if nil.
	Store func(i int) *redis.Store
	_     struct{}
}

func (c Config) withDefaults() Config {
	if c.Sentinels == 0 {
		c.Sentinels = 3
	}
	if c.Names == "" {
		c.Names = "sentinel-"
	}
	if c.Quorum == 0 {
		c.Quorum = c.Sentinels/2 + 1
	}
	if c.DownAfter == 0 {
		c.DownAfter = 30 * time.Second
	}
	if c.FailoverTimeout == 0 {
		c.FailoverTimeout = 3 * time.Minute
	}
	if c.ParallelSyncs == 0 {
		c.ParallelSyncs = 1
	}
	return c
}

// Periods of sentinel.c.
const (
	pingPeriod      = time.Second
	infoPeriod      = 10 * time.Second
	infoPeriodWatch = time.Second // of replicas whose master is down, or that have lost it
	helloPeriod     = 2 * time.Second
	askPeriod       = time.Second
)

// MasterName is the master's name at the Sentinels, whichever server it is.
const MasterName = "mymaster"

// port is what clients read where a server's port stands. The name of the node says everything.
const port = "6379"

// ownPort is that of a Sentinel.
const ownPort = "26379"

// Sentinel is one Sentinel. It is made by [Deploy].
//
// Its moments are readings of its wall clock since 1970, which may step (mstime); the zero is long ago.
type Sentinel struct {
	config *Config
	node   *sim.Node
	server *redis.Server // which has the connections of clients
	file   file
	dice   *sim.Rand
	tick   *sim.Timer
	tilt   tilt

	master   *server
	replicas []*server
	peers    []*peer
	ballot   string // for whom it voted in file.voted; "" if it is not known any more
	failover failover
}

// file is the configuration file, which a Sentinel rewrites whenever something in it changes (sentinelFlushConfig).
type file struct {
	epoch       uint64 // the latest that it knows of
	configEpoch uint64 // in which the master was made master
	voted       uint64 // the latest in which it has voted
	master      *sim.Node
	replicas    []*sim.Node
}

// Deploy adds Sentinels to an engine, which know each other, the master and its replicas. They have been watching for
// some time: the phase of each one's periods at the start of the run is random.
func Deploy(e *sim.Engine, c Config) []*Sentinel {
	c = c.withDefaults()
	all := make([]*Sentinel, c.Sentinels)
	for i := range all {
		all[i] = &Sentinel{config: &c, file: file{master: c.Master, replicas: slices.Clone(c.Replicas)}}
		all[i].node = e.AddServer(fmt.Sprintf("%s%d", c.Names, i+1), all[i])
		all[i].serve(i)
		all[i].dice = all[i].node.Rand("sentinel")
		all[i].tick = all[i].node.NewTimer(all[i])
	}
	for _, s := range all {
		for _, other := range all {
			if other != s {
				s.peers = append(s.peers, s.newPeer(other.node))
			}
		}
		s.start()
		s.scatter()
	}
	return all
}

// serve makes the server that clients' connections are those of.
func (s *Sentinel) serve(i int) {
	store := redis.NewStore
	if s.config.Store != nil {
		store = func() *redis.Store { return s.config.Store(i) }
	}
	s.server = redis.NewServer(store(), redis.Config{Gate: s.gate, Mode: "sentinel"})
	s.server.Attach(s.node)
}

// Node returns the node that the Sentinel runs on.
func (s *Sentinel) Node() *sim.Node { return s.node }

// Master returns the server that it announces to clients as the master.
func (s *Sentinel) Master() *sim.Node {
	if f := &s.failover; f.state >= reconfReplicas { // sentinelGetCurrentMasterAddress
		return f.promoted.node
	}
	return s.master.node
}

// Epoch returns the latest epoch that it knows of.
func (s *Sentinel) Epoch() uint64 { return s.file.epoch }

// Tilted reports whether it is in TILT mode: it does not act because its clock has jumped or its process was
// delayed.
func (s *Sentinel) Tilted() bool { return s.tilt.on }

// now reads the wall clock.
func (s *Sentinel) now() time.Duration { return time.Duration(s.node.Wall()) }

// start begins with what the file says.
func (s *Sentinel) start() {
	now := s.now()
	s.tilt = tilt{last: now}
	s.ballot = ""
	for i, p := range s.peers {
		s.peers[i] = s.newPeer(p.node)
	}
	s.monitor(s.file.master, s.file.replicas)
	s.armTick()
}

// monitor begins to watch a master and its replicas from scratch.
func (s *Sentinel) monitor(master *sim.Node, replicas []*sim.Node) {
	s.file.master, s.file.replicas = master, replicas
	s.failover = failover{}
	s.master = s.newServer(master, redis.Master)
	s.replicas = nil
	for _, n := range replicas {
		s.replicas = append(s.replicas, s.newServer(n, redis.Replica))
	}
}

// scatter makes it look as if the Sentinel had been watching for long.
func (s *Sentinel) scatter() {
	ago := func(d time.Duration) time.Duration { return s.now() - time.Duration(s.dice.Int64N(int64(d))) }
	s.each(func(w *watched) {
		w.dialled, w.waiting, w.ponged, w.published = longAgo, 0, ago(pingPeriod), ago(helloPeriod)
	})
	for _, m := range s.servers() {
		m.informed, m.roleSince, m.masterSince = ago(infoPeriod), 0, 0
		if m != s.master {
			m.info.Master, m.info.LinkUp = s.master.node.Name, true
		}
	}
}

// Crash discards all state that is not in the file. As soon as clients are told of a promoted replica, the file
// names it, and the old master in its place (rewriteConfigSentinelOption).
func (s *Sentinel) Crash(host bool, keep string) {
	s.server.Crash(host, keep)
	promoted := s.Master()
	for i, n := range s.file.replicas {
		if n == promoted {
			s.file.replicas[i] = s.master.node
		}
	}
	s.file.master = promoted
}

// Restart starts the Sentinel again from its configuration file.
func (s *Sentinel) Restart() {
	s.server.Restart()
	s.start()
}

// servers returns the master and the replicas.
func (s *Sentinel) servers() []*server { return append([]*server{s.master}, s.replicas...) }

// each visits all that is watched: the master, the replicas, the other Sentinels.
func (s *Sentinel) each(visit func(*watched)) {
	for _, m := range s.servers() {
		visit(&m.watched)
	}
	for _, p := range s.peers {
		visit(&p.watched)
	}
}
