package lease

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Op is an operation that a client requests, by the name that its service gives it.
type Op uint8

// The operations: etcd's as its gRPC methods are called, Consul's as its Go client's, Chubby's as the paper's, Hazelcast's as
// its client protocol's.
const (
	LeaseGrant Op = iota
	LeaseKeepAlive
	LeaseRevoke
	Txn
	Range
	Put
	DeleteRange
	Watch

	SessionCreate
	SessionRenew
	SessionDestroy
	KVAcquire
	KVRelease
	KVGet

	CreateSession
	KeepAlive
	EndSession
	Acquire
	TryAcquire
	Release
	CheckSequencer

	LeaseTimeToLive
	LeaseLeases
	Compact
	Lock
	Unlock
	Status
	Cancel

	CPCreateSession
	CPHeartbeat
	FencedLock
	FencedUnlock
	cpEnd    // of a session, at a member that follows
	cpExpire // of a wait, likewise
	opCount
)

var opNames = [opCount]string{
	"LeaseGrant", "LeaseKeepAlive", "LeaseRevoke", "Txn", "Range", "Put", "DeleteRange", "Watch",
	"Session.Create", "Session.Renew", "Session.Destroy", "KV.Acquire", "KV.Release", "KV.Get",
	"CreateSession", "KeepAlive", "EndSession", "Acquire", "TryAcquire", "Release", "CheckSequencer",
	"LeaseTimeToLive", "LeaseLeases", "Compact", "Lock", "Unlock", "Status", "Cancel",
	"createSession", "heartbeatSession", "lock", "unlock", "expireSession", "expireWait",
}

// String returns the name that its service gives it.
func (o Op) String() string { return opNames[o] }

// asks reports whether the answer is a yes or a no.
func (o Op) asks() bool {
	switch o {
	case Txn, DeleteRange, KVAcquire, KVRelease, Acquire, TryAcquire, Release, CheckSequencer, FencedLock:
		return true
	default:
		return false
	}
}

// counter is what the number of a store's state is called: Consul's index, etcd's revision.
func (o Op) counter() string {
	if SessionCreate <= o && o <= KVGet {
		return "index"
	}
	return "revision"
}

// SessionID identifies a session or a lease. It is never reused.
type SessionID uint64

// String names the session.
func (id SessionID) String() string { return fmt.Sprintf("session-%d", uint64(id)) }

// Order says which of several keys a Range returns.
type Order uint8

// The orders.
const (
	All          Order = iota // of them, by creation
	FirstCreated              // the oldest (WithFirstCreate)
	LastCreated               // the youngest (WithLastCreate)
)

// Compare is a condition of a Txn: that a key was created at a revision; 0 if it is not there.
type Compare struct {
	Key    string
	Create int64
}

// Request is what a client sends. Each operation uses the fields that name it.
type Request struct {
	sim.Origin
	Op      Op
	Purpose string    // the lock's purpose: "acquire", "release"; "" unknown
	Session SessionID // not for Range, DeleteRange, Watch, KVGet, CheckSequencer; Put: 0 for a key without a session
	Key     string
	Value   string // Put, KVAcquire, KVRelease, Acquire, TryAcquire; FencedLock, FencedUnlock: the thread
	Once    string // FencedLock, FencedUnlock: names the call; a repeated request has its name
	Flags   uint64 // KVAcquire, KVRelease: what its clients note with a key

	TTL       time.Duration // LeaseGrant, SessionCreate, CreateSession: 0 for the service's default or minimum
	LockDelay time.Duration // SessionCreate, CreateSession: 0 for the service's default, negative for none
	Delete    bool          // SessionCreate: the keys end with the session (behavior "delete")

	If         []Compare // Txn
	Then, Else []Request // Txn

	Prefix    bool  // Range: all keys that begin with Key
	Order     Order // Range
	MaxCreate int64 // Range: only keys that were created at or before this revision; 0: all
	Revision  int64 // Watch: the first revision to report; 0: the next

	Index int64         // KVGet: wait for a later one; 0: do not wait. CheckSequencer: the sequencer's generation. By gRPC: its CallNumber
	Wait  time.Duration // KVGet: how long; 0 for the service's default. FencedLock: 0 not at all, negative until it is granted
	Epoch int           // Chubby: the client's, as of its last answer

	Etcd *Etcd3 // a request in etcd's whole API; nil: one of its mutex, or of another service
}

// What returns the operation's name and its purpose.
func (r *Request) What() (what, alt string) { return r.Op.String(), r.Purpose }

// Sum digests the request.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	r.digest(&d)
	return d.Sum()
}

func (r *Request) digest(d *trace.Digest) {
	d.Uint64(uint64(r.Op) | bit(r.Delete)<<8 | bit(r.Prefix)<<9 | uint64(r.Order)<<10 | uint64(uint32(r.Epoch))<<32)
	d.Uint64(uint64(r.Session))
	d.String(r.Key)
	d.String(r.Value)
	if r.Flags != 0 { // clients with the real library have them
		d.Uint64(r.Flags)
	}
	if r.Once != "" {
		d.String(r.Once)
	}
	for _, n := range [...]int64{int64(r.TTL), int64(r.LockDelay), r.MaxCreate, r.Revision, r.Index, int64(r.Wait)} {
		d.Uint64(uint64(n))
	}
	if r.Etcd != nil {
		d.String(fmt.Sprintf("%+v", *r.Etcd))
	}
	for _, c := range r.If {
		d.String(c.Key)
		d.Uint64(uint64(c.Create))
	}
	for _, ops := range [...][]Request{r.Then, r.Else} {
		d.Uint64(uint64(len(ops)))
		for i := range ops {
			ops[i].digest(d)
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// String shows the request to a reader.
func (r *Request) String() string {
	words := []string{r.Op.String()}
	add := func(shown bool, format string, args ...any) {
		if shown {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	for _, c := range r.If {
		add(true, "if %s@%d", c.Key, c.Create)
	}
	if r.Etcd != nil {
		r.Etcd.tell(add)
	}
	for i := range r.Then {
		add(true, "then %v", &r.Then[i])
	}
	for i := range r.Else {
		add(true, "else %v", &r.Else[i])
	}
	add(r.Key != "", "%s", r.Key)
	add(r.Prefix, "prefix")
	add(r.Order == FirstCreated, "first")
	add(r.Order == LastCreated, "last")
	add(r.MaxCreate > 0, "up to @%d", r.MaxCreate)
	add(r.Revision > 0, "from @%d", r.Revision)
	add(r.Index > 0, "after %d", r.Index)
	add(r.Session != 0, "%v", r.Session)
	add(r.TTL > 0, "ttl %v", r.TTL)
	return strings.Join(words, " ")
}

// The errors of services. Where services word an error differently, the text is that of one of them.
const (
	NoSession   = "session not found"
	BadTTL      = "invalid session TTL"
	StaleEpoch  = "the master has changed"
	Cancelled   = "the wait is cancelled"
	NotOwner    = "the thread is not owner of the lock"
	NoLeader    = "the CP group has no leader"
	WrongTarget = "the member is not owner of the partition"
	noOperation = "unknown operation"
)

// Key is a key as the service stores it.
type Key struct {
	Name, Value string
	Flags       uint64    // as of its last acquisition or release
	Create, Mod int64     // revisions
	Version     int64     // how often it has been written since it was made; not of the other services
	LockIndex   int64     // how often it has been acquired: Consul's LockIndex, the generation of Chubby's sequencer; Hazelcast's fence
	Session     SessionID // holds the key, or ends with it; 0 if none
}

func (k *Key) digest(d *trace.Digest) {
	d.String(k.Name)
	d.String(k.Value)
	if k.Flags != 0 {
		d.Uint64(k.Flags)
	}
	for _, n := range [...]int64{k.Create, k.Mod, k.LockIndex, int64(k.Session)} {
		d.Uint64(uint64(n))
	}
}

// String shows the key to a reader.
func (k *Key) String() string {
	text := fmt.Sprintf("%s@%d", k.Name, k.Create)
	if k.LockIndex > 0 {
		text += fmt.Sprintf(" lock %d", k.LockIndex)
	}
	if k.Session != 0 {
		text += " of " + k.Session.String()
	}
	return text
}

// Response is the answer to a request.
type Response struct {
	Request   *Request
	Err       string // "" is success
	Succeeded bool   // whether Txn's condition held; a key was deleted, acquired, released; a sequencer is valid
	Revision  int64  // of the store; KVGet: the index for the next blocking query
	Session   SessionID
	TTL       time.Duration // of the session, which restarts with this answer
	Held      time.Duration // KeepAlive: how long the master has held the request back, by its clock
	Epoch     int           // Chubby: of the master
	Woken     bool          // it had to wait for a change of the key; not part of the message
	Keys      []Key         // Range, KVGet, KVAcquire, Acquire, TryAcquire
	Results   []Response    // Txn: one for each operation
	Etcd      *Etcd3Answer  // what etcd's API says besides; nil if the request was not of it
}

// What returns the name and purpose of the operation that is answered.
func (a *Response) What() (what, alt string) { return a.Request.What() }

// Sum digests the answer.
func (a *Response) Sum() uint64 {
	var d trace.Digest
	a.digest(&d)
	return d.Sum()
}

func (a *Response) digest(d *trace.Digest) {
	d.String(a.Err)
	if a.Etcd != nil {
		d.String(fmt.Sprintf("%+v", *a.Etcd))
	}
	d.Uint64(bit(a.Succeeded) | uint64(uint32(a.Epoch))<<32)
	for _, n := range [...]int64{a.Revision, int64(a.Session), int64(a.TTL), int64(a.Held)} {
		d.Uint64(uint64(n))
	}
	for i := range a.Keys {
		a.Keys[i].digest(d)
	}
	for i := range a.Results {
		a.Results[i].digest(d)
	}
}

// String shows the answer to a reader.
func (a *Response) String() string {
	if a.Err != "" {
		return a.Err
	}
	var words []string
	add := func(shown bool, format string, args ...any) {
		if shown {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(a.Request.Op.asks() && a.Succeeded, "yes")
	add(a.Request.Op.asks() && !a.Succeeded, "no")
	add(a.Session != 0, "%v", a.Session)
	add(a.TTL > 0, "ttl %v", a.TTL)
	for i := range a.Keys {
		add(true, "%v", &a.Keys[i])
	}
	for i := range a.Results {
		add(true, "(%v)", &a.Results[i])
	}
	add(a.Request.Op == Range && len(a.Keys) == 0, "no key")
	add(a.Revision > 0 || len(words) == 0, "at %s %d", a.Request.Op.counter(), a.Revision)
	return strings.Join(words, " ")
}

// ErrorResponse answers a request with an error, for faults that inject one. Members do not refuse what they send each other.
func ErrorResponse(p sim.Payload, text string) sim.Payload {
	r, ok := p.(*Request)
	if !ok {
		return nil
	}
	return &Response{Request: r, Err: text}
}
