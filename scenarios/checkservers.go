package scenarios

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/sim"
)

// refuseForeign refuses the fields of a mapping that mean something to servers of other kinds alone. An author
// who has mistaken the field, rather than the kind, is told what there is instead.
func refuseForeign[T any](a *audit, at string, m *mapping[T], instead string) {
	kind := a.Servers.Facts()
	for _, f := range m.fields {
		here := join(at, f.name)
		if _, set := a.source.places[here]; set && !f.knownTo(kind.Name) {
			a.report(here, "servers of the kind "+listing(f.kinds)+instead, "%s means nothing to %s", f.name, kind.Title)
		}
	}
}

func (a *audit) checkServers() {
	if !a.known.sound("servers") {
		return
	}
	s := &a.Servers
	instead := ""
	if known := serverFields.table().knownTo(s.Facts().Name); len(known) > 0 {
		instead = ", or one of " + listing(known)
	}
	refuseForeign(a, "servers", &serverFields, instead)
	shape := s.Shape()
	if n := shape.Count(); n > maxServers {
		a.report("servers", fmt.Sprintf("at most %d", maxServers), "%d servers, replicas and Sentinels together", n)
	}
	acks := 0
	if a.known.sound("lock") {
		acks = a.Lock.Acks
	}
	s.Backend().Check((*backend.Servers)(s), acks, a.report)
}

// checkLock refuses options of the lock that its servers do not know.
func (a *audit) checkLock() {
	if !a.known.sound("lock", "servers") {
		return
	}
	refuseForeign(a, "lock", &lockFields, "")
	if a.Lock.Renew > a.Lock.TTL {
		a.report("lock.renew", "a time up to "+Brief(a.Lock.TTL)+", the lock's ttl", "the lease is over before it is renewed")
	}
}

// isMasterAnyway reports whether a promotion has nothing to do: the server is a master when the run begins, and it
// is never replaced, so that clients know no other master either.
func (a *audit) isMasterAnyway(node string) bool {
	shape := a.Servers.Shape()
	if shape.Masters == 0 || shape.Watched {
		return false
	}
	master, role := a.Servers.Names()[0], a.Servers.Facts().Role
	return (node == master || node == role) && !slices.ContainsFunc(a.Faults, func(f sim.Fault) bool {
		return f.Action.Kind == sim.Promote && f.Action.Node != master && f.Action.Node != role
	})
}
