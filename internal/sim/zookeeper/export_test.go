package zookeeper

import (
	"fmt"
	"maps"
	"slices"
)

// Prepare checks and applies a write, as the leader does.
func (t *Tree) Prepare(session SessionID, r *Request, z Zxid) Code {
	txn := &Txn{Zxid: z, Session: session, Request: r}
	t.prepare(txn)
	return txn.Err
}

// Close closes a session.
func (t *Tree) Close(session SessionID, z Zxid) { t.closing(&Txn{Zxid: z, Session: session}) }

// Dump shows the whole tree.
func (t *Tree) Dump() []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(t.nodes)) {
		n := t.nodes[path]
		lines = append(lines, fmt.Sprintf("%s %q owner %v %+v %v", path, n.data, n.owner, n.stat(), n.names.view()))
	}
	for _, id := range slices.Sorted(maps.Keys(t.ephemerals)) {
		lines = append(lines, fmt.Sprintf("ephemerals of %v: %v", id, t.ephemerals[id]))
	}
	lines = append(lines, fmt.Sprintf("containers: %v", t.containers))
	for _, id := range t.Sessions() {
		lines = append(lines, fmt.Sprintf("session %v %v", id, t.sessions[id]))
	}
	return lines
}

// Log returns the zxids on the server's disk.
func (s *Server) Log() []Zxid {
	var zxids []Zxid
	for _, txn := range s.disk.log {
		zxids = append(zxids, txn.Zxid)
	}
	return zxids
}
