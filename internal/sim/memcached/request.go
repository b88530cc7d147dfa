package memcached

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Op is a command of the text protocol.
type Op uint8

// The commands that locks use.
const (
	Get     Op = iota // the value
	Gets              // the value and its CAS id
	Add               // stores unless there is an item
	Set               // stores
	CAS               // stores if the item still has the CAS id
	Delete            // removes the item, regardless of its value
	Touch             // gives the item another exptime
	Replace           // stores if there is an item
	Incr              // adds to an item that is a number
	Decr              // subtracts from it, down to 0
	Other             // is answered with its value: the request needs no server, but its answer has a place among the others
	opCount
)

var opNames = [opCount]string{"get", "gets", "add", "set", "cas", "delete", "touch", "replace", "incr", "decr", "other"}

// String returns the command's word.
func (o Op) String() string { return opNames[o] }

// stores reports whether the command carries a value.
func (o Op) stores() bool { return o == Add || o == Set || o == CAS || o == Replace }

// Request is a command on its way to a server. Each operation uses the fields that name it.
type Request struct {
	sim.Origin
	Op      Op
	Key     string
	Value   string // Add, Set, CAS, Replace; the answer to Other
	Flags   uint32 // Add, Set, CAS, Replace: the client's own, kept with the value
	Exptime int64  // Add, Set, CAS, Replace, Touch: life in seconds; 0: no end, negative: already over
	Delta   uint64 // Incr, Decr
	CAS     uint64 // CAS: the id that the item must still have
	Purpose string // the lock's purpose: "acquire", "renew", "release"; "" unknown
}

// What returns the command's name and its purpose.
func (r *Request) What() (what, alt string) { return r.Op.String(), r.Purpose }

// Sum digests the command.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Op))
	d.String(r.Key)
	d.String(r.Value)
	d.Uint64(uint64(r.Exptime))
	d.Uint64(r.CAS)
	if r.Flags != 0 || r.Delta != 0 {
		d.Uint64(uint64(r.Flags))
		d.Uint64(r.Delta)
	}
	return d.Sum()
}

// String formats the command; words of the text protocol that carry no information here are left out.
func (r *Request) String() string {
	text := r.Op.String() + " " + r.Key
	if r.Op.stores() {
		text += " " + r.Value
	}
	if r.Op.stores() || r.Op == Touch {
		text += fmt.Sprintf(" %d", r.Exptime)
	}
	switch r.Op {
	case CAS:
		text += fmt.Sprintf(" cas %d", r.CAS)
	case Incr, Decr:
		text += fmt.Sprintf(" %d", r.Delta)
	default:
	}
	return text
}

// Result is the first word of an answer.
type Result uint8

// The answers of the text protocol (doc/protocol.txt).
const (
	Miss      Result = iota // END without a VALUE before it
	Hit                     // VALUE
	Stored                  // done
	NotStored               // Add: there is an item; Replace: there is none
	Exists                  // CAS: the item has changed
	NotFound                // CAS, Delete, Touch, Incr, Decr: there is no item
	Deleted                 // done
	Touched                 // done
	Failed                  // ERROR, CLIENT_ERROR or SERVER_ERROR
	Counted                 // Incr, Decr: the new number
	Told                    // Other: its answer
	resultCount
)

var resultNames = [resultCount]string{
	"END", "VALUE", "STORED", "NOT_STORED", "EXISTS", "NOT_FOUND", "DELETED", "TOUCHED", "ERROR", "", "",
}

// String returns the word of the protocol.
func (r Result) String() string { return resultNames[r] }

// Response is the answer to a request.
type Response struct {
	Request *Request
	Result  Result
	Value   string // of a Hit, Counted and Told; the text of what has Failed
	Flags   uint32 // of a Hit
	CAS     uint64 // of a Hit that answers Gets
}

// What returns the name and purpose of the command that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum digests the answer.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(r.Result))
	d.String(r.Value)
	d.Uint64(r.CAS)
	if r.Flags != 0 {
		d.Uint64(uint64(r.Flags))
	}
	return d.Sum()
}

// String shows the answer to a reader.
func (r *Response) String() string {
	switch {
	case r.Result >= Failed:
		return r.Value
	case r.Result == Hit && r.Request.Op == Gets:
		return fmt.Sprintf("%v %s cas %d", r.Result, r.Value, r.CAS)
	case r.Result == Hit:
		return r.Result.String() + " " + r.Value
	default:
		return r.Result.String()
	}
}

// ErrorResponse answers a request with an error, for faults that inject one. A text that is the word of an answer, as
// NOT_STORED, is that answer.
func ErrorResponse(request sim.Payload, text string) sim.Payload {
	answer := &Response{Request: request.(*Request), Result: Failed, Value: text}
	if i := slices.Index(resultNames[:Failed], text); i >= 0 && Result(i) != Hit {
		answer.Result, answer.Value = Result(i), ""
	}
	return answer
}
