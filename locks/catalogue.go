package locks

import (
	"slices"
	"time"
)

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
	// Life is how long leases of a Program last that does not heed what it is told; 0: it does.
	Life time.Duration
	// Sentinel and Cluster report whether the client of a Program finds the master by itself, by asking Sentinels or by the
	// slots of a Redis Cluster. One that does not is given an address that leads to the master.
	Sentinel, Cluster bool
	// Connects reports whether a Program can open its connections before a run, for clients that begin with them.
	Connects bool
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
	// HeedsRenew reports whether [Options.Renew] means something to it: so often it renews its lease, or keeps its connection
	// from being idle. Of a lock with a Program, Renews and Extends say so.
	HeedsRenew bool
	// Reference is the lock of the catalogue whose algorithm it implements, for [ReferenceOf]; "" if none is known.
	Reference string
	// Keeps reports whether a grant lasts until it is released if nothing goes wrong: the lock renews its lease, or keeps a
	// session alive. A lock that Renews does so too, and one that Extends while it is told to.
	Keeps bool
	// Observed reports whether a client that waits counts the lease, by its own clock, from when it saw the record change.
	Observed bool
	// Places is for how many leases one that has died while it waited keeps its place before others; 0: it has none.
	Places int
	// Lingers reports whether a release leaves the lock to be free when its lease is over, as documented.
	Lingers bool
	// Version is the version of its servers from which on they have what it sends, as scenarios have it; "": any has.
	Version string
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

// catalogue lists all locks: those on one server from the first attempt to the correct one, then Redlock and its variants,
// then those on other servers. It is made once, since every run looks its lock up.
var catalogue = []Algorithm{
	getThenSet(),
	setnx(),
	setnxExpire(),
	setWithoutNX(),
	setNXExDel(),
	setNXGetDel(),
	jedisSample(),
	setNXLua(),
	setNXLuaReusedValue(),
	redisDelex(),
	valkeyDelifeq(),
	setNXLuaFenced(),
	setNXLuaWait(),
	setNXLuaWaitElsewhere(),
	watchdog(),
	reentrant(),
	redissonFenced(),
	redissonFencedGetToken(),
	redissonFair(),
	redissonMulti(),
	redissonMultiLease(),
	redlock(),
	redlockNoDrift(),
	redlockNoCheck(),
	redlockQuorumProse(),
	redlockPy(),
	redlockParallel(),
	redlockParallelFixedDelay(),
	redlockCounterToken(),
	redlockExtend(),
	zkEphemeral(),
	zkSequential(),
	zkSequentialNoRecheck(),
	zkSequentialUnprotected(),
	zkSequentialNoSync(),
	zkSequentialNumberToken(),
	curatorMutex(),
	chubby(),
	hazelcastFenced(),
	hazelcastUnsafe(),
	etcd(),
	etcdNoRecheck(),
	etcdSharedLease(),
	consul(),
	memcachedAdd(),
	memcachedCAS(),
	mysqlGetLock(),
	mysqlGetLockInTransaction(),
	mysqlRow(),
	mysqlLeaseRow(),
	shedlock(),
	shedlockDBTime(),
	shedlockPostgres(),
	pgAdvisory(),
	pgAdvisoryXact(),
	k8sLease(),
	k8sReleaseOnCancel(),
	dynamoDB(),
	dynamoDBEventual(),
	s3Lockfile(),
	s3Epoch(),
	s3Lease(),
	objsync(),
	gcs(),
	gcsGeneration(),
	azureBlobLease(),
	mongoUpsert(),
	mongoTTL(),
	mongoTTLW1(),
}

// Set is a set of locks, which scenarios name. The zero Set is the catalogue. A Set never changes: [Set.With] returns another.
type Set struct{ list []Algorithm }

// Catalogue returns the locks of this package.
func Catalogue() Set { return Set{} }

func (s Set) locks() []Algorithm {
	if s.list == nil {
		return catalogue
	}
	return s.list
}

// All returns the locks: the catalogue's in its order, then the others.
func (s Set) All() []Algorithm { return slices.Clone(s.locks()) }

// Find returns the lock of that name.
func (s Set) Find(name string) (Algorithm, bool) {
	for i := range s.locks() {
		if a := &s.locks()[i]; a.Name == name {
			return *a, true
		}
	}
	return Algorithm{}, false
}

// With returns the set with more locks. A lock takes the place of one of the same name.
func (s Set) With(more ...Algorithm) Set {
	list := s.All()
	for i := range more {
		named := func(a Algorithm) bool { return a.Name == more[i].Name }
		if at := slices.IndexFunc(list, named); at >= 0 {
			list[at] = more[i]
		} else {
			list = append(list, more[i])
		}
	}
	return Set{list}
}
