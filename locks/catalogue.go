package locks

// Algorithm describes a lock of the catalogue: what it is called, how it is built, and what an observer must know
// to see who holds it.
type Algorithm struct {
	Name   string // as scenarios name it: "set-nx-lua"
	Title  string // one line for a list
	Source string // where the algorithm is from
	// Status says whether it can be recommended: published mistakes are in the catalogue to be shown, not to be used.
	Status Status
	// Servers is the kind of servers that it needs, as scenarios name it: "redis" if empty.
	Servers string
	// New returns the builder for these options; nil if there is a Program.
	New func(Options) Builder
	// Program is what clients run in place of a builder's lock: a program of somebody else's that brings its lock with it.
	Program Program
	// Authority says whose word makes a grant.
	Authority Authority
	// Key returns the key whose maker holds the lock at the authority; Options.Key if nil.
	Key func(Options) string
	// Keys returns the keys of a lock that takes several, most of which make a holder (MostKeys); nil: there is but one.
	Keys func(Options) []string
	// Check says what is wrong with options that the lock cannot work with; it takes any if nil.
	Check func(Options) error
	// Scripts are the Lua scripts it sends, so that a trace and a fault can name them.
	Scripts []Script
	// Deadline is the clock on which its leases state a deadline; NoClock if they state none.
	Deadline ClockKind
	// Token reports whether its leases carry a fencing token.
	Token bool
	// Identity says what a release identifies the holder by: "none", "constant", "value".
	Identity string
	// Lease reports whether a grant ends by itself.
	Lease bool
	// Renews reports whether it prolongs its leases by itself, and tells the holder if it cannot.
	Renews bool
	// Extends reports whether it prolongs its leases if [Options.Renew] says how often, and only then; it then tells the
	// holder if it cannot.
	Extends bool
	// Reference is the lock of the catalogue whose algorithm it implements, for [ReferenceOf]; "" if none is known.
	Reference string
	// Keeps reports whether a grant lasts until it is released if nothing goes wrong: the lock renews its lease, or keeps a
	// session alive. A lock that Renews does so too, and one that Extends while it is told to.
	Keeps bool
	// Guard reports whether its servers can hold the protected data too: its locks are Guards.
	Guard bool
	_     struct{}
}

// Authority says whose word makes a grant.
type Authority uint8

// The authorities.
const (
	NoAuthority Authority = iota // nobody declared one: what the service granted is not judged
	OneNode                      // whoever made the key on the server, or on one that takes itself for the master, holds
	Majority                     // whoever made the key on more than half of the servers holds
	Replicated                   // whoever made the key on the master, and on as many replicas as the lock asks for, holds
	MostKeys                     // whoever made more than half of the lock's several keys on the server holds
	Queue                        // whoever made the first of the entries in the queue under the key holds
)

// Catalogue returns all locks there are: those on one server from the first attempt to the right one, then Redlock and
// its variants.
func Catalogue() []Algorithm {
	return []Algorithm{
		getThenSet(),
		setnx(),
		setnxExpire(),
		setWithoutNX(),
		setNXExDel(),
		setNXGetDel(),
		jedisSample(),
		setNXLua(),
		setNXLuaReusedValue(),
		setNXLuaFenced(),
		setNXLuaWait(),
		setNXLuaWaitElsewhere(),
		watchdog(),
		reentrant(),
		redlock(),
		redlockNoDrift(),
		redlockNoCheck(),
		redlockQuorumProse(),
		redlockPy(),
		redlockParallel(),
		redlockParallelFixedDelay(),
		redlockCounterToken(),
		zkEphemeral(),
		zkSequential(),
		zkSequentialNoRecheck(),
		zkSequentialUnprotected(),
		zkSequentialNoSync(),
		zkSequentialNumberToken(),
		chubby(),
		etcd(),
		etcdNoRecheck(),
		consul(),
		memcachedAdd(),
		memcachedCAS(),
		mysqlGetLock(),
		mysqlGetLockInTransaction(),
		mysqlRow(),
		mysqlLeaseRow(),
		pgAdvisory(),
		pgAdvisoryXact(),
	}
}

// catalogue is made once: every scenario that is drawn and played looks its lock up.
var catalogue = Catalogue()

// Add makes another lock known to [Find], in the place of one of its name. It is to be called before anything is played.
func Add(a Algorithm) {
	for i := range catalogue {
		if catalogue[i].Name == a.Name {
			catalogue[i] = a
			return
		}
	}
	catalogue = append(catalogue, a)
}

// Find returns the lock of that name.
func Find(name string) (Algorithm, bool) {
	for i := range catalogue {
		if catalogue[i].Name == name {
			return catalogue[i], true
		}
	}
	return Algorithm{}, false
}
