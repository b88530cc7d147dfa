package zookeeper

import "time"

// Flavour is how a client library keeps a session: what it does on its own, and what it tells the application. All
// libraries consider a connection dead when nothing has arrived for two thirds of the session's time-out.
type Flavour struct {
	Name string // as scenarios name it
	// Beats says that the library sends a ping every third of the time-out, regardless of other requests; else it
	// sends one only if it has sent nothing else for that long.
	Beats bool
	// Dial is how long the opening of a connection may take; 0 gives every server an equal share of the time-out.
	Dial time.Duration
	// Patience is how long a server may take to answer the connect request, in thirds of the time-out; 0: like Dial.
	Patience int
	// Scatter is the longest random delay before the library opens another connection.
	Scatter time.Duration
	// Keeps says that unsent requests wait until all servers have been tried in vain; else they fail with every
	// attempt.
	Keeps bool
	// GivesUp says that the library considers the session expired when nothing has arrived for four thirds of
	// its time-out (ZOOKEEPER-4508).
	GivesUp bool
	// LostAfter is how long after the loss of the connection the library considers the session expired, by the wall
	// clock, in percent of its time-out; 0: never.
	LostAfter int64
	// Expired says what the library does when the session has expired.
	Expired AfterExpiry
	_       struct{}
}

// AfterExpiry says what becomes of a handle whose session has expired.
type AfterExpiry uint8

// The behaviours of the client libraries.
const (
	Dies     AfterExpiry = iota // every request fails from now on
	Replaced                    // another handle takes its place, and begins with the first server
	Renewed                     // it opens a new session on its own
)

// roundPause is how long all of them wait when they have tried every server in vain (HostProvider.next, Conn.connect).
const roundPause = time.Second

// Java is the client of ZooKeeper 3.9.3 and later (ClientCnxn.SendThread). A ping can be up to a second earlier there,
// if something arrives in that second.
func Java() Flavour {
	return Flavour{Name: "java", Scatter: time.Second, GivesUp: true}
}

// Curator is Apache Curator's client (ConnectionStateManager, ConnectionState): Java's, supervised by a timer of its
// own.
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
