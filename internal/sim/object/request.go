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
	Get    Op = iota // the object with its version
	List             // the last name below a prefix, in the order of bytes
	Put              // stores a value
	Delete           // removes the object
)

// When is the condition under which a Put or a Delete is carried out.
type When uint8

// The conditions.
const (
	Always    When = iota
	IfAbsent       // there is no such object: If-None-Match: *, ifGenerationMatch=0, a POST of Kubernetes
	IfVersion      // the object still has the version: If-Match, ifGenerationMatch, resourceVersion
)

// Request is a request on its way to a server. Each operation uses the fields that name it.
type Request struct {
	sim.Origin
	Op      Op
	When    When
	Name    string // of the object; List: the prefix
	Value   string // Put
	Version uint64 // IfVersion: what the object must still have
	Purpose string // the lock's purpose: "acquire", "renew", "release", "look"
	// Life is how long others leave the object alone that is put, in nanoseconds, by what is written in it; 0: for good.
	// No server looks at it.
	Life int64
	// Until is when that is over by their wall clocks, if the moment is written there; 0: it is not.
	Until int64
}

// What returns the request's name and its purpose.
func (r *Request) What() (what, alt string) {
	name := [...]string{Get: "get", List: "list", Put: "put", Delete: "delete"}[r.Op]
	return name + [...]string{Always: "", IfAbsent: "-if-absent", IfVersion: "-if-version"}[r.When], r.Purpose
}

// Sum digests the request.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Op))
	d.Uint64(uint64(r.When))
	d.String(r.Name)
	d.String(r.Value)
	d.Uint64(r.Version)
	return d.Sum()
}

// String formats the request.
func (r *Request) String() string {
	text, _ := r.What()
	text += " " + r.Name
	if r.When == IfVersion {
		text += fmt.Sprintf(" version %d", r.Version)
	}
	if r.Op == Put {
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
)

var results = []string{OK: "200 OK", NotFound: "404 Not Found", Failed: "412 Precondition Failed"}

// Response is the answer to a request.
type Response struct {
	Request *Request
	Result  Result
	Name    string // List: of the object
	Value   string // Get: the object's; the text of what is Refused
	Version uint64 // Get, Put: of the object
	// Modified is when the object was last written, by the server's wall clock in nanoseconds since 1970. HTTP's dates have
	// whole seconds.
	Modified int64
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
	if r.Request.Op == List { // S3 tells it with every answer, but here nobody looks at that of others
		d.Uint64(uint64(r.Modified))
	}
	return d.Sum()
}

// String shows the answer to a reader.
func (r *Response) String() string {
	switch {
	case r.Result == Refused:
		return r.Value
	case r.Result != OK || r.Request.Op == Delete:
		return results[r.Result]
	case r.Request.Op == List:
		return results[OK] + " " + r.Name + " of " + time.Unix(0, r.Modified).UTC().Format(time.TimeOnly)
	case r.Request.Op == Get:
		return fmt.Sprintf("%s version %d %s", results[OK], r.Version, r.Value)
	default:
		return fmt.Sprintf("%s version %d", results[OK], r.Version)
	}
}

// ErrorResponse answers a request with an error, for faults that inject one. A text that is the status of an answer, as
// "412 Precondition Failed", is that answer.
func ErrorResponse(request sim.Payload, text string) sim.Payload {
	answer := &Response{Request: request.(*Request), Result: Refused, Value: text}
	if i := slices.Index(results, text); i > int(OK) {
		answer.Result, answer.Value = Result(i), ""
	}
	return answer
}
