package zookeeper

import (
	"fmt"
	"slices"
	"time"
)

// prepare turns a request into the changes that it makes, and applies them to the tree, which is the leader's view of
// what has been proposed so far (PrepRequestProcessor keeps it as outstandingChanges). A request that fails changes
// nothing; of a multi the number of the failing operation is returned too.
func (t *Tree) prepare(session SessionID, r *Request, z Zxid) (changes []Change, failed int, err Code) {
	if r.Op != Multi {
		c, code := t.change(session, r)
		if code != OK {
			return nil, 0, code
		}
		t.apply(&c, z)
		return []Change{c}, 0, OK
	}
	var undo []func()
	for i := range r.Ops {
		c, code := t.change(session, &r.Ops[i])
		if code != OK {
			for _, back := range slices.Backward(undo) {
				back()
			}
			return nil, i, code
		}
		changes = append(changes, c)
		undo = append(undo, t.undo(&c))
		t.apply(&c, z)
	}
	return changes, 0, OK
}

// change checks one operation.
func (t *Tree) change(session SessionID, r *Request) (Change, Code) {
	if !validPath(r.Path) && (r.Op != Create || !r.Sequential) {
		return Change{}, BadArguments
	}
	switch r.Op {
	case Create:
		return t.creation(session, r)
	case Delete:
		n, code := t.versioned(r)
		switch {
		case r.Path == "/":
			return Change{}, BadArguments
		case code != OK:
			return Change{}, code
		case n.names.len() > 0:
			return Change{}, NotEmpty
		}
		return Change{Kind: NodeDeleted, Path: r.Path, Session: n.owner}, OK
	case DeleteContainer:
		n := t.nodes[r.Path]
		switch {
		case n == nil:
			return Change{}, NoNode
		case !n.container:
			return Change{}, BadArguments
		case n.names.len() > 0:
			return Change{}, NotEmpty
		}
		return Change{Kind: NodeDeleted, Path: r.Path}, OK
	case SetData:
		_, code := t.versioned(r)
		return Change{Kind: DataChanged, Path: r.Path, Data: r.Data}, code
	case Check:
		_, code := t.versioned(r)
		return Change{Kind: Checked, Path: r.Path}, code
	default:
		return Change{}, BadArguments
	}
}

// creation checks a create in the order of PrepRequestProcessor.pRequest2TxnCreate.
func (t *Tree) creation(session SessionID, r *Request) (Change, Code) {
	path := r.Path
	parent := t.nodes[parentOf(path)]
	if parent == nil {
		return Change{}, NoNode
	}
	if r.Sequential {
		path += fmt.Sprintf("%010d", parent.creates)
	}
	switch {
	case !validPath(path), r.Container && (r.Ephemeral || r.Sequential):
		return Change{}, BadArguments
	case t.nodes[path] != nil:
		return Change{}, NodeExists
	case parent.owner != 0:
		return Change{}, NoChildrenForEphemerals
	}
	c := Change{Kind: NodeCreated, Path: path, Data: r.Data, Container: r.Container}
	if r.Ephemeral {
		c.Session = session
	}
	return c, OK
}

// versioned finds the node of a request and compares the version, of which -1 is any.
func (t *Tree) versioned(r *Request) (*znode, Code) {
	n := t.nodes[r.Path]
	switch {
	case n == nil:
		return nil, NoNode
	case r.Version != AnyVersion && r.Version != n.version:
		return nil, BadVersion
	}
	return n, OK
}

// opening opens a session.
func (t *Tree) opening(id SessionID, timeout time.Duration) []Change {
	t.sessions[id] = timeout
	return []Change{{Kind: SessionOpened, Session: id, Timeout: timeout}}
}

// closing closes a session: all of its ephemerals go with it, at one zxid.
func (t *Tree) closing(id SessionID, z Zxid) []Change {
	var changes []Change
	for _, path := range t.ephemerals[id] {
		changes = append(changes, Change{Kind: NodeDeleted, Path: path, Session: id})
	}
	changes = append(changes, Change{Kind: SessionClosed, Session: id})
	for i := range changes {
		t.apply(&changes[i], z)
	}
	return changes
}
