// Package backend says what locksim has to know of a kind of servers before any of them runs: what it and its parts are
// called, which fields of a scenario mean something to it, what a deployment comes to, and what a lock on it needs. A
// folder below this one is one backend, and package all lists them.
package backend

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// Servers is the deployment of the lock's servers. Each kind has fields of its own; of those, zero stands for the kind's
// default.
type Servers struct {
	Kind        string        // a name of package all
	Masters     int           // Redis: servers that do not replicate each other; 1
	Replicas    int           // Redis: of each master
	Sentinels   int           // Redis: processes that watch the master and have a replica take its place
	Cluster     bool          // Redis: the masters are those of a Redis Cluster
	Version     string        // Redis: of the servers; "" is what the lock needs, or 7.0
	MinReplicas int           // Redis: how many replicas a master needs to accept writes
	MaxLag      time.Duration // Redis: how long such a replica may have been silent
	FullSync    time.Duration // Redis: how long a replica waits for its master's whole dataset
	DownAfter   time.Duration // Redis: how long a server is silent before Sentinel or the cluster takes it for down
	Failover    time.Duration // Redis: Sentinel's failover-timeout
	Nodes       int           // ZooKeeper: servers of the ensemble
	Leader      int           // ZooKeeper: which of them leads at first
	Tick        time.Duration // ZooKeeper
	SyncLimit   int           // ZooKeeper: in ticks
	KeepAlive   time.Duration // MySQL, PostgreSQL: how long a client may be silent before its connection is ended
	IdleTimeout time.Duration // MySQL, PostgreSQL: how long a connection may be idle
	Pool        int           // PostgreSQL: connections that a pooler in front of it lends to one transaction at a time
	Persistence string        // "none", "rdb", "lazy", "everysec" or "always"
	Staleness   time.Duration // object stores: how old what an eventually consistent read returns is
	Disk        string        // "honest", or "lies": it acknowledges what it has not kept
}

// Field is a field of a scenario that means something to some kinds of servers only: the name of its table and its own.
type Field string

// The fields that the code asks for by name. A backend lists all that it has in its Facts, these and others.
const (
	Masters     Field = "servers.masters"
	Replicas    Field = "servers.replicas"
	Leader      Field = "servers.leader"
	Tick        Field = "servers.tick"
	KeepAlive   Field = "servers.keep-alive"
	IdleTimeout Field = "servers.idle-timeout"
	Pool        Field = "servers.pool"
	Persistence Field = "servers.persistence"
	LockDelay   Field = "lock.lock-delay"
	Library     Field = "lock.library"
	Home        Field = "client.servers" // which of several servers a client connects to
	Promote     Field = "fault.promote"
	Redirect    Field = "fault.redirect" // which clients are told of a new master
	Evict       Field = "fault.evict"
	Snapshot    Field = "fault.snapshot"
	EndSession  Field = "fault.end-session"
)

// Hold is what a hold ends with; "" if it has a time to live of its own.
type Hold string

// What holds may end with.
const (
	BySession    Hold = "session"    // of a client, which sends something to keep it alive
	ByLease      Hold = "lease"      // the same, of a client that may have several
	ByConnection Hold = "connection" // of a client
)

// Facts is what is true of all deployments of a kind.
type Facts struct {
	Name  string // as scenarios have it
	Title string // what people call it
	Doc   string // what its nodes are
	Place string // on what a lock lives that one of them grants: "one Redis server"
	Token string // what grows from grant to grant and can serve as fencing token; "" if nothing does

	Node   string   // what its nodes are called, with a number behind
	Beside []string // what nodes are called that keep no data: they watch the others, or stand in front of them
	Entry  string   // what they keep of a lock that is held
	Holds  Hold     // what a hold ends with
	Role   string   // the part that one node of several plays; "" if there is none
	Leads  string   // what its documentation calls the node that plays it, if it is not the role's name
	Elects bool     // one node stands for several servers, which elect a leader among themselves
	Stands bool     // a server that is to be promoted asks the others for their votes, and may not get them
	Fields []Field  // of scenarios

	Monotonic bool // the servers never look at their wall clocks
	Scripts   bool // the servers run code of the lock
	Serves    bool // other programs can talk to the simulated servers: they speak a protocol of bytes
	Hangs     bool // a holder that never comes back may be drawn: its lease is there to end
	// Patience is how long servers may keep a lock for a client that they no longer hear of, in percent of its time to live.
	Patience int64

	Answers  bool          // a request for a lock that is held is answered when its turn comes, so that a client need not ask again
	Counts   bool          // a session or connection that takes a lock again has to give it back as often
	Delays   bool          // a lock is kept from others for its lock-delay even if its client ends the session that had it
	Jeopardy bool          // a client is told that its session may end before it can have ended
	Silence  time.Duration // of servers, after which a client library takes a lease for lost that it renews; 0: it has no such limit
	Early    time.Duration // by which an entry may end before its time to live is over, since that is counted in such units

	// What servers demand of a lease's time to live that refuse others; 0: they refuse none.
	MinTTL, MaxTTL time.Duration

	TTLs    []time.Duration // lives of a lease: the usual one, and the shortest that servers grant or people use
	Says    []string        // what clients and servers tell each other besides what locks acquire and release with
	Among   []string        // what servers tell each other
	Reads   []string        // requests that change nothing, whatever they are sent for
	Refuses []string        // errors that a server may answer with
	Errors  []string        // names of all errors that a fault may have it answer with; nil: it may be any text
}

// Has reports whether a field of a scenario means something to servers of the kind.
func (f *Facts) Has(field Field) bool { return slices.Contains(f.Fields, field) }

// InSession reports whether a lock lives as long as a session that a client library keeps alive.
func (f *Facts) InSession() bool { return f.Holds == BySession || f.Holds == ByLease }

// Leased reports whether a client may have several leases, with which its keys end.
func (f *Facts) Leased() bool { return f.Holds == ByLease }

// Shape is what a deployment comes to.
type Shape struct {
	Keepers    int   // how many nodes keep the lock's data
	Beside     []int // how many other nodes there are of each of Facts.Beside
	Voters     int   // how many servers there are that know nothing of each other, a majority of which a lock may ask
	Masters    int   // how many keepers, the first, have the kind's role when a run begins; 0 if it is not known who has
	Peers      bool  // keepers have connections to each other
	Fronted    bool  // clients talk to the nodes beside the keepers
	Replicates bool  // keepers copy what one of them has acknowledged
	Watched    bool  // another keeper takes the place of a master that is down, without being told
	Volatile   bool  // what a server has is gone however it goes down
	Snapshots  bool  // servers can be told to save their data
}

// Count returns how many nodes there are.
func (s *Shape) Count() int {
	n := s.Keepers
	for _, beside := range s.Beside {
		n += beside
	}
	return n
}

// Names returns the names of a deployment's nodes: those that keep data, and then the others.
func (f *Facts) Names(s Shape) []string {
	names := make([]string, 0, s.Count())
	add := func(prefix string, n int) {
		for i := range n {
			names = append(names, prefix+"-"+strconv.Itoa(i+1))
		}
	}
	add(f.Node, s.Keepers)
	for i, n := range s.Beside {
		add(f.Beside[i], n)
	}
	return names
}

// Report takes a mistake in a deployment: the field, what is allowed there, and what is wrong.
type Report func(field, allowed, format string, args ...any)

// Remains is what faults that never heal have left of a deployment for one client.
type Remains interface {
	Lives(server string) bool   // it has neither crashed nor stopped for good
	Reaches(server string) bool // it lives, and nothing holds up for good what the client and the server send each other
	Mine() []string             // the servers that the client may connect to; nil: all
	Promotes() bool             // a fault has made another server the master
}

// Kind is a backend. Its methods know the fields of a deployment that are its own.
type Kind interface {
	Facts() *Facts
	Shape(*Servers) Shape
	// Check reports what is wrong with a deployment: it makes no sense, or is not simulated. The lock asks so many replicas
	// for an acknowledgement of a grant.
	Check(s *Servers, acks int, report Report)
	// Refuses says why a lock that is granted so cannot be played on a deployment, with the field at fault; "" if it can.
	Refuses(s *Servers, by locks.Authority, lock string, acks int) (field, problem string)
	// Usual returns the deployment that a lock which is granted so usually has.
	Usual(by locks.Authority) Servers
	// Tidy brings fields into line with others that have been changed.
	Tidy(*Servers)
	// Lost says what a client has lost for good of what every lock needs; "" if nothing.
	Lost(*Servers, Remains) string
	// Words says which servers there are.
	Words(*Servers) string
}

// One is a kind of which one server is deployed, or one node that stands for several. Others embed it, and have methods of
// their own for what they do otherwise.
type One struct{ Is Facts }

// Facts returns what is true of all deployments.
func (k *One) Facts() *Facts { return &k.Is }

// Shape is that of one server, of which nothing is lost but what Volatile kinds lose.
func (k *One) Shape(*Servers) Shape {
	return Shape{Keepers: 1, Voters: 1, Snapshots: k.Is.Has(Snapshot)}
}

// Check has nothing to report.
func (*One) Check(*Servers, int, Report) {}

// Refuses refuses nothing.
func (*One) Refuses(*Servers, locks.Authority, string, int) (field, problem string) { return "", "" }

// Usual is one server.
func (k *One) Usual(locks.Authority) Servers {
	return Servers{Kind: k.Is.Name, Masters: 1, Disk: "honest"}
}

// Tidy changes nothing.
func (*One) Tidy(*Servers) {}

// Lost says that the server is gone, or cannot be reached.
func (k *One) Lost(_ *Servers, left Remains) string {
	server := k.Is.Node + "-1"
	switch {
	case !left.Lives(server):
		return "the only server is gone"
	case !left.Reaches(server):
		return "it cannot reach the only server"
	default:
		return ""
	}
}

// Words is the kind's title.
func (k *One) Words(*Servers) string { return k.Is.Title }

// CanBeTold reports whether a command means something to servers that are deployed so.
func CanBeTold(command sim.ActionKind, f *Facts, s Shape) bool {
	switch command {
	case sim.Promote:
		return f.Has(Promote) && (f.Elects || s.Peers)
	case sim.Snapshot:
		return s.Snapshots
	default:
		return f.Has(Field("fault." + command.String()))
	}
}
