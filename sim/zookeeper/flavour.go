package zookeeper

import "time"

// Flavour is how a client library keeps a session: what it does on its own account, and what it tells the application.
// All of them take a connection for dead when two thirds of the session's time-out have brought nothing.
type Flavour struct {
	Name string // as scenarios name it
	// Beats says that a ping is sent at every third of the time-out, whatever else is sent; else when nothing else has
	// been sent for that long.
	Beats bool
	// Dial is how long the opening of a connection may take; 0 gives every server an equal share of the time-out.
	Dial time.Duration
	// Patience is how long a server may take to answer the connect request, in thirds of the time-out; 0: like Dial.
	Patience int
	// Scatter is the most that is waited at random before another connection is opened.
	Scatter time.Duration
	// Keeps says that requests which were not sent wait for a server until all have been tried in vain; else they fail
	// with every attempt.
	Keeps bool
	// GivesUp says that the session is taken for expired when four thirds of its time-out have brought nothing
	// (ZOOKEEPER-4508).
	GivesUp bool
	// LostAfter is when it is taken for expired after the loss of the connection, by the wall clock, in percent of its
	// time-out; 0: never.
	LostAfter int64
	// Expired is what follows when the session is over.
	Expired AfterExpiry
	_       struct{}
}

// AfterExpiry says what becomes of a handle whose session is over.
type AfterExpiry uint8

// The ways of the client libraries.
const (
	Dies     AfterExpiry = iota // every request fails from now on
	Replaced                    // another handle takes its place, and begins with the first server
	Renewed                     // it opens a new session without asking
)

// roundPause is how long all of them wait when they have tried every server in vain (HostProvider.next, Conn.connect).
const roundPause = time.Second

// Java is the client of ZooKeeper 3.9.3 and later (ClientCnxn.SendThread). A ping can be up to a second earlier there,
// if something arrives in that second.
func Java() Flavour {
	return Flavour{Name: "java", Scatter: time.Second, GivesUp: true}
}

// Curator is Apache Curator's client (ConnectionStateManager, ConnectionState): Java's, watched by a clock of its own.
func Curator() Flavour {
	f := Java()
	f.Name, f.LostAfter, f.Expired = "curator", 100, Replaced
	return f
}

// GoZooKeeper is github.com/go-zookeeper/zk 1.0.4 (conn.go).
func GoZooKeeper() Flavour {
	return Flavour{Name: "go-zookeeper", Beats: true, Dial: time.Second, Patience: 20, Keeps: true, Expired: Renewed}
}

// Flavours lists the libraries.
func Flavours() []Flavour { return []Flavour{Java(), Curator(), GoZooKeeper()} }

// FindFlavour returns the library of that name.
func FindFlavour(name string) (Flavour, bool) {
	for _, f := range Flavours() {
		if f.Name == name {
			return f, true
		}
	}
	return Flavour{}, false
}
