package jute

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// EventXid is the xid of a watch's event, which is not an answer to a request (ClientCnxn.XID).
const EventXid int32 = -1

// Password returns a session's password: java.util.Random draws it from the session's id and a number that is the same
// in all servers (ZooKeeperServer.generatePasswd).
func Password(id zookeeper.SessionID) string {
	const multiplier, mask = 0x5deece66d, 1<<48 - 1
	state := (uint64(id) ^ 0xb3415c00 ^ multiplier) & mask
	var password []byte
	for len(password) < 16 {
		state = (state*multiplier + 0xb) & mask
		password = binary.LittleEndian.AppendUint32(password, uint32(state>>16))
	}
	return string(password)
}

// AppendConnected writes the answer to the first frame (ConnectResponse). A session of 0 says that the client's session
// has expired.
func AppendConnected(dst []byte, to Hello, id zookeeper.SessionID, timeout time.Duration) []byte {
	password := Password(id)
	if id == 0 {
		password, timeout = string(make([]byte, 16)), 0
	}
	dst = appendInt(dst, 0)
	dst = appendInt(dst, int32(timeout/time.Millisecond))
	dst = appendLong(dst, int64(id))
	dst = appendBuffer(dst, password)
	if to.Old {
		return dst
	}
	return appendBool(dst, false) // the server also writes
}

// AppendEvent writes a watch's event (WatcherEvent). Its state is 3, connected.
func AppendEvent(dst []byte, e *zookeeper.WatchEvent) []byte {
	dst = appendHeader(dst, EventXid, noZxid, zookeeper.OK)
	dst = appendInt(dst, int32(e.Type))
	dst = appendInt(dst, 3)
	return appendBuffer(dst, e.Path)
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
	case Exists, SetData, SetACL:
		return appendStat(dst, &a.Stat)
	case GetData:
		if a.NoData {
			return appendStat(appendInt(dst, -1), &a.Stat)
		}
		return appendStat(appendBuffer(dst, a.Data), &a.Stat)
	case GetChildren, GetEphemerals:
		return appendBuffers(dst, a.Children)
	case GetChildren2:
		return appendStat(appendBuffers(dst, a.Children), &a.Stat)
	case GetACL:
		return appendStat(appendACL(dst, a.ACL), &a.Stat)
	case CountDescendants:
		return appendInt(dst, a.Number)
	case AddWatch: // an ErrorResponse that says that there is none
		return appendInt(dst, 0)
	case WhoAmI:
		return appendUsers(dst, a.Auth)
	case Multi:
		return appendResults(dst, h, a)
	case MultiRead:
		return appendReads(dst, h, a)
	default: // of the others an answer is a header
		return dst
	}
}

// appendStat writes what a server tells of a node (Stat).
func appendStat(dst []byte, s *zookeeper.Stat) []byte {
	dst = appendLong(dst, int64(s.Czxid))
	dst = appendLong(dst, int64(s.Mzxid))
	dst = appendLong(dst, s.Ctime)
	dst = appendLong(dst, s.Mtime)
	dst = appendInt(dst, s.Version)
	dst = appendInt(dst, s.Cversion)
	dst = appendInt(dst, s.Aversion)
	dst = appendLong(dst, int64(s.EphemeralOwner))
	dst = appendInt(dst, s.DataLength)
	dst = appendInt(dst, s.NumChildren)
	return appendLong(dst, int64(s.Pzxid))
}

func appendACL(dst []byte, list []zookeeper.ACL) []byte {
	dst = appendInt(dst, int32(len(list)))
	for _, a := range list {
		dst = appendInt(dst, int32(a.Permission))
		dst = appendBuffer(appendBuffer(dst, a.Scheme), a.ID)
	}
	return dst
}

// appendUsers writes who a client is, without proofs (AuthUtil.getClientInfos).
func appendUsers(dst []byte, list []zookeeper.Identity) []byte {
	dst = appendInt(dst, int32(len(list)))
	for _, id := range list {
		user := id.ID
		if id.Scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		dst = appendBuffer(appendBuffer(dst, id.Scheme), user)
	}
	return dst
}

// appendResults writes what became of each operation of a transaction (MultiResponse): if one could not be carried out, all
// of them are errors.
func appendResults(dst []byte, h Header, a *zookeeper.Response) []byte {
	failed := false
	for i := range a.Results {
		failed = failed || a.Results[i].Err != zookeeper.OK
	}
	for i := range a.Results {
		if failed {
			dst = appendFailure(dst, a.Results[i].Err)
		} else {
			dst = appendResult(dst, h, i, a)
		}
	}
	return appendEnd(dst)
}

// appendReads writes what each of several reads has found.
func appendReads(dst []byte, h Header, a *zookeeper.Response) []byte {
	for i := range a.Results {
		if code := a.Results[i].Err; code != zookeeper.OK {
			dst = appendFailure(dst, code)
		} else {
			dst = appendResult(dst, h, i, a)
		}
	}
	return appendEnd(dst)
}

// appendResult writes the i-th result after its header (MultiHeader).
func appendResult(dst []byte, h Header, i int, a *zookeeper.Response) []byte {
	t, result := h.Ops[i], &a.Results[i]
	dst = appendInt(appendBool(appendInt(dst, int32(t)), false), 0)
	result.Request = &a.Request.Ops[i]
	return appendBody(dst, h, t, result)
}

func appendFailure(dst []byte, code zookeeper.Code) []byte {
	dst = appendBool(appendInt(dst, -1), false)
	return appendInt(appendInt(dst, int32(code)), int32(code))
}

func appendEnd(dst []byte) []byte { return appendInt(appendBool(appendInt(dst, -1), true), -1) }
