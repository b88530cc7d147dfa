package zookeeper

import "slices"

// watches are what the clients of one server wait for, in memory only. Each is used up by what it has seen.
type watches struct {
	data  map[string][]*client // of getData and exists
	child map[string][]*client // of getChildren
}

func newWatches() watches {
	return watches{data: make(map[string][]*client), child: make(map[string][]*client)}
}

func watch(table map[string][]*client, path string, c *client) {
	if !slices.Contains(table[path], c) {
		table[path] = append(table[path], c)
	}
}

// take uses up the watches on a path.
func take(table map[string][]*client, path string) []*client {
	seen := table[path]
	delete(table, path)
	return seen
}

// fire tells those who wait for a change of it, in the order of DataTree.createNode, deleteNode and setData. ZooKeeper
// promises no order between connections; here it is that of the watches' setting.
func (w *watches) fire(c *Change, z Zxid) {
	switch c.Kind {
	case NodeCreated:
		tell(take(w.data, c.Path), EventCreated, c.Path, z)
		tell(take(w.child, parentOf(c.Path)), EventChildrenChanged, parentOf(c.Path), z)
	case NodeDeleted:
		told := take(w.data, c.Path)
		tell(told, EventDeleted, c.Path, z)
		others := slices.DeleteFunc(take(w.child, c.Path), func(c *client) bool { return slices.Contains(told, c) })
		tell(others, EventDeleted, c.Path, z)
		tell(take(w.child, parentOf(c.Path)), EventChildrenChanged, parentOf(c.Path), z)
	case DataChanged:
		tell(take(w.data, c.Path), EventDataChanged, c.Path, z)
	case Checked, SessionOpened, SessionClosed:
	}
}

func tell(clients []*client, t EventType, path string, z Zxid) {
	for _, c := range clients {
		c.send(&WatchEvent{Type: t, Path: path, Zxid: z})
	}
}

// reset sets the watches anew that a client had on another server, or tells it what it has missed
// (DataTree.setWatches): a node that was created and deleted meanwhile is missed.
func (w *watches) reset(t *Tree, r *Request, c *client, applied Zxid) {
	send := func(e EventType, path string) { c.send(&WatchEvent{Type: e, Path: path, Zxid: applied}) }
	for _, path := range r.DataWatches {
		switch n := t.nodes[path]; {
		case n == nil:
			send(EventDeleted, path)
		case n.changed > r.Seen:
			send(EventDataChanged, path)
		default:
			watch(w.data, path, c)
		}
	}
	for _, path := range r.ExistWatches {
		if t.nodes[path] != nil {
			send(EventCreated, path)
		} else {
			watch(w.data, path, c)
		}
	}
	for _, path := range r.ChildWatches {
		switch n := t.nodes[path]; {
		case n == nil:
			send(EventDeleted, path)
		case n.children > r.Seen:
			send(EventChildrenChanged, path)
		default:
			watch(w.child, path, c)
		}
	}
}
