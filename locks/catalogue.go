package locks

// Algorithm describes a lock of the catalogue: its name, how it is built, and how an observer determines which
// client holds it.
type Algorithm struct {
	Name   string // its name in scenarios: "set-nx-lua"
	Title  string // one line for a list
	Source string // the algorithm's origin
	// Status says whether it can be recommended: faulty published locks are in the catalogue as examples, not for use.
	Status Status
	// Servers is the name of its backend in scenarios: "redis" if empty.
	Servers string
	// New returns the builder for these options; nil if there is a Program.
	New func(Options) Builder
	// Program is the guest program that clients run in place of a builder's lock: it contains its own lock.
	Program Program
	// Authority says which servers decide about a grant.
	Authority Authority
	// Key returns the key whose creator holds the lock at the authority; Options.Key if nil.
	Key func(Options) string
	// Keys returns the keys of a lock that takes several, a majority of which makes a holder (MostKeys); nil: one key.
	Keys func(Options) []string
	// Check returns an error for options with which the lock cannot work; nil: it accepts all options.
	Check func(Options) error
	// Scripts are the Lua scripts that it sends, so that traces and faults can name them.
	Scripts []Script
	// Deadline is the clock on which its leases state a deadline; NoClock if they state none.
	Deadline ClockKind
	// Token reports whether its leases carry a fencing token.
	Token bool
	// Identity says how a release identifies the holder: "none", "constant", "value".
	Identity string
	// Lease reports whether a grant ends by itself.
	Lease bool
	// Renews reports whether it renews its leases by itself, and tells the holder if it cannot.
	Renews bool
	// Extends reports whether it renews its leases if [Options.Renew] says how often, and only then; it then
	// tells the holder if it cannot.
	Extends bool
	// Reference is the lock of the catalogue whose algorithm it implements, for [ReferenceOf]; "" if none is known.
	Reference string
	// Keeps reports whether a grant lasts until it is released if nothing goes wrong: the lock renews its lease, or keeps a
	// session alive. A lock that Renews does so too, and one that Extends while it is told to.
	Keeps bool
	// Guard reports whether its servers can store the protected data too: its locks are Guards.
	Guard bool
	_     struct{}
}

// Authority says which servers decide about a grant.
type Authority uint8

// The authorities.
const (
	NoAuthority Authority = iota // none is declared: the service's grants are not judged
	OneNode                      // the holder made the key on the server, or on one that believes to be the master
	Majority                     // the holder made the key on more than half of the servers
	Replicated                   // the holder made the key on the master, and on as many replicas as the lock requires
	MostKeys                     // the holder made more than half of the lock's several keys on the server
	Queue                        // the holder made the first of the entries in the queue under the key
)

// Catalogue returns all locks: those on one server from the first attempt to the correct one, then Redlock and
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

// Add makes another lock known to [Find], and replaces one of the same name. It must be called before any run.
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
