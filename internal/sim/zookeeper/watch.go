package zookeeper

import (
	"maps"
	"slices"
)

// WatchMode says how long a watch lives, and which nodes it covers (WatcherMode).
type WatchMode uint8

// The modes.
const (
	WatchOnce      WatchMode = iota // its first event removes it
	WatchStanding                   // it stays until it is removed
	WatchRecursive                  // it stays, and covers all nodes below
)

// WatchTypes selects watches of a client on a path (Watcher.WatcherType).
type WatchTypes uint8

// The types, which may be combined.
const (
	ChildWatch WatchTypes = 1 << iota
	DataWatch
	AnyWatch = ChildWatch | DataWatch
)

// watches are what the clients of one server wait for, in memory only.
type watches struct {
	data  watchTable // of getData and exists
	child watchTable // of getChildren
}

// watchTable are watches of one type (WatchManager).
type watchTable struct {
	on        map[string][]*client // in the order of their setting
	modes     map[watchSpot]WatchMode
	recursive int // how many see nodes below
}

// watchSpot is a client's watch on a path, if it is not one that is used up.
type watchSpot struct {
	client *client
	path   string
}

func newWatches() watches {
	return watches{data: watchTable{on: make(map[string][]*client)}, child: watchTable{on: make(map[string][]*client)}}
}

// add sets a watch, in place of one of another mode.
func (w *watchTable) add(path string, c *client, mode WatchMode) {
	if !slices.Contains(w.on[path], c) {
		w.on[path] = append(w.on[path], c)
	}
	w.setMode(watchSpot{c, path}, mode)
}

func (w *watchTable) setMode(spot watchSpot, mode WatchMode) {
	before := w.modes[spot]
	if before == mode {
		return
	}
	w.recursive += int(bit(mode == WatchRecursive)) - int(bit(before == WatchRecursive))
	if mode == WatchOnce {
		delete(w.modes, spot)
		return
	}
	if w.modes == nil {
		w.modes = make(map[watchSpot]WatchMode)
	}
	w.modes[spot] = mode
}

// remove takes a watch away, and reports whether there was one.
func (w *watchTable) remove(path string, c *client) bool {
	i := slices.Index(w.on[path], c)
	if i < 0 {
		return false
	}
	w.on[path] = slices.Delete(w.on[path], i, i+1)
	if len(w.on[path]) == 0 {
		delete(w.on, path)
	}
	w.setMode(watchSpot{c, path}, WatchOnce)
	return true
}

// watched lists the paths that clients watch who are still there.
func (w *watchTable) watched() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.on)), func(path string) bool { return len(w.watching(path)) == 0 })
}

// watching lists who is still there of those who watch a path.
func (w *watchTable) watching(path string) []*client {
	return slices.DeleteFunc(slices.Clone(w.on[path]), (*client).gone)
}

// purge removes the watches of disconnected clients. Searches for watches skip them before that.
func (w *watches) purge() {
	for _, table := range []*watchTable{&w.data, &w.child} {
		for _, path := range slices.Sorted(maps.Keys(table.on)) {
			for _, c := range slices.Clone(table.on[path]) {
				if c.gone() {
					table.remove(path, c)
				}
			}
		}
	}
}

// has is WatchManager.containsWatcher, which takes anybody's watch on the path for the client's own.
func (w *watchTable) has(path string, c *client) bool {
	return len(w.watching(path)) > 0 || w.modes[watchSpot{c, path}] == WatchRecursive
}

// take returns who is to be told of something at a path, and uses up those of the watches that do not stand
// (WatchManager.triggerWatch).
func (w *watchTable) take(path string, t EventType) []*client {
	seen := w.on[path]
	if len(w.modes) == 0 {
		delete(w.on, path)
		return seen
	}
	var told, stay []*client
	for _, c := range seen {
		mode := w.modes[watchSpot{c, path}]
		switch {
		case c.gone():
			w.setMode(watchSpot{c, path}, WatchOnce)
		case mode != WatchOnce:
			stay = append(stay, c)
		}
		if mode != WatchRecursive || t != EventChildrenChanged {
			told = append(told, c)
		}
	}
	if w.on[path] = stay; len(stay) == 0 {
		delete(w.on, path)
	}
	for w.recursive > 0 && path != "/" && t != EventChildrenChanged {
		path = parentOf(path)
		for _, c := range w.on[path] {
			if w.modes[watchSpot{c, path}] == WatchRecursive && !slices.Contains(told, c) {
				told = append(told, c)
			}
		}
	}
	return told
}

// fire tells those who wait for a change that has been applied, in the order of DataTree.createNode, deleteNode and
// setData. ZooKeeper promises no order between connections; here it is that of the watches' setting. Gone is the node that
// has been deleted.
func (w *watches) fire(t *Tree, c *Change, gone *znode, z Zxid) {
	parent := parentOf(c.Path)
	switch c.Kind {
	case NodeCreated:
		t.tell(w.data.take(c.Path, EventCreated), EventCreated, c.Path, z)
		t.tell(w.child.take(parent, EventChildrenChanged), EventChildrenChanged, parent, z)
	case NodeDeleted:
		told := w.data.take(c.Path, EventDeleted)
		gone.tell(told, EventDeleted, c.Path, z)
		others := w.child.take(c.Path, EventDeleted)
		others = slices.DeleteFunc(others, func(c *client) bool { return slices.Contains(told, c) })
		gone.tell(others, EventDeleted, c.Path, z)
		t.tell(w.child.take(parent, EventChildrenChanged), EventChildrenChanged, parent, z)
	case DataChanged:
		t.tell(w.data.take(c.Path, EventDataChanged), EventDataChanged, c.Path, z)
	case Checked, SessionOpened, SessionClosed, ACLChanged:
	}
}

func (t *Tree) tell(clients []*client, e EventType, path string, z Zxid) {
	if len(clients) > 0 {
		t.nodes[path].tell(clients, e, path, z)
	}
}

// tell tells clients of something that has happened to a node, if they may read it (ZOOKEEPER-4799). The watch of one who
// may not is used up all the same. There is no node if the log does not fit, see [Tree.fits].
func (n *znode) tell(clients []*client, t EventType, path string, z Zxid) {
	for _, c := range clients {
		if n == nil || permits(n.acl, MayRead, c.is) {
			c.send(&WatchEvent{Type: t, Path: path, Zxid: z})
		}
	}
}
