package zookeeper

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Op is an operation that a client requests.
type Op uint8

// The operations. Connect must be the first on a connection, and its answer awaited.
const (
	Connect Op = iota
	Ping
	Create
	Delete
	SetData
	Check // in a multi only
	Multi
	CloseSession
	DeleteContainer // the leader's own
	Sync
	Exists
	GetData
	GetChildren
	SetWatches // the watches that a client had set on its previous server
	SetACL
	Reconfig
	GetACL
	GetEphemerals
	CountDescendants // getAllChildrenNumber
	MultiRead
	AddWatch
	CheckWatch
	RemoveWatch
	WhoAmI
	Authenticate
	Unknown // to the server
	FourLetterWord
	opCount
)

var opNames = [opCount]string{
	"connect", "ping", "create", "delete", "setData", "check", "multi", "closeSession", "deleteContainer", "sync",
	"exists", "getData", "getChildren", "setWatches", "setACL", "reconfig", "getACL", "getEphemerals",
	"getAllChildrenNumber", "multiRead", "addWatch", "checkWatches", "removeWatches", "whoAmI", "auth", "unknown", "word",
}

// String returns the name that ZooKeeper gives it (ZooDefs.OpCode).
func (o Op) String() string { return opNames[o] }

// writes reports whether it is ordered by the leader and needs a quorum.
func (o Op) writes() bool { return o >= Create && o <= DeleteContainer || o == SetACL || o == Reconfig }

// NodeMode says whether the server supports the type of node that a create requests.
type NodeMode uint8

// The modes.
const (
	ModeKnown   NodeMode = iota
	ModeTTL              // a node with a time to live, which a server supports only if configured to
	ModeUnknown          // not a mode of a node
)

// AnyVersion is a version that every node has.
const AnyVersion int32 = -1

// Request is what a client sends. Each operation uses the fields that name it.
type Request struct {
	Op         Op
	Path       string // FourLetterWord: the word
	Data       string // Create, SetData; Authenticate: the proof
	NoData     bool   // Create, SetData: null data, which is not empty data
	Ephemeral  bool   // Create
	Sequential bool   // Create: the parent's counter is appended to the path
	Container  bool   // Create: the leader deletes the node when its last child is gone
	Mode       NodeMode
	Version    int32 // Delete, SetData, Check, SetACL: AnyVersion matches every version
	Watch      bool  // Exists, GetData, GetChildren
	WatchMode  WatchMode
	Malformed  bool // not a record of its type: only the operation is known
	Ops        []Request

	Session SessionID     // Connect: the session to continue; 0 for a new one
	Forged  bool          // Connect: the password is not the session's
	Address string        // Connect, FourLetterWord: the client's address, if known
	Timeout time.Duration // Connect
	Seen    Zxid          // Connect, SetWatches: the last transaction that the client has seen

	DataWatches, ExistWatches, ChildWatches []string // SetWatches
	StandingWatches, RecursiveWatches       []string // SetWatches
	WatchTypes                              WatchTypes

	Scheme string     // Authenticate
	ACL    []ACL      // Create, SetACL; nil: everything is permitted to every client
	Auth   []Identity // the client's proved identities; filled in by the server that hosts it

	Cxid    int32  // the client's number of the request, for statistics
	Purpose string // the lock's purpose: "acquire", "release"; "" unknown
	sim.Origin
}

// What returns the operation's name and its purpose.
func (r *Request) What() (what, alt string) { return r.Op.String(), r.Purpose }

// Sum returns a digest of the request.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	r.digest(&d)
	return d.Sum()
}

func (r *Request) digest(d *trace.Digest) {
	flags := bit(r.Ephemeral) | bit(r.Sequential)<<1 | bit(r.Watch)<<2 | bit(r.Container)<<3
	d.Uint64(uint64(r.Op) | flags<<8 | uint64(uint32(r.Version))<<32)
	d.String(r.Path)
	d.String(r.Data)
	d.Uint64(uint64(r.Session))
	d.Uint64(uint64(r.Timeout))
	d.Uint64(uint64(r.Seen))
	for i := range r.Ops {
		r.Ops[i].digest(d)
	}
	for _, paths := range [...][]string{r.DataWatches, r.ExistWatches, r.ChildWatches} {
		d.Uint64(uint64(len(paths)))
		for _, path := range paths {
			d.String(path)
		}
	}
	r.digestRare(d)
}

// digestRare adds what the requests of most clients have not got, and nothing if this one has not.
func (r *Request) digestRare(d *trace.Digest) {
	for _, paths := range [...][]string{r.StandingWatches, r.RecursiveWatches} {
		for _, path := range paths {
			d.String(path)
		}
	}
	for _, a := range r.ACL {
		d.Uint64(uint64(a.Permission))
		d.String(a.Scheme)
		d.String(a.ID)
	}
	rare := bit(r.NoData) | bit(r.Malformed)<<1 | bit(r.Forged)<<2 | uint64(r.Mode)<<3 | uint64(r.WatchMode)<<5 |
		uint64(r.WatchTypes)<<8
	if rare != 0 {
		d.Uint64(rare)
	}
	if r.Scheme != "" {
		d.String(r.Scheme)
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// String formats the request.
func (r *Request) String() string {
	words := []string{r.Op.String()}
	switch r.Op {
	case Connect:
		words = append(words, fmt.Sprintf("session %v timeout %v", r.Session, r.Timeout))
	case Multi:
		for i := range r.Ops {
			words = append(words, "("+r.Ops[i].String()+")")
		}
	default:
		words = append(words, r.Path, r.Data)
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{{r.Ephemeral, "ephemeral"}, {r.Sequential, "sequential"}, {r.Container, "container"}, {r.Watch, "watch"}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// Response is the answer to a request.
type Response struct {
	Request  *Request
	Err      Code
	Zxid     Zxid // the last transaction that the server had applied
	Path     string
	Data     string
	NoData   bool
	Stat     Stat
	Children []string      // names; paths for GetEphemerals
	Number   int32         // CountDescendants
	ACL      []ACL         // GetACL
	Auth     []Identity    // WhoAmI
	Results  []Response    // of a multi: one for each operation
	Session  SessionID     // Connect: 0 says that the session has expired
	Timeout  time.Duration // Connect: as negotiated
}

// What returns the name and purpose of the operation that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum returns a digest of the answer.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	r.digest(&d)
	return d.Sum()
}

func (r *Response) digest(d *trace.Digest) {
	d.Uint64(uint64(uint32(r.Err)))
	d.Uint64(uint64(r.Zxid))
	d.String(r.Path)
	d.String(r.Data)
	d.Uint64(uint64(r.Stat.Czxid))
	d.Uint64(uint64(r.Stat.Mzxid))
	d.Uint64(uint64(r.Stat.Pzxid))
	d.Uint64(uint64(uint32(r.Stat.Version))<<32 | uint64(uint32(r.Stat.NumChildren)))
	d.Uint64(uint64(len(r.Children))) // which they are, the zxid of their last change says
	for i := range r.Results {
		r.Results[i].digest(d)
	}
	d.Uint64(uint64(r.Session))
	d.Uint64(uint64(r.Timeout))
}

// String formats the answer.
func (r *Response) String() string {
	if r.Err != OK {
		return r.Err.String()
	}
	switch r.Request.Op {
	case Connect:
		return fmt.Sprintf("session %v timeout %v", r.Session, r.Timeout)
	case Create:
		return fmt.Sprintf("%s czxid %v", r.Path, r.Stat.Czxid)
	case GetChildren:
		return "[" + strings.Join(r.Children, " ") + "]"
	case Exists, GetData, SetData:
		return fmt.Sprintf("czxid %v version %d", r.Stat.Czxid, r.Stat.Version)
	default:
		return "ok"
	}
}

// ErrorResponse answers a request with an error, for faults that inject one. The text is a code's name in one word,
// throttledOp if it is none. Packets between servers have no answer.
func ErrorResponse(r sim.Payload, text string) sim.Payload {
	request, ok := r.(*Request)
	if !ok {
		return nil
	}
	code := ThrottledOp
	for c := OK; c > ThrottledOp; c-- {
		if strings.EqualFold(strings.ReplaceAll(c.String(), " ", ""), text) {
			code = c
		}
	}
	return &Response{Request: request, Err: code}
}

// EventType is the type of a watch's event, as numbered in the wire protocol.
type EventType uint8

// The types of events.
const (
	EventCreated EventType = iota + 1
	EventDeleted
	EventDataChanged
	EventChildrenChanged
)

var eventNames = [...]string{"none", "created", "deleted", "dataChanged", "childrenChanged"}

// String names the type.
func (t EventType) String() string { return eventNames[t] }

// WatchEvent is the event that a server sends when a watch fires, which uses the watch up. The server sends it before
// any answer that shows the change.
type WatchEvent struct {
	Type EventType
	Path string
	Zxid Zxid
}

// What returns "event" and the event's type.
func (e *WatchEvent) What() (what, alt string) { return "event", e.Type.String() }

// Sum returns a digest of the event.
func (e *WatchEvent) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(e.Type))
	d.Uint64(uint64(e.Zxid))
	d.String(e.Path)
	return d.Sum()
}

// String formats the event.
func (e *WatchEvent) String() string { return e.Type.String() + " " + e.Path }
