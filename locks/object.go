package locks

import (
	"errors"
	"slices"
	"time"
)

// Objects is a client of an object store: versioned objects with conditional writes, such as S3, Google Cloud Storage, DynamoDB,
// or the Kubernetes API. A [Process] returns it by Other("object"). Each call takes at most timeout; 0 waits forever. If no answer arrived the
// error is ErrNotDone or ErrUnknown; other errors of the service come back as an *ObjectError.
type Objects interface {
	// Get returns an object; ErrNoObject if there is none.
	Get(timeout time.Duration, name string) (Object, error)
	// GetEventually is an eventually consistent Get, where a service has such reads: what it returns, ErrNoObject too, may be old.
	GetEventually(timeout time.Duration, name string) (Object, error)
	// Last returns the last object, in the order of names, whose name begins with a prefix; ErrNoObject if there is none.
	Last(timeout time.Duration, prefix string) (Object, error)
	// Put stores an object and returns it with its version; ErrObjectChanged if the condition does not hold, ErrNoObject if
	// there is none of which a version is demanded.
	Put(timeout time.Duration, o Object, w ObjectWrite) (Object, error)
	// Patch writes some members of an object, which is JSON and stands for metadata: its version stays. The errors are those of Put.
	Patch(timeout time.Duration, o Object, w ObjectWrite) (Object, error)
	// Delete removes an object; ErrNoObject and ErrObjectChanged as for Put.
	Delete(timeout time.Duration, name string, w ObjectWrite) error
	// Lease acquires, renews or releases the lease of w on an object, by w's purpose, for w.Life: ErrObjectLeased if another has one,
	// ErrLeaseLost if the lease is over, ErrNoObject.
	Lease(timeout time.Duration, name string, w ObjectWrite) error
	// GetLeased returns a member of an object, which is JSON, to a client that has a lease; ErrLeaseLost if it is over.
	GetLeased(timeout time.Duration, name, member, lease string) (Object, error)
}

// Object is an object as it was read or is to be written.
type Object struct {
	Name, Value string
	Version     uint64 // changes with every write
	Meta        uint64 // how often its metadata have been written since it was put, from 1 on
	Modified    Wall   // Last: when it was last written, in whole seconds of the service's clock
}

// ObjectWrite says on what condition a write is to be carried out, and for what.
type ObjectWrite struct {
	Purpose   string        // what it means to the lock: "acquire", "renew" or "release"
	Life      time.Duration // how long others must leave the object alone, as is written in it; 0: for good
	Until     Wall          // when that is over by their wall clocks, if the moment is written there rather than the length
	IfAbsent  bool          // only if there is no such object
	IfOver    Wall          // only if there is none, or the Until of its last put is no later than this; ErrObjectChanged
	Once      string        // names the write, so that a repetition is answered as the first one was; "": it is carried out again
	Lease     string        // only if this lease on the object stands, in services that have leases: else ErrLeaseLost
	IfVersion uint64        // only if the object has this version; 0: any
	IfMeta    uint64        // only if its metadata have been written so often; 0: any number of times
	IfValue   string        // only if the object has this value; "": any
	Majority  bool          // it is answered when a majority of the members of a replica set has it; else when the primary has
}

// The answers to conditional requests.
var (
	ErrNoObject      = errors.New("no such object")
	ErrObjectChanged = errors.New("the object has changed")
	ErrObjectLeased  = errors.New("the object is leased")
	ErrLeaseLost     = errors.New("the lease on the object is over")
)

// ObjectError is an error of the service, such as that it is overloaded. The request was not carried out.
type ObjectError struct{ Text string }

// Error returns the service's text.
func (e *ObjectError) Error() string { return e.Text }

// onObjects is what the locks on an object store share.
type onObjects struct {
	p       Process
	options Options
}

func newOnObjects(p Process, o Options) onObjects { return onObjects{p: p, options: o.withDefaults()} }

// at is a task's client of the store.
func (*onObjects) at(p Process) Objects { return p.Other("object").(Objects) }

// answered reports whether the service has said that a write was not carried out because of what is there.
func answered(err error) bool {
	return slices.ContainsFunc([]error{ErrNoObject, ErrObjectChanged, ErrObjectLeased, ErrLeaseLost}, func(of error) bool {
		return errors.Is(err, of)
	})
}
