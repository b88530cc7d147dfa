package zookeeper

import "fmt"

// Code is the error of a reply, as ZooKeeper's wire protocol numbers it (KeeperException.Code).
type Code int32

// The codes that a lock can meet.
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2 // of an operation in a multi that stands behind the one that failed
	BadArguments            Code = -8
	NoNode                  Code = -101
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	SessionMoved            Code = -118 // never sent: the server closes the connection instead
)

// String names the code.
func (c Code) String() string {
	switch c {
	case OK:
		return "ok"
	case RuntimeInconsistency:
		return "runtime inconsistency"
	case BadArguments:
		return "bad arguments"
	case NoNode:
		return "no node"
	case BadVersion:
		return "bad version"
	case NoChildrenForEphemerals:
		return "no children for ephemerals"
	case NodeExists:
		return "node exists"
	case NotEmpty:
		return "not empty"
	case SessionExpired:
		return "session expired"
	case SessionMoved:
		return "session moved"
	default:
		return fmt.Sprintf("code %d", int32(c))
	}
}
