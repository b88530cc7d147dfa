package servers

import (
	"time"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// clientPort is that of a client's connection, without TLS.
const clientPort = 80

// Talk begins a conversation in the API that the client speaks.
func (*service) Talk(*sim.Node) wire.Conversation { return wire.ObjectStore() }

// Stamp sets the origin of a request, and what it is for by the lease or item that it writes: a lease without a holder is a release.
// S3's front has said what a file is for: one that is put by a client that does not ask for the lock renews, and one that is deleted by a client
// that asks was taken for left.
func (s *service) Stamp(request sim.Payload, from sim.Origin) {
	r := request.(*object.Request)
	r.Origin = from
	switch {
	case r.Purpose == trace.ToAcquire && !r.Asking:
		r.Purpose = trace.ToRenew
	case r.Purpose == trace.ToRelease && r.Asking:
		r.Purpose = clear
	}
	if r.Purpose != "" {
		r.Until = wire.FileEnds(r.Value)
		return
	}
	r.Purpose = trace.ToLook
	if r.Op == object.Delete {
		r.Purpose = trace.ToRelease
	}
	if r.Op != object.Put {
		return
	}
	if r.Item != nil {
		stampItem(r)
		return
	}
	lease := wire.LeaseIn(r.Value)
	r.Purpose = s.purposeOf(r, lease.Holder)
	if lease.Holder != "" && lease.Seconds != nil {
		r.Life = int64(*lease.Seconds) * int64(time.Second)
	}
}

// purposeOf is what a holder's name is written for. Who writes its own name again renews. If another lease is there by now
// nothing will be written, and the writer renews that is not asking for the lock.
func (s *service) purposeOf(r *object.Request, holder string) string {
	value, version := s.server.Find(r.Name)
	switch {
	case holder == "":
		return trace.ToRelease
	case r.When == object.IfVersion && r.Version == version && wire.LeaseIn(value).Holder == holder,
		r.When == object.IfVersion && r.Version != version && !r.Asking:
		return trace.ToRenew
	default:
		return trace.ToAcquire
	}
}

// stampItem says what a write of DynamoDB is for: who writes an owner acquires, and a new version without one is a heartbeat.
func stampItem(r *object.Request) {
	item := wire.ItemIn(r.Value)
	switch {
	case item.Released:
		r.Purpose = trace.ToRelease
		return
	case item.Owner != "":
		r.Purpose = trace.ToAcquire
	default:
		r.Purpose = trace.ToRenew
	}
	r.Life = int64(item.Life)
}
