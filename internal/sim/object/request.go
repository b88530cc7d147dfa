package object

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Op is a request of an object store.
type Op uint8

// The requests that locks send.
const (
	Get          Op = iota // the object with its version
	List                   // the last name below a prefix, in the order of bytes; or the first ones, if Most says so
	Put                    // stores a value
	Delete                 // removes the object
	Patch                  // writes some members of a value, which is JSON; the version stays
	AcquireLease           // leases the object for a while, or until it is released
	RenewLease             // leases it again
	ReleaseLease           // ends the lease
	Watch                  // what becomes of objects, until its time or its connection is over
)

// When is the condition under which a request is carried out.
type When uint8

// The conditions.
const (
	Always    When = iota
	IfAbsent       // there is no such object: If-None-Match: *, ifGenerationMatch=0, a POST of Kubernetes
	IfVersion      // the object still has the version: If-Match, ifGenerationMatch, resourceVersion
	IfMeta         // its metadata have been written so often, and it has the version if one is given: ifMetagenerationMatch
	IfOver         // there is no such object, or its Until is no later than the request\'s Now: an upsert of MongoDB
	IfItem         // what the Item of the request says, such as that its record has a version: a condition of DynamoDB
	IfETag         // its content has the ETag of the request: If-Match of S3, whose versions follow from the content
	IfNotETag      // its content has another one: If-None-Match of a read of S3
)

// Item is a write of DynamoDB, whose condition and effect depend on the item that is there. A value of "" is none.
type Item interface {
	Holds(value string) bool     // the condition
	Written(value string) string // the item after a Put
	String() string              // all of it, for digests
}

// Request is a request on its way to a server. Each operation uses the fields that name it.
type Request struct {
	sim.Origin
	Op      Op
	When    When
	Name    string // of the object; List, Watch: the prefix, unless it is One
	Value   string // Put; Patch: the members; Get: the one member that is wanted, "" for all
	Version uint64 // IfVersion, perhaps IfMeta: what the object must still have; Watch: after which changes are told, 0: first what is there
	ETag    string // IfETag: what the object must still have, IfNotETag: must not have; "*" is any
	Most    int    // List: how many objects; 0: only the last
	After   string // List, with Most: the name after which they begin
	Meta    uint64 // IfMeta: how often its metadata must have been written
	Purpose string // the lock's purpose: "acquire", "renew", "release", "look"
	// Life is how long others leave the object alone that is put, in nanoseconds, by what is written in it; 0: for good.
	// No server looks at it, but at the length of a lease.
	Life int64
	// Until is when that is over by their wall clocks, if the moment is written there; 0: it is not.
	Until int64
	Now   int64 // IfOver: what the client's wall clock shows
	// Once names a write. A repetition is answered as the first one was, and not carried out again: MongoDB's retryable writes, which
	// have a session and a number. "": it may be.
	Once     string
	Item     Item // a write of DynamoDB; nil: it is none. Of a Put, Value is what it writes, for observers and readers
	Majority bool // a write of MongoDB with that write concern: it is answered when a majority of the members has it
	Eventual bool // Get: what is returned may be old
	// OrAbsent has an IfVersion hold of no object, too, which is made then. Idle has a Put of what is there write nothing: the object keeps
	// its version. UID is of the object that is meant, and of none that has been made since it was deleted; "": any. So it is in Kubernetes.
	OrAbsent, Idle bool
	UID            string
	Watched        bool          // of an API that has watches: what happens from now on is kept for them, and deletions have versions too
	One            bool          // List, Watch: only the object that has the name
	Lasts          time.Duration // Watch: after which it ends; 0: it does not
	Lease          string        // the lease that is to be acquired, renewed or released, or that guards the object; "": none
}

// What returns the request's name and its purpose.
func (r *Request) What() (what, alt string) {
	name := [...]string{Get: "get", List: "list", Put: "put", Delete: "delete", Patch: "patch",
		AcquireLease: "lease", RenewLease: "renew-lease", ReleaseLease: "release-lease", Watch: "watch"}[r.Op]
	return name + [...]string{Always: "", IfAbsent: "-if-absent", IfVersion: "-if-version", IfMeta: "-if-meta", IfOver: "-if-over", IfItem: "-if-version", IfETag: "-if-version", IfNotETag: "-if-other"}[r.When], r.Purpose
}

// Sum digests the request.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Op))
	d.Uint64(uint64(r.When))
	d.String(r.Name)
	d.String(r.Value)
	d.Uint64(r.Version)
	if r.When == IfMeta {
		d.Uint64(r.Meta)
	}
	if r.Lease != "" {
		d.String(r.Lease)
	}
	if r.When == IfETag || r.When == IfNotETag {
		d.String(r.ETag)
	}
	if r.Most != 0 {
		d.Uint64(uint64(r.Most))
		d.String(r.After)
	}
	if r.When == IfOver {
		d.Uint64(uint64(r.Now))
	}
	if r.Item != nil {
		d.String(r.Item.String())
	}
	if r.Majority {
		d.Uint64(1)
	}
	if r.Eventual {
		d.Uint64(2)
	}
	if r.OrAbsent {
		d.Uint64(3)
	}
	if r.UID != "" && r.When != IfVersion { // which only one object has had
		d.String(r.UID)
	}
	if r.One {
		d.Uint64(4)
	}
	if r.Op == Watch {
		d.Uint64(uint64(r.Lasts))
	}
	return d.Sum()
}

// String formats the request.
func (r *Request) String() string {
	text, _ := r.What()
	text += " " + r.Name
	if r.Version != 0 {
		text += fmt.Sprintf(" version %d", r.Version)
	}
	if r.When == IfMeta {
		text += fmt.Sprintf(" meta %d", r.Meta)
	}
	if r.Lease != "" {
		text += " lease " + r.Lease
	}
	if r.ETag != "" {
		text += " etag " + r.ETag
	}
	if r.Op == Put || r.Op == Patch || r.Value != "" {
		text += " " + r.Value
	}
	return text
}

// Result is the status of an answer.
type Result uint8

// The answers.
const (
	OK       Result = iota // done
	NotFound               // there is no such object
	Failed                 // the condition does not hold: another wrote first
	Refused                // another error
	// Of leases, as in Azure Blob Storage.
	Leased            // there is another's
	LeaseMismatch     // the lease is another's, or none, and cannot be renewed or released
	LeaseMissing      // the object has a lease, and the request shows none
	LeaseMismatchBlob // the object has another lease
	LeaseNotPresent   // the object has none
	LeaseLost         // the lease has expired
	Duplicate         // of MongoDB: there is such an object, and with IfOver it is not over
	NotPrimary        // the member of a replica set is not the primary; it has carried nothing out
	SteppedDown       // it was, and no longer is: what it has carried out may be rolled back
)

var results = []string{
	OK: "200 OK", NotFound: "404 Not Found", Failed: "412 Precondition Failed", Leased: "409 LeaseAlreadyPresent",
	LeaseMismatch: "409 LeaseIdMismatchWithLeaseOperation", LeaseMissing: "412 LeaseIdMissing",
	LeaseMismatchBlob: "412 LeaseIdMismatchWithBlobOperation", LeaseNotPresent: "412 LeaseNotPresentWithBlobOperation",
	LeaseLost: "412 LeaseLost", Duplicate: "E11000 duplicate key error",
	NotPrimary: "NotWritablePrimary", SteppedDown: "InterruptedDueToReplStateChange",
}

// Response is the answer to a request.
type Response struct {
	Request *Request
	Result  Result
	Name    string   // List: of the object
	Value   string   // Get: the object's; the text of what is Refused
	All     []Listed // List with Most: the objects
	More    bool     // List with Most: there are others after these
	Version uint64   // Get, Put, Patch: of the object
	Found   uint64   // of the object if it is not as the condition demands; List with Most: of the last write
	Meta    uint64   // Get, Put, Patch: how often the object's metadata have been written, from 1 on
	// Modified is when the object was last written, by the server's wall clock in nanoseconds since 1970. HTTP's dates have
	// whole seconds.
	Modified int64
	Done     trace.Instant // by a primary, which an observer is told of when a majority has it; 0: now
	Made     Made          // of the object that is there, or was deleted
	Removed  *Request      // Delete: which had put the object last
	Age      time.Duration // of an eventually consistent read: how old what it returns is
	Changes  []Change      // Watch: what has happened
	Begins   bool          // Watch: the first answer
	Over     bool          // Watch: the last one
}

// Made is how an object came to be: the version of the write that made it, and when that was, by the server's wall clock in nanoseconds
// since 1970, of which HTTP's dates have whole seconds.
type Made struct {
	Version uint64
	At      int64
}

// UID is what Kubernetes calls this object, and none that is made after it by the same name; "" if there is none.
func (m Made) UID() string {
	if m.Version == 0 {
		return ""
	}
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", m.Version)
}

// Listed is an object in a list.
type Listed struct {
	Name, Value string
	Modified    int64
	Version     uint64
	Made        Made
}

// What returns the name and purpose of the request that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum digests the answer.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Result))
	d.String(r.Name)
	d.String(r.Value)
	d.Uint64(r.Version)
	if r.Meta > 1 { // the version tells of the first time
		d.Uint64(r.Meta)
	}
	if r.Request.Op == List { // S3 tells it with every answer, but here nobody looks at that of others
		d.Uint64(uint64(r.Modified))
	}
	for _, o := range r.All {
		d.String(o.Name)
		d.String(o.Value)
		d.Uint64(uint64(o.Modified))
	}
	for _, c := range r.Changes {
		d.Uint64(uint64(c.Kind))
		d.String(c.Name)
		d.String(c.Value)
		d.Uint64(c.Version)
	}
	if r.Over {
		d.Uint64(1)
	}
	return d.Sum()
}

// String shows the answer to a reader.
func (r *Response) String() string {
	switch {
	case r.Result == Refused:
		return r.Value
	case r.Request.Op == Watch:
		return r.watched()
	case r.Result != OK || r.Request.Op == Delete || r.Request.Op >= AcquireLease:
		return results[r.Result]
	case r.Request.Most != 0:
		return fmt.Sprintf("%s %d objects", results[OK], len(r.All))
	case r.Request.Op == List:
		return results[OK] + " " + r.Name + " of " + time.Unix(0, r.Modified).UTC().Format(time.TimeOnly)
	}
	text := fmt.Sprintf("%s version %d", results[OK], r.Version)
	if r.Request.Eventual {
		text += fmt.Sprintf(" of %v ago", r.Age)
	}
	if r.Meta > 1 {
		text += fmt.Sprintf(" meta %d", r.Meta)
	}
	if r.Request.Op == Get {
		text += " " + r.Value
	}
	return text
}

// watched shows an answer to a watch.
func (r *Response) watched() string {
	text := results[OK]
	for _, c := range r.Changes {
		text += fmt.Sprintf(" %s %s version %d", [...]string{Added: "added", Modified: "modified", Deleted: "deleted"}[c.Kind], c.Name, c.Version)
	}
	if r.Over {
		text += " over"
	}
	return text
}

// ErrorResponse answers a request with an error, for faults that inject one. A text that is the status of an answer, as
// "412 Precondition Failed", is that answer.
func ErrorResponse(p sim.Payload, text string) sim.Payload {
	r, ok := p.(*Request)
	if !ok {
		return nil
	}
	answer := &Response{Request: r, Result: Refused, Value: text}
	if i := slices.Index(results, text); i > int(OK) {
		answer.Result, answer.Value = Result(i), ""
	}
	return answer
}
