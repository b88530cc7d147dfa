package locktest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/promise"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// RunProgram is [Run] for a lock that a program brings: the folder of a package of Go that imports package guest, or the name
// of a ready-made client, as package clients builds them. What is known of the lock is what its source declares in a comment
// //locksim:lock; nobody looks into the program. It is asked to survive, too (see [Survival]).
func RunProgram(t *testing.T, program string, o Options) {
	t.Helper()
	s, err := examineProgram(t.Context(), program, o)
	if err != nil {
		t.Fatal(err)
	}
	runSubject(t, s)
}

// CheckProgram is [Check] for a lock that a program brings.
func CheckProgram(program string, o Options) (*Finding, error) {
	s, err := examineProgram(context.Background(), program, o)
	if err != nil {
		return nil, err
	}
	return checkSubject(s)
}

// examineProgram builds a program, and takes its word for what its lock is like.
func examineProgram(ctx context.Context, program string, o Options) (*subject, error) {
	lock, err := clients.Build(ctx, program)
	if err != nil {
		return nil, err
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
