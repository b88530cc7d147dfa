package jute

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/sim/zookeeper"
)

// Type is the number of an operation on the wire (ZooDefs.OpCode).
type Type int32

// The operations that are simulated.
const (
	Create          Type = 1
	Delete          Type = 2
	Exists          Type = 3
	GetData         Type = 4
	SetData         Type = 5
	GetChildren     Type = 8
	Sync            Type = 9
	Ping            Type = 11
	GetChildren2    Type = 12
	Check           Type = 13
	Multi           Type = 14
	Create2         Type = 15
	CreateContainer Type = 19
	Auth            Type = 100
	SetWatches      Type = 101
	CloseSession    Type = -11
)

// Hello is the first frame of a connection: a client asks for a session, or for its own.
type Hello struct {
	Session  zookeeper.SessionID // 0: a new one
	Password string              // that of the session
	Timeout  time.Duration
	Seen     zookeeper.Zxid // the last that the client has seen
}

// ParseConnect reads the first frame (ConnectRequest). Whether the client would be content with a server that only reads
// stands there in later versions only, and is not simulated.
func ParseConnect(frame []byte) (Hello, error) {
	r := &reader{rest: frame}
	r.int() // the protocol's version, which has always been 0
	h := Hello{Seen: zookeeper.Zxid(r.long())}
	h.Timeout = time.Duration(r.int()) * time.Millisecond
	h.Session = zookeeper.SessionID(r.long())
	h.Password = r.buffer()
	return h, r.err
}

// Header stands before every other request.
type Header struct {
	Xid  int32 // by which the client knows the answer
	Type Type
	Ops  []Type // of a transaction's operations

	Unknown bool // the operation is not simulated; whoever reads the frame says so
}

// ParseRequest reads a frame. The request is nil if the operation is not simulated.
func ParseRequest(frame []byte) (Header, *zookeeper.Request, error) {
	r := &reader{rest: frame}
	h := Header{Xid: r.int(), Type: Type(r.int())}
	if r.err != nil {
		return h, nil, r.err
	}
	if h.Type == Multi {
		request, types, err := r.operations()
		h.Ops = types
		return h, request, err
	}
	request, err := r.request(h.Type)
	return h, request, err
}

func (r *reader) request(t Type) (*zookeeper.Request, error) {
	q := &zookeeper.Request{}
	switch t {
	case Ping:
		q.Op = zookeeper.Ping
	case CloseSession:
		q.Op = zookeeper.CloseSession
	case Create, Create2, CreateContainer:
		q.Op, q.Path, q.Data = zookeeper.Create, r.buffer(), r.buffer()
		r.acl()
		if err := r.flags(q); err != nil {
			return nil, err
		}
	case Delete:
		q.Op, q.Path, q.Version = zookeeper.Delete, r.buffer(), r.int()
	case SetData:
		q.Op, q.Path, q.Data, q.Version = zookeeper.SetData, r.buffer(), r.buffer(), r.int()
	case Check:
		q.Op, q.Path, q.Version = zookeeper.Check, r.buffer(), r.int()
	case Exists:
		q.Op, q.Path, q.Watch = zookeeper.Exists, r.buffer(), r.bool()
	case GetData:
		q.Op, q.Path, q.Watch = zookeeper.GetData, r.buffer(), r.bool()
	case GetChildren, GetChildren2:
		q.Op, q.Path, q.Watch = zookeeper.GetChildren, r.buffer(), r.bool()
	case Sync:
		q.Op, q.Path = zookeeper.Sync, r.buffer()
	case SetWatches:
		q.Op, q.Seen = zookeeper.SetWatches, zookeeper.Zxid(r.long())
		q.DataWatches, q.ExistWatches, q.ChildWatches = r.buffers(), r.buffers(), r.buffers()
	default:
		return nil, r.err
	}
	return q, r.err
}

// acl reads who may do what, which is not simulated: everybody may do everything.
func (r *reader) acl() {
	for range r.count(12) {
		r.int()
		r.buffer()
		r.buffer()
	}
}

// flags reads how long a node lives, and how it is called (CreateMode).
func (r *reader) flags(q *zookeeper.Request) error {
	switch flags := r.int(); flags {
	case 0:
	case 1:
		q.Ephemeral = true
	case 2:
		q.Sequential = true
	case 3:
		q.Ephemeral, q.Sequential = true, true
	case 4:
		q.Container = true
	default:
		return fmt.Errorf("%w: no nodes of mode %d are simulated", ErrMalformed, flags)
	}
	return nil
}

// operations reads those of a transaction (MultiOperationRecord), up to the header that says that it is done.
func (r *reader) operations() (*zookeeper.Request, []Type, error) {
	q := &zookeeper.Request{Op: zookeeper.Multi}
	var types []Type
	for r.err == nil {
		t, done := Type(r.int()), r.bool()
		r.int()
		if done {
			break
		}
		switch t {
		case Create, Create2, CreateContainer, Delete, SetData, Check:
		default:
			return nil, nil, fmt.Errorf("%w: no operation of number %d is simulated in a transaction", ErrMalformed, t)
		}
		op, err := r.request(t)
		if err != nil {
			return nil, nil, err
		}
		q.Ops, types = append(q.Ops, *op), append(types, t)
	}
	return q, types, r.err
}
