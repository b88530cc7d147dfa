package zookeeper

import (
	"slices"

	"github.com/locksim/locksim/sim"
)

// Watch waits for one change of a node, at the client's end. It outlives connections: the library sets it again on
// the server that it connects to next. Events of the session, which Java passes to watchers too, do not use it up.
type Watch struct {
	Over  sim.Signal  // fires with the event, or with the session
	Event *WatchEvent // nil if the session ended first

	kind watchKind
	path string
}

// watchKind says what a watch waits for.
type watchKind uint8

// The kinds: of data (getData, and exists of a node that exists), of a node's coming, of children.
const (
	dataWatch watchKind = iota
	existWatch
	childWatch
)

// register keeps a watch that a request has set: one on a node that is not there only exists can set.
func (h *Handle) register(w *Watch, r *Response) {
	switch {
	case r.Err == NoNode && r.Request.Op == Exists:
		w.kind = existWatch
	case r.Err != OK:
		return
	case r.Request.Op == GetChildren:
		w.kind = childWatch
	default:
		w.kind = dataWatch
	}
	w.path = r.Request.Path
	h.watches = append(h.watches, w)
}

// notify tells the watches that wait for an event (ZKWatchManager.materialize).
func (h *Handle) notify(e *WatchEvent) {
	if h.config.Woken != nil {
		h.config.Woken()
	}
	told := func(w *Watch) bool { return w.path == e.Path && w.awaits(e.Type) }
	var over []*Watch
	for _, w := range h.watches {
		if told(w) {
			over = append(over, w)
		}
	}
	h.watches = slices.DeleteFunc(h.watches, told)
	for _, w := range over {
		w.Event = e
		w.Over.Fire()
	}
}

// awaits reports whether a watch waits for an event of the type.
func (w *Watch) awaits(t EventType) bool {
	switch t {
	case EventDeleted:
		return true
	case EventChildrenChanged:
		return w.kind == childWatch
	default:
		return w.kind != childWatch
	}
}

// rearm makes the request that sets the watches again on another server; nil if there are none.
func (h *Handle) rearm() *Request {
	if len(h.watches) == 0 {
		return nil
	}
	r := &Request{Op: SetWatches, Seen: h.seen}
	lists := [...]*[]string{dataWatch: &r.DataWatches, existWatch: &r.ExistWatches, childWatch: &r.ChildWatches}
	for _, w := range h.watches {
		paths := lists[w.kind]
		if !slices.Contains(*paths, w.path) {
			*paths = append(*paths, w.path)
		}
	}
	return r
}
