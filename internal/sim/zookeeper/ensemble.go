// Package zookeeper simulates a ZooKeeper ensemble: servers that are processes with clocks of their own, which elect a
// leader, replicate its transactions, and serve clients from their own applied state. Call [New] with the engine; a
// client process makes a [Handle], which keeps its session as one of the common client libraries does, or dials one of
// [Ensemble.Servers] itself and sends a [Request] for Connect first.
//
// The package simulates the behaviour that can change which client believes to hold a lock: sessions that only the
// leader tracks, in ticks; followers that answer pings and reads while they are cut off; order per session; one-shot
// watches; a log that survives. It leaves out quotas, observers, snapshots on the disk, and servers that close the
// connection of a client that is silent for its whole session and up to ten seconds more (NIOServerCnxnFactory): by
// then its session has expired, or the server has lost its leader, and either has closed the connection. Features that
// only external clients use, such as access control and nodes' times, are included. Sources are the classes of
// ZooKeeper 3.8 and 3.9, named where they are followed.
package zookeeper

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
)

// Config configures an ensemble. Zero values are those of zoo_sample.cfg.
type Config struct {
	Servers   int           // an odd number; 3 if 0
	Names     string        // of the nodes, to which the server's number is appended; "zk-" if empty
	Leader    int           // the leader when the run begins; the last if 0, which wins a vote among equals
	Tick      time.Duration // 2 s if 0
	InitLimit int           // in ticks: how long a new epoch may take to begin; 10 if 0
	SyncLimit int           // in ticks: how long leader and follower tolerate silence; 5 if 0
	LazyDisk  bool          // forceSync=no: a host's crash loses the writes of the last half minute
	Own       bool          // trees have the servers' own nodes, below /zookeeper
	Observer  Observer      // may be nil
	_         struct{}
}

// Observer sees the ground truth about an ensemble, which no client can see.
type Observer interface {
	// Committed is called once for every transaction, when the leader knows that a majority has it and before any
	// server applies it.
	Committed(s *Server, txn *Txn)
	// Expired is called when a leader decides that a session has expired. The session ends when that is committed;
	// the decision of a leader that does not know that it was deposed has no effect.
	Expired(s *Server, id SessionID)
	// Answered is called when a server answers a client's read from its applied state.
	Answered(s *Server, a *Response)
	// Elected is called when a server has become the leader. Committed transactions that its tree lacks are lost.
	Elected(s *Server)
}

// Ensemble is a set of servers that know each other.
type Ensemble struct {
	Servers []*Server // by id less one

	config   Config
	reported Zxid // the last transaction that the observer knows; less if disks have lost it
	favoured int  // who wins the next vote among equals; 0: whose id is the largest
}

// New adds an ensemble to an engine. Its leader has been elected, and its servers serve clients.
func New(e *sim.Engine, c Config) *Ensemble {
	z := &Ensemble{config: c.withDefaults()}
	var sweep int64 // when the leader looks for containers
	for i := range z.config.Servers {
		s := &Server{ID: i + 1, config: &z.config, ensemble: z, tree: z.config.newTree()}
		s.forgetClients()
		name := fmt.Sprintf("%s%d", z.config.Names, s.ID)
		s.node = e.AddServer(name, s)
		r := e.Rand("zookeeper", name)
		s.phase = r.Int64N(int64(z.config.Tick))
		if s.ID == z.config.Leader {
			sweep = r.Int64N(int64(sweepInterval))
		}
		z.Servers = append(z.Servers, s)
	}
	z.begin(sweep)
	return z
}

func (c Config) withDefaults() Config {
	if c.Servers == 0 {
		c.Servers = 3
	}
	if c.Names == "" {
		c.Names = "zk-"
	}
	if c.Leader == 0 {
		c.Leader = c.Servers
	}
	if c.Tick == 0 {
		c.Tick = 2 * time.Second
	}
	if c.InitLimit == 0 {
		c.InitLimit = 10
	}
	if c.SyncLimit == 0 {
		c.SyncLimit = 5
	}
	return c
}

// begin puts the ensemble into the state after its first election. The followers' connections are opened now, and
// serve clients at once: what they forward follows their introduction.
func (z *Ensemble) begin(sweep int64) {
	s := z.Servers[z.config.Leader-1]
	s.disk.accepted, s.disk.epoch = 1, 1
	l := s.newLeader()
	l.chosen, l.self.told, l.self.uptodate, l.active = true, true, true, true
	l.pending = z.config.newTree()
	l.start()
	// The reign began some time ago: where in its beat the run begins is as random as the clock's phase.
	l.beat.Arm(false, s.node.Monotonic()+s.phase%(int64(z.config.Tick)/2)+1)
	l.sweep.Arm(false, s.node.Monotonic()+sweep)
	for _, f := range z.Servers {
		if f == s {
			continue
		}
		f.disk.accepted, f.disk.epoch = 1, 1
		f.follow(s.ID).Ring()
		f.serving = true
	}
}

func (c *Config) newTree() *Tree {
	t := NewTree()
	if c.Own {
		t.keepOwn()
	}
	return t
}

func (z *Ensemble) majority() int { return len(z.Servers)/2 + 1 }

// Leader returns the server that leads: the one with the latest epoch if an earlier leader has not noticed that it
// was replaced; nil if there is none.
func (z *Ensemble) Leader() *Server {
	var found *Server
	for _, s := range z.Servers {
		if s.lead != nil && s.lead.active && (found == nil || s.lead.epoch > found.lead.epoch) {
			found = s
		}
	}
	return found
}

// committed tells the observer what a leader has committed. One that has been deposed without knowing it may commit
// late what its successor has committed before.
func (z *Ensemble) committed(s *Server) {
	if z.config.Observer == nil {
		return
	}
	log := s.disk.log[:s.lead.commits]
	for i := s.disk.upTo(z.reported); i < len(log); i++ {
		if log[i].Zxid > z.reported {
			z.reported = log[i].Zxid
			z.config.Observer.Committed(s, log[i])
		}
	}
}
