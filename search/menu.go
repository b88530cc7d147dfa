package search

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// Menu says what [Generate] may put into a scenario: a lock, its deployment, what clients do, and which faults may
// befall whom, how many and how long. A zero field stands for the default that its comment names.
type Menu struct {
	Lock string // a name of the catalogue of package locks

	Masters     []int           // numbers of servers to choose from; 1
	Persistence []string        // what their disks may be told; "none"
	Disk        []string        // whether their disks may lie; "honest"
	TTLs        []time.Duration // lives of a lease to choose from; 10 s and 1 s

	Styles    []history.Style   // in which each scenario is to be played; careless
	Fencing   []history.Fencing // likewise; unfenced
	Registers int               // at most; 1
	Clients   int               // at most, and two at least; 3
	Tasks     int               // at most, of each client; 1
	Sections  int               // at most, of each task; 2
	Waits     bool              // an Acquire may give up
	Timeouts  []int64           // how long a call to a server may take: 10 is a tenth of the lease, 0 the lock's default
	Uneven    bool              // clients may be near to some servers and far from others

	Faults  []Kind // that may befall clients, servers, and what is between them; each scenario draws a part of them
	Storage []Kind // those of them that may befall storage and the links to it, too
	Most    int    // faults in one scenario; 3

	// Within bounds, in percent of the lease, what the work of one section and all faults of a scenario may take
	// together, so that no section can outlast its lease; 0: they may take any time. Each fault counts with the
	// longest time by which it can hold somebody up, a cut twice (see generator.spend).
	Within int64
	// Renewed says that the lock prolongs its lease: work does not count, and may be longer than the lease.
	Renewed bool
	// Drift is how much faster or slower than true time a clock may run, in parts per million.
	Drift int64
	// Progress is how many leases somebody may wait before somebody acquires; 0: progress is not judged.
	Progress int64
	_        struct{}
}

// Kind is a kind of fault as a generator draws it.
type Kind uint8

// The kinds.
const (
	ClientCrash Kind = iota // a client's process or machine dies, and may come back
	ClientPause             // a client's code stands still
	ClientClock             // a client's wall clock jumps in either direction
	ServerCrash             // a server's process dies and comes back: what it wrote to its file survives
	PowerLoss               // a server's machine dies and comes back: what its disk really had survives
	ServerPause             // a server's code stands still
	ServerAhead             // a server's wall clock jumps ahead: its keys end too early
	ServerBack              // a server's wall clock jumps back for good: its keys live too long
	Drift                   // clocks run too fast or too slowly, within Menu.Drift
	Cut                     // packets between a client and servers vanish for a while
	Stall                   // what is sent between a client and servers waits for a while
	Delay                   // one message is late
	Break                   // a connection is closed or reset, perhaps with what is under way on it
	Error                   // a request is answered with an error instead of being executed
	SameRandom              // two clients draw the same random numbers, as forked twins do
	kindCount
)

var kindNames = [kindCount]string{
	"client-crash", "client-pause", "client-clock", "server-crash", "power-loss", "server-pause", "server-ahead",
	"server-back", "drift", "cut", "stall", "delay", "break", "error", "same-random",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// Kinds lists all kinds of faults but those that are named.
func Kinds(but ...Kind) []Kind {
	var list []Kind
	for k := range kindCount {
		if !slices.Contains(but, k) {
			list = append(list, k)
		}
	}
	return list
}

func orDefault[T any](list []T, fallback ...T) []T {
	if len(list) == 0 {
		return fallback
	}
	return list
}

func (m Menu) withDefaults() Menu {
	m.Masters = orDefault(m.Masters, 1)
	m.Persistence = orDefault(m.Persistence, "none")
	m.Disk = orDefault(m.Disk, "honest")
	m.TTLs = orDefault(m.TTLs, 10*time.Second, time.Second)
	m.Styles = orDefault(m.Styles, history.Careless)
	m.Fencing = orDefault(m.Fencing, history.Unfenced)
	m.Timeouts = orDefault(m.Timeouts, 0)
	for _, n := range []struct {
		field    *int
		fallback int
	}{{&m.Registers, 1}, {&m.Clients, 3}, {&m.Tasks, 1}, {&m.Sections, 2}, {&m.Most, 3}} {
		if *n.field == 0 {
			*n.field = n.fallback
		}
	}
	return m
}
