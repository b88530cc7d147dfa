package jute

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// Type is the number of an operation on the wire (ZooDefs.OpCode).
type Type int32

// The operations that a server supports.
const (
	Create           Type = 1
	Delete           Type = 2
	Exists           Type = 3
	GetData          Type = 4
	SetData          Type = 5
	GetACL           Type = 6
	SetACL           Type = 7
	GetChildren      Type = 8
	Sync             Type = 9
	Ping             Type = 11
	GetChildren2     Type = 12
	Check            Type = 13
	Multi            Type = 14
	Create2          Type = 15
	Reconfig         Type = 16
	CheckWatch       Type = 17
	RemoveWatch      Type = 18
	CreateContainer  Type = 19
	DeleteContainer  Type = 20
	CreateTTL        Type = 21
	MultiRead        Type = 22
	Auth             Type = 100
	SetWatches       Type = 101
	GetEphemerals    Type = 103
	CountDescendants Type = 104
	SetWatches2      Type = 105
	AddWatch         Type = 106
	WhoAmI           Type = 107
	CloseSession     Type = -11
)

// operations says what each of them asks the server for.
var operations = map[Type]zookeeper.Op{
	Create: zookeeper.Create, Create2: zookeeper.Create, CreateContainer: zookeeper.Create, CreateTTL: zookeeper.Create,
	Delete: zookeeper.Delete, DeleteContainer: zookeeper.DeleteContainer, SetData: zookeeper.SetData,
	Check: zookeeper.Check, Multi: zookeeper.Multi, MultiRead: zookeeper.MultiRead, Exists: zookeeper.Exists,
	GetData: zookeeper.GetData, GetChildren: zookeeper.GetChildren, GetChildren2: zookeeper.GetChildren,
	GetACL: zookeeper.GetACL, SetACL: zookeeper.SetACL, Sync: zookeeper.Sync, Ping: zookeeper.Ping,
	Reconfig: zookeeper.Reconfig, CheckWatch: zookeeper.CheckWatch, RemoveWatch: zookeeper.RemoveWatch,
	AddWatch: zookeeper.AddWatch, SetWatches: zookeeper.SetWatches, SetWatches2: zookeeper.SetWatches,
	GetEphemerals: zookeeper.GetEphemerals, CountDescendants: zookeeper.CountDescendants,
	WhoAmI: zookeeper.WhoAmI, Auth: zookeeper.Authenticate, CloseSession: zookeeper.CloseSession,
}

// Hello is the first frame of a connection: a client requests a new session, or its present one.
type Hello struct {
	Session  zookeeper.SessionID // 0: requests a new one
	Password string              // that of the session
	Timeout  time.Duration
	Seen     zookeeper.Zxid // the last transaction that the client has seen
	Old      bool           // the client does not say whether it accepts a read-only server
}

// ParseConnect reads the first frame (ConnectRequest). Read-only servers are not simulated.
func ParseConnect(frame []byte) (Hello, error) {
	r := &reader{rest: frame}
	r.int() // the protocol's version, which has always been 0
	h := Hello{Seen: zookeeper.Zxid(r.long())}
	h.Timeout = time.Duration(r.int()) * time.Millisecond
	h.Session = zookeeper.SessionID(r.long())
	h.Password = r.buffer()
	h.Old = len(r.rest) == 0
	return h, r.err
}

// Header precedes every other request.
type Header struct {
	Xid  int32 // identifies the answer to the client
	Type Type
	Ops  []Type // of a transaction's operations, as they are answered
}

// ParseRequest reads a frame. The error says that there is not even a header: a server closes the connection. A frame
// that does not fit its header is a request nevertheless, which the server answers with an error.
func ParseRequest(frame []byte) (Header, *zookeeper.Request, error) {
	r := &reader{rest: frame}
	h := Header{Xid: r.int(), Type: Type(r.int())}
	if r.err != nil {
		return h, nil, r.err
	}
	q := r.request(&h)
	if r.err != nil {
		q = &zookeeper.Request{Op: q.Op, Malformed: true}
		if q.Op == zookeeper.Reconfig { // it is read before it is ordered
			q.Op = zookeeper.Exists
		}
	}
	q.Cxid = h.Xid
	return h, q, nil
}

// request reads what follows a header.
func (r *reader) request(h *Header) *zookeeper.Request {
	op, known := operations[h.Type]
	if !known {
		return &zookeeper.Request{Op: zookeeper.Unknown}
	}
	q := &zookeeper.Request{Op: op}
	switch op {
	case zookeeper.Create, zookeeper.Delete, zookeeper.SetData, zookeeper.Check, zookeeper.GetData, zookeeper.GetChildren:
		r.operation(h.Type, q)
		q.Container = h.Type == CreateContainer
		if h.Type == CreateTTL && q.Mode == zookeeper.ModeKnown { // a time to live of a node that has none
			q.Mode = zookeeper.ModeUnknown
		}
	case zookeeper.DeleteContainer:
		q.Path = "\x00" // it is the leader's, which writes it in another way: what a client sends is no path
	case zookeeper.Multi, zookeeper.MultiRead:
		r.operations(h, q)
	case zookeeper.Exists:
		q.Path, q.Watch = r.path(), r.bool()
	case zookeeper.GetACL, zookeeper.CountDescendants:
		q.Path = r.path()
	case zookeeper.Sync, zookeeper.GetEphemerals:
		q.Path = r.text()
	case zookeeper.SetACL:
		q.Path, q.ACL, q.Version = r.text(), r.acl(), r.int()
	case zookeeper.Reconfig:
		r.text()
		r.text()
		r.text()
		r.long()
	case zookeeper.AddWatch:
		q.Path, q.WatchMode = r.path(), zookeeper.WatchMode(1+r.among(0, 1))
	case zookeeper.CheckWatch, zookeeper.RemoveWatch:
		q.Path, q.WatchTypes = r.path(), zookeeper.WatchTypes(r.among(1, 3))
	case zookeeper.SetWatches:
		q.Seen = zookeeper.Zxid(r.long())
		q.DataWatches, q.ExistWatches, q.ChildWatches = r.paths(), r.paths(), r.paths()
		if h.Type == SetWatches2 {
			q.StandingWatches, q.RecursiveWatches = r.paths(), r.paths()
		}
	case zookeeper.Authenticate:
		r.int()
		q.Scheme, q.Data = r.text(), r.buffer()
	default: // nothing follows
	}
	return q
}

// operation reads one of those that can stand in a transaction, or in a list of reads. Of a create it returns the mode, as a
// number.
func (r *reader) operation(t Type, q *zookeeper.Request) (mode int32) {
	switch t {
	case Create, Create2, CreateContainer, CreateTTL:
		q.Path = r.path()
		q.Data, q.NoData = r.data()
		q.ACL = r.acl()
		mode = r.mode(q)
		if t == CreateTTL {
			r.long()
		}
	case Delete:
		q.Path, q.Version = r.path(), r.int()
	case SetData:
		q.Path = r.text()
		q.Data, q.NoData = r.data()
		q.Version = r.int()
	case Check:
		q.Path, q.Version = r.text(), r.int()
	case GetData, GetChildren, GetChildren2:
		q.Path, q.Watch = r.path(), r.bool()
	default:
		panic(fmt.Sprintf("jute: an operation of number %d is no part of others", t))
	}
	return mode
}

// container is the mode of a node that the leader deletes when it has had children and has none any more.
const container = 4

// mode reads how long a node lives, and how it is called (CreateMode). That it is a container the operation says.
func (r *reader) mode(q *zookeeper.Request) (flags int32) {
	flags = r.int()
	switch flags {
	case 0, container:
	case 1:
		q.Ephemeral = true
	case 2:
		q.Sequential = true
	case 3:
		q.Ephemeral, q.Sequential = true, true
	case 5, 6:
		q.Mode = zookeeper.ModeTTL
	default:
		q.Mode = zookeeper.ModeUnknown
	}
	return flags
}

// acl reads who may do what. That everybody may do everything is what nothing says too; an empty list is another thing.
func (r *reader) acl() []zookeeper.ACL {
	list := []zookeeper.ACL{}
	for range r.count(12) {
		permission := zookeeper.Permission(r.int())
		list = append(list, zookeeper.ACL{
			Permission: permission, Identity: zookeeper.Identity{Scheme: r.text(), ID: r.text()},
		})
	}
	if zookeeper.OpenToAll(list) {
		return nil
	}
	return list
}

// operations reads those of a transaction, or several reads (MultiOperationRecord), up to the header that says that it is
// done.
func (r *reader) operations(h *Header, q *zookeeper.Request) {
	for r.err == nil {
		t, done := Type(r.int()), r.bool()
		r.int()
		if done {
			return
		}
		one := zookeeper.Request{Op: operations[t]}
		switch t {
		case Create, Create2, CreateContainer, CreateTTL, Delete, SetData, Check, GetData, GetChildren:
		default:
			r.fail("an operation of number %d", t)
			return
		}
		mode := r.operation(t, &one)
		one.Watch = false
		switch reads := t == GetData || t == GetChildren; {
		case reads != (h.Type == MultiRead):
			r.fail("an operation of number %d in a list of others", t)
		case one.Op == zookeeper.Create: // what is made the mode says alone (Op.create)
			one.Malformed = one.Mode == zookeeper.ModeTTL && t != CreateTTL // which is noticed when its turn comes
			if one.Container = mode == container; one.Container {
				t = Create2
			} else {
				t = Create
			}
		}
		h.Ops, q.Ops = append(h.Ops, t), append(q.Ops, one)
	}
}
