package servers

import (
	"slices"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// etcdService is an etcd cluster, which programs can talk to.
type etcdService struct{ *service }

// etcdPort is that of clients.
const etcdPort = 2379

// Talk begins a conversation with etcd, by gRPC or with its gateway.
func (*etcdService) Talk(*sim.Node) wire.Conversation { return wire.Etcd() }

// Stamp sets the origin of a request, and what it is for: a write of a lock's key asks for the lock, its deletion releases it.
func (s *etcdService) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*lease.Request)
	r.Origin, r.Purpose = from, s.purpose(r)
}

func (s *etcdService) purpose(r *lease.Request) string {
	concerns := func(name func(*truth) bool) bool { return slices.ContainsFunc(s.locks, name) }
	switch r.Op {
	case lease.Put:
		if concerns(func(l *truth) bool { return l.isEntry(r.Key) }) {
			return trace.ToAcquire
		}
	case lease.DeleteRange, lease.Unlock:
		if concerns(func(l *truth) bool { return l.isEntry(r.Key) || lease.Between(l.key+"/", r.Key, r.Etcd.End) }) {
			return trace.ToRelease
		}
	case lease.Lock:
		if concerns(func(l *truth) bool { return l.key == r.Key }) {
			return trace.ToAcquire
		}
	case lease.Range, lease.Watch:
		return trace.ToLook
	case lease.LeaseKeepAlive:
		return trace.ToRenew
	case lease.Txn:
		return s.purposeOfTxn(r)
	default:
	}
	return ""
}

// purposeOfTxn is that of the first operation that writes; a transaction without one looks.
func (s *etcdService) purposeOfTxn(r *lease.Request) string {
	purpose := trace.ToLook
	for _, ops := range [...][]lease.Request{r.Then, r.Else} {
		for i := range ops {
			if own := s.purpose(&ops[i]); own != trace.ToLook {
				return own
			}
		}
	}
	return purpose
}
