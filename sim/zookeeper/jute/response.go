package jute

import (
	"encoding/binary"
	"time"

	"github.com/locksim/locksim/sim/zookeeper"
)

// EventXid is the number by which clients know what is no answer to a request (ClientCnxn.XID).
const EventXid int32 = -1

// Unimplemented is the error of an operation that the server does not know (KeeperException.Code.UNIMPLEMENTED).
const Unimplemented zookeeper.Code = -6

// Password is that of a session. A real one is derived from the session's id by a secret of the server's; here there is
// no secret.
func Password(id zookeeper.SessionID) string {
	return string(binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(id)^0xb3415c00b3415c00))
}

// AppendConnected writes the answer to the first frame (ConnectResponse). A session of 0 says that the client's has expired.
func AppendConnected(dst []byte, id zookeeper.SessionID, timeout time.Duration) []byte {
	password := Password(id)
	if id == 0 {
		password, timeout = string(make([]byte, 16)), 0
	}
	dst = appendInt(dst, 0)
	dst = appendInt(dst, int32(timeout/time.Millisecond))
	dst = appendLong(dst, int64(id))
	dst = appendBuffer(dst, password)
	return appendBool(dst, false) // the server also writes
}

// AppendEvent writes what a watch has seen (WatcherEvent). Watches are told of changes while the session is connected,
// which is state 3.
func AppendEvent(dst []byte, e *zookeeper.WatchEvent) []byte {
	dst = appendHeader(dst, EventXid, noZxid, zookeeper.OK)
	dst = appendInt(dst, int32(e.Type))
	dst = appendInt(dst, 3)
	return appendBuffer(dst, e.Path)
}

// AppendError writes an answer without a body.
func AppendError(dst []byte, h Header, last zookeeper.Zxid, code zookeeper.Code) []byte {
	return appendHeader(dst, h.Xid, last, code)
}

// AppendAnswer writes the answer to a request.
func AppendAnswer(dst []byte, h Header, a *zookeeper.Response) []byte {
	dst = appendHeader(dst, h.Xid, a.Zxid, a.Err)
	if a.Err != zookeeper.OK {
		return dst
	}
	return appendBody(dst, h, h.Type, a)
}

// noZxid stands where a server has none to tell: -1.
const noZxid = ^zookeeper.Zxid(0)

func appendHeader(dst []byte, xid int32, last zookeeper.Zxid, code zookeeper.Code) []byte {
	return appendInt(appendLong(appendInt(dst, xid), int64(last)), int32(code))
}

func appendBody(dst []byte, h Header, t Type, a *zookeeper.Response) []byte {
	switch t {
	case Create:
		return appendBuffer(dst, a.Path)
	case Sync:
		return appendBuffer(dst, a.Request.Path)
	case Create2, CreateContainer:
		return appendStat(appendBuffer(dst, a.Path), &a.Stat)
	case Exists, SetData:
		return appendStat(dst, &a.Stat)
	case GetData:
		return appendStat(appendBuffer(dst, a.Data), &a.Stat)
	case GetChildren:
		return appendBuffers(dst, a.Children)
	case GetChildren2:
		return appendStat(appendBuffers(dst, a.Children), &a.Stat)
	case Multi:
		return appendResults(dst, h, a)
	default: // of the others an answer is a header
		return dst
	}
}

// appendStat writes what a server tells of a node (Stat). Times are not simulated: no lock should look at them.
func appendStat(dst []byte, s *zookeeper.Stat) []byte {
	dst = appendLong(dst, int64(s.Czxid))
	dst = appendLong(dst, int64(s.Mzxid))
	dst = appendLong(dst, 0)
	dst = appendLong(dst, 0)
	dst = appendInt(dst, s.Version)
	dst = appendInt(dst, s.Cversion)
	dst = appendInt(dst, 0)
	dst = appendLong(dst, int64(s.EphemeralOwner))
	dst = appendInt(dst, s.DataLength)
	dst = appendInt(dst, s.NumChildren)
	return appendLong(dst, int64(s.Pzxid))
}

// appendResults writes what became of each operation of a transaction (MultiResponse): if one could not be carried out, all
// of them are errors.
func appendResults(dst []byte, h Header, a *zookeeper.Response) []byte {
	failed := false
	for i := range a.Results {
		failed = failed || a.Results[i].Err != zookeeper.OK
	}
	for i := range a.Results {
		result := &a.Results[i]
		if failed {
			dst = appendBool(appendInt(dst, -1), false)
			dst = appendInt(appendInt(dst, int32(result.Err)), int32(result.Err))
			continue
		}
		t := h.Ops[i]
		dst = appendInt(appendBool(appendInt(dst, int32(t)), false), 0)
		result.Request = &a.Request.Ops[i]
		dst = appendBody(dst, h, t, result)
	}
	return appendInt(appendBool(appendInt(dst, -1), true), -1)
}
