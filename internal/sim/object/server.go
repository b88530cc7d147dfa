// Package object simulates an object store, as far as a lock can notice it: objects with versions, which are put and deleted
// on condition. So do S3 (since November 2024), Google Cloud Storage, the Kubernetes API and DynamoDB behind one address.
//
// Create a server with [New], and add it with sim.Engine.AddServer. It stands for a whole service, which has copied what it
// acknowledges: when it crashes it cannot be reached for a while, and has lost nothing.
//
// Left out: requests that take time within the service, and with them the 409 of S3 for two conditional writes at once, which a
// fault can inject; versions that follow from the content, such as S3's ETag (locks write something new every time); reads that
// are eventually consistent, which S3 no longer has since 2020; deletion by time.
package object

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
)

// Observer sees the ground truth about a server's objects, which no client can see.
type Observer interface {
	// Executed is called after a request has been executed, with whether it has changed the object.
	Executed(s *Server, r *Request, a *Response, changed bool)
}

// Server is an object store in the simulation.
type Server struct {
	node     *sim.Node
	observer Observer
	objects  []object // by name
	last     uint64   // version: of all writes, each gets the next, as in etcd below the Kubernetes API
}

type object struct {
	name, value string
	version     uint64
	modified    int64
}

// wall returns what the server's wall clock shows. A server that is on no node has none.
func (s *Server) wall() int64 {
	if s.node == nil {
		return 0
	}
	return s.node.Wall()
}

// New returns a server without objects. The observer may be nil.
func New(o Observer) *Server { return &Server{observer: o} }

// Attach tells the server which node it runs on.
func (s *Server) Attach(n *sim.Node) { s.node = n }

// Node returns the node that the server runs on.
func (s *Server) Node() *sim.Node { return s.node }

// Execute executes a *Request at one instant, and returns its *Response.
func (s *Server) Execute(_ *sim.Conn, p sim.Payload) sim.Payload {
	r := p.(*Request)
	answer := &Response{Request: r}
	changed := s.execute(r, answer)
	if s.observer != nil {
		s.observer.Executed(s, r, answer, changed)
	}
	return answer
}

func (s *Server) execute(r *Request, a *Response) (changed bool) {
	at, there := slices.BinarySearchFunc(s.objects, r.Name, func(o object, name string) int { return strings.Compare(o.name, name) })
	switch {
	case r.Op == List:
		s.list(r, a, at)
	case r.When == IfAbsent && there, r.When == IfVersion && there && s.objects[at].version != r.Version:
		a.Result = Failed
	case !there && (r.Op != Put || r.When == IfVersion):
		a.Result = NotFound
	case r.Op == Get:
		a.Value, a.Version = s.objects[at].value, s.objects[at].version
	case r.Op == Delete:
		s.objects = slices.Delete(s.objects, at, at+1)
		return true
	default:
		if !there {
			s.objects = slices.Insert(s.objects, at, object{name: r.Name})
		}
		s.last++
		s.objects[at].value, s.objects[at].version, a.Version = r.Value, s.last, s.last
		s.objects[at].modified = s.wall() / int64(time.Second) * int64(time.Second)
		a.Modified = s.objects[at].modified
		return true
	}
	return false
}

// list finds the last object whose name begins with the request's.
func (s *Server) list(r *Request, a *Response, first int) {
	a.Result = NotFound
	for _, o := range s.objects[first:] {
		if !strings.HasPrefix(o.name, r.Name) {
			break
		}
		a.Result, a.Name, a.Value, a.Version, a.Modified = OK, o.name, o.value, o.version, o.modified
	}
}

// Crash loses nothing.
func (*Server) Crash(bool, string) {}

// Restart serves what was there.
func (*Server) Restart() {}
