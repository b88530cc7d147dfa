// Package object simulates an object store, as far as a lock can notice it: objects with versions, which are put and deleted
// on condition. So do S3 (since November 2024), Google Cloud Storage, the Kubernetes API and DynamoDB behind one address. As in Azure
// Blob Storage, an object can have a lease, which guards it; as in MongoDB, a document can be upserted on condition of a time in it.
// [NewReplicaSet] adds a replica set of MongoDB, member by member.
//
// Create a server with [New], and add it with sim.Engine.AddServer. It stands for a whole service, which has copied what it
// acknowledges: when it crashes it cannot be reached for a while, and has lost nothing.
//
// Left out: requests that take time within the service, and with them the 409 of S3 for two conditional writes at once, which a
// fault can inject; of Azure's leases, the bounds of their length (15 to 60 seconds, or none), so that locks can be compared with leases of the same length, and how
// they are broken.
//
// Reads are strongly consistent, as in S3 since December 2020, unless they are to be eventually consistent, as in DynamoDB those are that do not
// ask for more (GetItem, ConsistentRead).
//
// All of it follows the services' documentation. Compared with real servers are S3 and the leases of Kubernetes (TestS3AnswersAsMinIODoes and
// TestLeasesAreAnsweredAsByKubeAPIServer in internal/serve). The other services cannot be installed, and Debian has no package of MongoDB's server.
package object

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
)

// Observer sees the ground truth about a server's objects, which no client can see.
type Observer interface {
	// Executed is called after a request has been executed, with whether it has changed the object.
	Executed(s *Server, r *Request, a *Response, changed bool)
	// Lacks is called when the primary of a replica set has not got a write that was Executed.
	Lacks(primary *Server)
	// RolledBack is called when a member has rolled back a write that was Executed.
	RolledBack(s *Server)
}

// Server is an object store in the simulation.
type Server struct {
	// Staleness is how old what an eventually consistent read returns is; 0: up to a second, drawn for each.
	Staleness time.Duration

	node     *sim.Node
	observer Observer
	objects  []object    // by name
	once     []*Response // to writes that are carried out once
	last     uint64      // version: of all writes, each gets the next, as in etcd below the Kubernetes API
	past     []past      // what eventually consistent reads may still return
	stale    *sim.Rand
	journal
}

type object struct {
	name, value string
	version     uint64
	meta        uint64 // how often the metadata have been written
	modified    int64
	made        Made
	until       int64 // of the last put
	lease       lease
	by          *Request // which has put it last
}

// monotonic returns what the server's monotonic clock shows. A server that is on no node has none.
func (s *Server) monotonic() int64 {
	if s.node == nil {
		return 0
	}
	return s.node.Monotonic()
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
func (s *Server) Execute(conn *sim.Conn, p sim.Payload) sim.Payload {
	r := p.(*Request)
	answer := &Response{Request: r}
	if r.Watched {
		s.begin()
	}
	changed := false
	if r.Op == Watch {
		s.watch(conn, r, answer)
	} else {
		changed = s.onceOnly(r, answer)
	}
	if s.observer != nil {
		s.observer.Executed(s, r, answer, changed)
	}
	return answer
}

// onceOnly executes a request, unless it is a repetition of one that has been executed and is to be once.
func (s *Server) onceOnly(r *Request, a *Response) (changed bool) {
	if r.Once == "" {
		return s.execute(r, a)
	}
	if i := slices.IndexFunc(s.once, func(a *Response) bool { return a.Request.Once == r.Once }); i >= 0 {
		*a = *s.once[i]
		a.Request = r
		return false
	}
	changed = s.execute(r, a)
	if changed { // what was refused has no effect that could be doubled
		s.once = append(s.once, a)
	}
	return changed
}

func (s *Server) execute(r *Request, a *Response) (changed bool) {
	at, there := s.at(r.Name)
	if there {
		a.Made = s.objects[at].made
	}
	switch {
	case r.Eventual:
		s.recall(r, a)
	case r.Op == List:
		s.list(r, a, at)
	case r.When == IfItem && !r.Item.Holds(s.valueAt(at, there)):
		a.Result = Failed
	case r.When == IfAbsent && there, there && !s.objects[at].meets(r):
		if a.Result = Failed; r.When == IfOver || r.When == IfAbsent && r.Once != "" {
			a.Result = Duplicate
		}
		a.Found = s.objects[at].version
		if r.When == IfNotETag { // a read that brings nothing new tells what is not
			a.Value, a.Modified = s.objects[at].value, s.objects[at].modified
		}
	case !there && (r.Op != Put || r.When == IfVersion && !r.OrAbsent || r.When == IfMeta || r.When == IfETag):
		a.Result = NotFound
	case r.Op >= AcquireLease:
		a.Result = s.lend(&s.objects[at], r)
		return a.Result == OK
	case there && s.guard(&s.objects[at], r) != OK:
		a.Result = s.guard(&s.objects[at], r)
	case r.Op == Get:
		s.objects[at].show(r.Value, a)
	case r.Idle && there && s.objects[at].value == r.Value:
		s.objects[at].show("", a)
	case r.Op == Delete:
		s.remember(&s.objects[at])
		a.Removed = s.objects[at].by
		s.note(Deleted, &s.objects[at])
		s.objects = slices.Delete(s.objects, at, at+1)
		return true
	default:
		if !there {
			s.objects = slices.Insert(s.objects, at, object{name: r.Name})
		}
		s.remember(&s.objects[at])
		s.write(&s.objects[at], r, a)
		kind := Modified
		if o := &s.objects[at]; !there {
			kind, o.made = Added, Made{o.version, o.modified}
		}
		a.Made = s.objects[at].made
		s.note(kind, &s.objects[at])
		return true
	}
	return false
}

// meets reports whether the object is as a request demands.
func (o *object) meets(r *Request) bool {
	if r.UID != "" && r.UID != o.made.UID() {
		return false
	}
	switch r.When {
	case IfVersion:
		return o.version == r.Version
	case IfMeta:
		return o.meta == r.Meta && (r.Version == 0 || o.version == r.Version)
	case IfETag, IfNotETag:
		same := r.ETag == "*" || r.ETag == ETag(o.value)
		return same == (r.When == IfETag)
	case IfOver:
		return o.until <= r.Now
	default:
		return true
	}
}

// ETag is what S3 calls a value that is put in one request and not encrypted: its MD5 (API reference, Object).
func ETag(value string) string {
	sum := md5.Sum([]byte(value))
	return hex.EncodeToString(sum[:])
}

// show answers with the object, or with a member of its value.
func (o *object) show(member string, a *Response) {
	a.Value, a.Version, a.Meta, a.Modified = o.part(member), o.version, o.meta, o.modified
}

// part returns a member of an object's value, null if there is none, or all of it.
func (o *object) part(member string) string {
	if member == "" {
		return o.value
	}
	all := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(o.value), &all) != nil || all[member] == nil {
		return "null"
	}
	return string(all[member])
}

// write puts or patches the object.
func (s *Server) write(o *object, r *Request, a *Response) {
	if r.Op == Patch {
		o.value, o.meta = merged(o.value, r.Value), o.meta+1
	} else {
		s.last++
		value := r.Value
		if r.Item != nil {
			value = r.Item.Written(o.value)
		}
		o.value, o.version, o.meta, o.until, o.by = value, s.last, 1, r.Until, r
	}
	if !s.leased(o) {
		o.lease = lease{}
	}
	o.modified = s.wall() / int64(time.Second) * int64(time.Second)
	a.Version, a.Meta, a.Modified = o.version, o.meta, o.modified
}

// merged returns a JSON object with the members of another one in the place of its own. What is none is replaced.
func merged(old, members string) string {
	all := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(old), &all) != nil || json.Unmarshal([]byte(members), &all) != nil {
		return members
	}
	raw, err := json.Marshal(all) // in the order of names
	if err != nil {
		return members
	}
	return string(raw)
}

// Find returns an object as it is now, for observers; the version is 0 if there is none.
func (s *Server) Find(name string) (value string, version uint64) {
	at, there := s.at(name)
	if !there {
		return "", 0
	}
	return s.objects[at].value, s.objects[at].version
}

// By returns the request that has put an object last; nil if there is none.
func (s *Server) By(name string) *Request {
	at, there := s.at(name)
	if !there {
		return nil
	}
	return s.objects[at].by
}

// valueAt returns the value of an object; "" if it is not there.
func (s *Server) valueAt(at int, there bool) string {
	if !there {
		return ""
	}
	return s.objects[at].value
}

// at returns where an object is, or would be.
func (s *Server) at(name string) (at int, there bool) {
	return slices.BinarySearchFunc(s.objects, name, func(o object, name string) int { return strings.Compare(o.name, name) })
}

// list finds the last object whose name begins with the request's, or the first ones.
func (s *Server) list(r *Request, a *Response, first int) {
	if a.Result = NotFound; r.Most != 0 {
		a.Result, a.Found = OK, s.last
	}
	for _, o := range s.objects[first:] {
		switch {
		case !r.sees(o.name):
			return
		case r.Most == 0:
			a.Result, a.Name, a.Value, a.Version, a.Modified = OK, o.name, o.value, o.version, o.modified
		case o.name <= r.After:
		case len(a.All) == r.Most:
			a.More = true
			return
		default:
			a.All = append(a.All, o.listed())
		}
	}
}

// listed is the object in a list.
func (o *object) listed() Listed {
	return Listed{Name: o.name, Value: o.value, Modified: o.modified, Version: o.version, Made: o.made}
}

// Crash loses nothing but what is kept for watches.
func (s *Server) Crash(bool, string) { s.journal = journal{kept: s.kept, since: s.last} }

// Restart serves what was there.
func (*Server) Restart() {}
