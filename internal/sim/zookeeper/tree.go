package zookeeper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Zxid numbers the transactions of an ensemble over its whole life: the leader's epoch above, a counter below.
type Zxid uint64

func newZxid(epoch uint32, counter uint32) Zxid { return Zxid(epoch)<<32 | Zxid(counter) }

// Epoch returns the epoch in which the transaction was ordered.
func (z Zxid) Epoch() uint32 { return uint32(z >> 32) }

// String shows the two halves in hexadecimal, as in "1.2f".
func (z Zxid) String() string { return fmt.Sprintf("%x.%x", z.Epoch(), uint32(z)) }

// SessionID names a session; 0 is none.
type SessionID uint64

// String shows the id as ZooKeeper's log does.
func (id SessionID) String() string { return fmt.Sprintf("0x%x", uint64(id)) }

// Stat is a znode's metadata.
type Stat struct {
	Czxid          Zxid  // the transaction that created it: the best fencing token there is
	Mzxid          Zxid  // the last that changed its data
	Pzxid          Zxid  // the last that changed its children
	Ctime, Mtime   int64 // of the first two, by the leader's wall clock, in milliseconds since 1970
	Version        int32
	Cversion       int32 // twice the creates of children, less the children (DataNode.copyStat)
	Aversion       int32 // how often its access control list was set
	EphemeralOwner SessionID
	DataLength     int32
	NumChildren    int32
}

// znode is a node of the tree.
type znode struct {
	created, changed, children Zxid
	ctime, mtime               int64
	version, aversion          int32
	creates                    int32 // children ever created: the next sequence number
	owner                      SessionID
	container                  bool
	data                       string
	noData                     bool   // not even none
	acl                        []ACL  // nil: everybody may do everything
	names                      roster // of its children
}

func (n *znode) stat() Stat {
	return Stat{
		Czxid: n.created, Mzxid: n.changed, Pzxid: n.children, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: 2*n.creates - int32(n.names.len()), Aversion: n.aversion, EphemeralOwner: n.owner,
		DataLength: int32(len(n.data)), NumChildren: int32(n.names.len()),
	}
}

// Tree is the replicated state: znodes and sessions. It is a state machine: equal transactions give equal trees.
//
// Invariant: every path but the root has its name in its parent's names, an ephemeral is in ephemerals of its owner,
// and a container in containers.
type Tree struct {
	nodes      map[string]*znode
	ephemerals map[SessionID][]string // sorted
	containers []string               // sorted
	sessions   map[SessionID]time.Duration
}

// NewTree returns a tree that holds the root only.
func NewTree() *Tree {
	return &Tree{
		nodes:      map[string]*znode{"/": {}},
		ephemerals: make(map[SessionID][]string),
		sessions:   make(map[SessionID]time.Duration),
	}
}

// own are the nodes that a server keeps for itself, the root among them.
var own = []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}

// keepOwn adds them, as they are before anybody has changed them (DataTree's constructor).
func (t *Tree) keepOwn() {
	for _, path := range own[1:] {
		t.link(path, &znode{})
	}
	config := t.nodes[own[3]]
	config.acl, config.aversion = readForAll, -1
}

// ChangeKind says what a change does.
type ChangeKind uint8

// The changes that a transaction is made of.
const (
	NodeCreated ChangeKind = iota
	NodeDeleted
	DataChanged
	Checked // a version was compared; nothing changes
	SessionOpened
	SessionClosed
	ACLChanged
)

// Change is one step of a transaction. The leader has checked it: it applies without conditions.
type Change struct {
	Kind      ChangeKind
	Path      string
	Data      string
	NoData    bool
	ACL       []ACL
	Container bool          // of a node that is created
	Session   SessionID     // of a session's change; the owner of an ephemeral that is created or deleted
	Timeout   time.Duration // of a session that is opened
}

// Txn is a transaction: all of its changes happen at one zxid, or none.
type Txn struct {
	Zxid    Zxid
	Time    int64 // of the leader's wall clock, in milliseconds since 1970
	Session SessionID
	Request *Request // the request that caused it; nil if the session expired
	Err     Code     // why it changes nothing: failures are ordered like everything else
	Failed  int      // which operation of a multi failed
	Changes []Change
}

// fits reports whether a change can be carried out: a node is made in one that is there, and one that is there is changed
// or removed. All changes fit but those of a log that two servers have begun differently, because disks have lost what
// they had acknowledged and a zxid was given twice; such a one is left out (DataTree.processTxn).
func (t *Tree) fits(c *Change) bool {
	node, parent := t.nodes[c.Path], t.nodes[parentOf(c.Path)]
	switch c.Kind {
	case NodeCreated:
		return node == nil && parent != nil
	case NodeDeleted, DataChanged, ACLChanged:
		return node != nil
	default:
		return true
	}
}

// apply carries out a change of a transaction.
func (t *Tree) apply(c *Change, txn *Txn) {
	if !t.fits(c) {
		return
	}
	switch c.Kind {
	case NodeCreated:
		parent := t.nodes[parentOf(c.Path)]
		parent.creates++
		parent.children = txn.Zxid
		t.link(c.Path, &znode{
			created: txn.Zxid, changed: txn.Zxid, children: txn.Zxid, ctime: txn.Time, mtime: txn.Time,
			owner: c.Session, container: c.Container, data: c.Data, noData: c.NoData, acl: c.ACL,
		})
	case NodeDeleted:
		t.unlink(c.Path)
		t.nodes[parentOf(c.Path)].children = txn.Zxid
	case DataChanged:
		n := t.nodes[c.Path]
		n.data, n.noData, n.changed, n.mtime = c.Data, c.NoData, txn.Zxid, txn.Time
		n.version++
	case ACLChanged:
		n := t.nodes[c.Path]
		n.acl = c.ACL
		n.aversion++
	case SessionOpened:
		t.sessions[c.Session] = c.Timeout
	case SessionClosed:
		delete(t.sessions, c.Session)
		delete(t.ephemerals, c.Session)
	case Checked:
	}
}

// applyAll carries out a transaction.
func (t *Tree) applyAll(txn *Txn) {
	for i := range txn.Changes {
		t.apply(&txn.Changes[i], txn)
	}
}

func (t *Tree) link(path string, n *znode) {
	t.nodes[path] = n
	parent := t.nodes[parentOf(path)]
	parent.names.add(nameOf(path))
	if n.owner != 0 {
		t.ephemerals[n.owner] = insert(t.ephemerals[n.owner], path)
	}
	if n.container {
		t.containers = insert(t.containers, path)
	}
}

func (t *Tree) unlink(path string) {
	n := t.nodes[path]
	delete(t.nodes, path)
	parent := t.nodes[parentOf(path)]
	parent.names.remove(nameOf(path))
	if n.container {
		t.containers = remove(t.containers, path)
	}
	if n.owner == 0 {
		return
	}
	if rest := remove(t.ephemerals[n.owner], path); len(rest) > 0 {
		t.ephemerals[n.owner] = rest
	} else {
		delete(t.ephemerals, n.owner)
	}
}

// undo returns what takes a change back that is about to be applied; the latest must be taken back first.
func (t *Tree) undo(c *Change) func() {
	n, parent := t.nodes[c.Path], t.nodes[parentOf(c.Path)]
	switch c.Kind {
	case NodeCreated:
		before := *parent
		return func() {
			t.unlink(c.Path)
			*parent = before
		}
	case NodeDeleted:
		before := *parent
		return func() {
			t.link(c.Path, n)
			*parent = before
		}
	case DataChanged: // nobody says in a multi who may do what
		data, noData, changed, mtime, version := n.data, n.noData, n.changed, n.mtime, n.version
		return func() { n.data, n.noData, n.changed, n.mtime, n.version = data, noData, changed, mtime, version }
	default:
		return func() {}
	}
}

// at finds a node; nil if there is none. No path is another name of the root's (DataTree).
func (t *Tree) at(path string) *znode {
	if path == "" {
		path = "/"
	}
	return t.nodes[path]
}

// Stat returns a node's metadata.
func (t *Tree) Stat(path string) (Stat, Code) {
	n := t.at(path)
	if n == nil {
		return Stat{}, NoNode
	}
	return n.stat(), OK
}

// Data returns a node's data.
func (t *Tree) Data(path string) (string, Code) {
	n := t.at(path)
	if n == nil {
		return "", NoNode
	}
	return n.data, OK
}

// Children returns the names of a node's children. They must not be changed.
func (t *Tree) Children(path string) ([]string, Code) {
	n := t.at(path)
	if n == nil {
		return nil, NoNode
	}
	return n.names.view(), OK
}

// descendants counts the nodes below one.
func (t *Tree) descendants(path string) int32 {
	if path == "/" || path == "" {
		return int32(len(t.nodes) - 1)
	}
	n := t.nodes[path].names.view()
	count := int32(len(n))
	for _, name := range n {
		count += t.descendants(path + "/" + name)
	}
	return count
}

// ephemeralsBelow lists a session's nodes whose paths have a prefix. A blank prefix, or the root, matches all paths.
func (t *Tree) ephemeralsBelow(id SessionID, prefix string) []string {
	if blank := strings.TrimSpace(prefix); blank == "" || blank == "/" {
		prefix = ""
	}
	var paths []string
	for _, path := range t.ephemerals[id] {
		if strings.HasPrefix(path, prefix) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Sessions lists the sessions that have been opened and not closed.
func (t *Tree) Sessions() []SessionID { return slices.Sorted(maps.Keys(t.sessions)) }

// insert and remove keep a list sorted. A missing entry need not be removed: a session of a log that does not fit may
// have ended without all its nodes (DataTree.deleteNode checks that, too).
func insert(sorted []string, s string) []string {
	i, _ := slices.BinarySearch(sorted, s)
	return slices.Insert(sorted, i, s)
}

func remove(sorted []string, s string) []string {
	i, found := slices.BinarySearch(sorted, s)
	if !found {
		return sorted
	}
	return slices.Delete(sorted, i, i+1)
}
