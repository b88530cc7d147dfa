package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// Kind says what has become of an object.
type Kind uint8

// The kinds of changes.
const (
	Added Kind = iota
	Modified
	Deleted
)

// Change is what has become of an object at a version: a deletion shows it as it was, but for its version.
type Change struct {
	Kind Kind
	Listed
}

// mostKept is how many changes a journal has. A real API server keeps 100 of each kind of objects, and more while they are younger than 75
// seconds (k8s.io/apiserver, pkg/storage/cacher/watch_cache_history.go).
const mostKept = 1_000

// journal is what has happened to the objects of a store, for those who watch them. It begins with the first request that wants one, so
// that it costs others nothing; a crash ends it, as a server that starts again only reads what is there.
type journal struct {
	kept    bool
	since   uint64   // after this version no change is missing
	changes []Change // the last ones, in the order of their versions
	watches []*watch
	news    *sim.Timer
}

// watch is a request that is told of changes until its time or its connection is over.
type watch struct {
	server  *Server
	conn    *sim.Conn
	request *Request
	after   uint64 // the version up to which it has been told
	timer   *sim.Timer
}

// begin begins a journal.
func (s *Server) begin() {
	if !s.kept {
		s.kept, s.since = true, s.last
	}
}

// note adds a change to the journal. With a journal, deletions have versions too.
func (s *Server) note(kind Kind, o *object) {
	if !s.kept {
		return
	}
	c := Change{kind, o.listed()}
	if kind == Deleted {
		s.last++
		c.Version = s.last
	}
	if len(s.changes) == mostKept {
		s.since = s.changes[0].Version
		s.changes = s.changes[1:]
	}
	s.changes = append(s.changes, c)
	if len(s.watches) > 0 { // they are told when this step is over
		s.news.Arm(false, s.node.Monotonic())
	}
}

// watch answers with the changes after a version, or with what is there, and has the client told of all that follow.
func (s *Server) watch(conn *sim.Conn, r *Request, a *Response) {
	w := &watch{server: s, conn: conn, request: r, after: r.Version}
	a.Begins = true
	switch {
	case r.Version == 0:
		for i := range s.objects {
			if o := &s.objects[i]; r.sees(o.name) {
				a.Changes = append(a.Changes, Change{Added, o.listed()})
			}
		}
		w.after = s.last
	case r.Version < s.since:
		a.Result, a.Value, a.Over = Refused, fmt.Sprintf("410 too old resource version: %d (%d)", r.Version, s.since), true
	default:
		a.Changes = w.missed()
	}
	a.Over = a.Over || r.Lasts < 0
	if a.Over || conn == nil {
		return
	}
	if r.Lasts > 0 {
		w.timer = s.node.NewTimer(alarm(w.end))
		w.timer.Arm(false, s.node.Monotonic()+int64(r.Lasts))
	}
	if s.news == nil {
		s.news = s.node.NewTimer(alarm(s.tell))
	}
	s.watches = append(s.watches, w)
}

// sees reports whether a request for several objects, or for one by its name, is for this one.
func (r *Request) sees(name string) bool {
	return name == r.Name || !r.One && strings.HasPrefix(name, r.Name)
}

// missed returns what a watch has not been told of yet.
func (w *watch) missed() (missed []Change) {
	all := w.server.changes
	from, _ := slices.BinarySearchFunc(all, w.after+1, func(c Change, version uint64) int { return cmp.Compare(c.Version, version) })
	for _, c := range all[from:] {
		if w.after = c.Version; w.request.sees(c.Name) {
			missed = append(missed, c)
		}
	}
	return missed
}

// tell tells all watches what has happened. One that is too far behind is ended, and has to ask for more. An answer can be what a fault
// waits for, so that the server may be dead after any of them.
func (s *Server) tell() {
	for _, w := range slices.Clone(s.watches) {
		if w.after < s.since {
			w.end()
			continue
		}
		for _, c := range w.missed() {
			w.conn.Reply(&Response{Request: w.request, Changes: []Change{c}})
		}
	}
}

// end ends a watch, and tells its client.
func (w *watch) end() {
	w.server.forget(func(other *watch) bool { return other == w })
	w.conn.Reply(&Response{Request: w.request, Over: true})
}

// forget ends watches without a word.
func (s *Server) forget(gone func(*watch) bool) {
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		if gone(w) && w.timer != nil {
			w.timer.Stop()
		}
		return gone(w)
	})
}

// Disconnected ends the watches of a connection.
func (s *Server) Disconnected(conn *sim.Conn) {
	s.forget(func(w *watch) bool { return w.conn == conn })
}
