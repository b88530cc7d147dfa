package zookeeper

import "fmt"

// Code is the error code of a reply in ZooKeeper's wire protocol (KeeperException.Code).
type Code int32

// The codes that a client can receive.
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2 // of an operation in a multi after the one that failed
	MarshallingError        Code = -5 // the request is not a record of its type
	Unimplemented           Code = -6
	BadArguments            Code = -8
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	InvalidACL              Code = -114
	AuthFailed              Code = -115
	SessionMoved            Code = -118 // never sent: the server closes the connection instead
	NoWatcher               Code = -121
	ReconfigDisabled        Code = -123
	// ThrottledOp is of a request that has waited for its turn for longer than throttledOpWaitTime and has not been executed
	// (FinalRequestProcessor, since 3.7).
	ThrottledOp Code = -127
)

var codeNames = map[Code]string{
	OK:                      "ok",
	RuntimeInconsistency:    "runtime inconsistency",
	MarshallingError:        "marshalling error",
	Unimplemented:           "unimplemented",
	BadArguments:            "bad arguments",
	NoNode:                  "no node",
	NoAuth:                  "no auth",
	BadVersion:              "bad version",
	NoChildrenForEphemerals: "no children for ephemerals",
	NodeExists:              "node exists",
	NotEmpty:                "not empty",
	SessionExpired:          "session expired",
	InvalidACL:              "invalid acl",
	AuthFailed:              "auth failed",
	SessionMoved:            "session moved",
	NoWatcher:               "no watcher",
	ReconfigDisabled:        "reconfig disabled",
	ThrottledOp:             "throttled op",
}

// String names the code.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %d", int32(c))
}
