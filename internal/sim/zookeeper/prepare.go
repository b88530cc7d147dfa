package zookeeper

import (
	"fmt"
	"slices"
	"time"
)

// prepare turns the request of a transaction into the changes that it makes, and applies them to the tree, which is the
// leader's view of what has been proposed so far (PrepRequestProcessor keeps it as outstandingChanges). A request that fails
// changes nothing; of a multi the number of the failing operation is kept too.
func (t *Tree) prepare(txn *Txn) {
	r := txn.Request
	if r.Op != Multi || r.Malformed {
		c, code := t.change(txn.Session, r, r.Auth)
		if txn.Err = code; code == OK {
			t.apply(&c, txn)
			txn.Changes = []Change{c}
		}
		return
	}
	var undo []func()
	for i := range r.Ops {
		c, code := t.change(txn.Session, &r.Ops[i], r.Auth)
		if code != OK {
			for _, back := range slices.Backward(undo) {
				back()
			}
			txn.Changes, txn.Failed, txn.Err = nil, i, code
			return
		}
		txn.Changes = append(txn.Changes, c)
		undo = append(undo, t.undo(&c))
		t.apply(&c, txn)
	}
}

// change checks one operation of somebody who has proved to be somebody, each in the order of
// PrepRequestProcessor.pRequest2Txn.
func (t *Tree) change(session SessionID, r *Request, is []Identity) (Change, Code) {
	if r.Malformed {
		return Change{}, MarshallingError
	}
	switch r.Op {
	case Create:
		return t.creation(session, r, is)
	case Delete:
		return t.deletion(r, is)
	case DeleteContainer:
		n := t.nodes[r.Path]
		switch {
		case !nameable(r.Path):
			return Change{}, BadArguments
		case n == nil:
			return Change{}, NoNode
		case !n.container:
			return Change{}, BadArguments
		case n.names.len() > 0:
			return Change{}, NotEmpty
		}
		return Change{Kind: NodeDeleted, Path: r.Path}, OK
	case SetData:
		code := t.versioned(r, MayWrite, is)
		return Change{Kind: DataChanged, Path: r.Path, Data: r.Data, NoData: r.NoData}, code
	case Check:
		code := t.versioned(r, MayRead, is)
		return Change{Kind: Checked, Path: r.Path}, code
	case SetACL:
		return t.regulation(r, is)
	case Reconfig:
		return Change{}, ReconfigDisabled // as it is unless a configuration says otherwise (reconfigEnabled)
	default:
		return Change{}, BadArguments
	}
}

// creation checks a create.
func (t *Tree) creation(session SessionID, r *Request, is []Identity) (Change, Code) {
	switch {
	case r.Mode == ModeTTL:
		return Change{}, Unimplemented // unless a configuration says otherwise (extendedTypesEnabled)
	case r.Mode != ModeKnown, !nameable(r.Path):
		return Change{}, BadArguments
	}
	acl, code := fixup(r.ACL, is)
	if code != OK {
		return Change{}, code
	}
	path := r.Path
	parent := t.nodes[parentOf(path)]
	switch {
	case parent == nil:
		return Change{}, NoNode
	case !permits(parent.acl, MayCreate, is):
		return Change{}, NoAuth
	}
	if r.Sequential {
		path += fmt.Sprintf("%010d", parent.creates)
	}
	switch {
	case !validPath(path):
		return Change{}, BadArguments
	case t.nodes[path] != nil:
		return Change{}, NodeExists
	case parent.owner != 0:
		return Change{}, NoChildrenForEphemerals
	}
	c := Change{Kind: NodeCreated, Path: path, Data: r.Data, NoData: r.NoData, ACL: acl, Container: r.Container}
	if r.Ephemeral && !r.Container {
		c.Session = session
	}
	return c, OK
}

// deletion checks a delete. A server's own nodes cannot be deleted (ZKDatabase.isSpecialPath).
func (t *Tree) deletion(r *Request, is []Identity) (Change, Code) {
	parent, n := t.nodes[parentOf(r.Path)], t.nodes[r.Path]
	switch {
	case !nameable(r.Path), slices.Contains(own, r.Path):
		return Change{}, BadArguments
	case parent == nil:
		return Change{}, NoNode
	case !permits(parent.acl, MayDelete, is):
		return Change{}, NoAuth
	case n == nil:
		return Change{}, NoNode
	case r.Version != AnyVersion && r.Version != n.version:
		return Change{}, BadVersion
	case n.names.len() > 0:
		return Change{}, NotEmpty
	}
	return Change{Kind: NodeDeleted, Path: r.Path, Session: n.owner}, OK
}

// regulation checks a change of who may do what.
func (t *Tree) regulation(r *Request, is []Identity) (Change, Code) {
	if !validPath(r.Path) {
		return Change{}, BadArguments
	}
	acl, code := fixup(r.ACL, is)
	n := t.nodes[r.Path]
	switch {
	case code != OK:
		return Change{}, code
	case n == nil:
		return Change{}, NoNode
	case !permits(n.acl, MayAdmin, is):
		return Change{}, NoAuth
	case r.Version != AnyVersion && r.Version != n.aversion:
		return Change{}, BadVersion
	}
	return Change{Kind: ACLChanged, Path: r.Path, ACL: acl}, OK
}

// versioned asks for a permission on the node of a request, and compares the version, of which -1 is any.
func (t *Tree) versioned(r *Request, wanted Permission, is []Identity) Code {
	n := t.nodes[r.Path]
	switch {
	case !validPath(r.Path):
		return BadArguments
	case n == nil:
		return NoNode
	case !permits(n.acl, wanted, is):
		return NoAuth
	case r.Version != AnyVersion && r.Version != n.version:
		return BadVersion
	}
	return OK
}

// opening opens a session.
func (t *Tree) opening(txn *Txn, timeout time.Duration) {
	t.sessions[txn.Session] = timeout
	txn.Changes = []Change{{Kind: SessionOpened, Session: txn.Session, Timeout: timeout}}
}

// closing closes a session: all of its ephemerals go with it, at one zxid.
func (t *Tree) closing(txn *Txn) {
	for _, path := range t.ephemerals[txn.Session] {
		txn.Changes = append(txn.Changes, Change{Kind: NodeDeleted, Path: path, Session: txn.Session})
	}
	txn.Changes = append(txn.Changes, Change{Kind: SessionClosed, Session: txn.Session})
	t.applyAll(txn)
}
