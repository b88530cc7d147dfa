package locktest

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/promise"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// RunProgram is [Run] for a lock that a guest program brings, as clients.Build returns it for the folder of a package of Go
// that imports package guest, or for the name of a ready-made client. What is known of the lock is what its source declares in
// a comment //locksim:lock; nobody looks into the program. It is asked to survive, too (see [Survival]).
func RunProgram(t *testing.T, lock locks.Algorithm, o Options) {
	t.Helper()
	s, err := examineProgram(lock, o)
	if err != nil {
		t.Fatal(err)
	}
	runSubject(t, s)
}

// CheckProgram is [Check] for a lock that a guest program brings.
func CheckProgram(lock locks.Algorithm, o Options) (*Finding, error) {
	s, err := examineProgram(lock, o)
	if err != nil {
		return nil, err
	}
	return checkSubject(s)
}

// examineProgram takes a program's word for what its lock is like.
func examineProgram(lock locks.Algorithm, o Options) (*subject, error) {
	if lock.Program == nil {
		return nil, errNoProgram
	}
	if o.Name == "" {
		o.Name = lock.Name
	}
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	s := declared(lock, o)
	if err := search.Rehearse(s.Plain(), s.played()); err != nil {
		return nil, err
	}
	return s, nil
}

var errNoProgram = errors.New("locktest: the lock has no Program; clients.Build returns one that has, and Run tests others")

// usualTTL is the life of a lease or a session unless it is told.
const usualTTL = 10 * time.Second

// halfway is when locks that renew their leases do so, in percent of the lease, unless it is told.
const halfway = 50

// declared is a lock of which all is known that its program declares.
func declared(lock locks.Algorithm, o Options) *subject {
	lock.Name, lock.Servers = o.Name, lock.Backend()
	s := &subject{options: o, Subject: promise.Subject{
		Algorithm: lock, TTL: cmp.Or(o.TTL, usualTTL), Renews: lock.Renews, Margin: halfway,
		Deadline: lock.Deadline != locks.NoClock, Notice: lock.Renews, Lost: lock.Renews, Fresh: true,
	}}
	s.Expires = lock.Lease && !s.InSession()
	if s.Deploy(); s.Masters != nil && len(o.Masters) > 0 {
		s.Masters = slices.Clone(o.Masters)
	}
	return s
}
