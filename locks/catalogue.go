package locks

// Algorithm describes a lock of the catalogue: what it is called, how it is built, and what an observer must know
// to see who holds it.
type Algorithm struct {
	Name   string // as scenarios name it: "set-nx-lua"
	Title  string // one line for a list
	Source string // where the algorithm is from
	// New returns the builder for these options.
	New func(Options) Builder
	// Authority says whose word makes a grant.
	Authority Authority
	// Key returns the key whose maker holds the lock at the authority; Options.Key if nil.
	Key func(Options) string
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
	_     struct{}
}

// Authority says which servers' word makes a grant of a Redis lock, whose owner is whoever made the lock's key.
type Authority uint8

// The authorities.
const (
	NoAuthority Authority = iota // nobody declared one: what the service granted is not judged
	OneNode                      // the key on the first server
	Majority                     // the key on more than half of the servers
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
		watchdog(),
		redlock(),
		redlockNoDrift(),
		redlockNoCheck(),
		redlockQuorumProse(),
		redlockPy(),
		redlockParallel(),
		redlockParallelFixedDelay(),
	}
}

// Find returns the lock of that name.
func Find(name string) (Algorithm, bool) {
	for _, a := range Catalogue() {
		if a.Name == name {
			return a, true
		}
	}
	return Algorithm{}, false
}
