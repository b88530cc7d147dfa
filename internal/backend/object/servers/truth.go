package servers

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes the object of a lock: who has written it last holds the lock, for as long as is written there. If a lock makes
// objects below its name, that is the last of them: older ones may still be written, which changes nothing.
type truth struct {
	*record.Succession
	world simulated.World
	key   string
	name  string // of the object
	value string // of the object
	put   struct {
		value string
		ends  trace.Instant
	} // what has last been put there, even if it has been deleted since
}

// access is the purpose of a client that reads or writes data which the lock's object contains.
const access = "access"

// settle notes what the service has decided on an access to data that it guards.
func (t *truth) settle(r *object.Request, a *object.Response) {
	version := uint64(0)
	if r.Op == object.Get {
		version, _ = strconv.ParseUint(a.Value, 10, 64) // a register that nobody has written is null
	}
	t.world.Recorder().Settled(r.Access, a.Result == object.OK, version)
}

// clear is the purpose of a client that waits, and deletes an object that it takes for left.
const clear = "clear"

// truths observes several locks, each by itself.
type truths []*truth

// Executed lets each see a request.
func (all truths) Executed(s *object.Server, r *object.Request, a *object.Response, changed bool) {
	for _, t := range all {
		if r.Name == t.key || strings.HasPrefix(r.Name, t.key+"/") {
			t.executed(s.Node(), r, a, changed && !late(s, r))
		}
	}
}

// Lacks lets each look at what the new primary has.
func (all truths) Lacks(s *object.Server) {
	for _, t := range all {
		by := s.By(t.key)
		if by != nil && t.Holder() == history.ID(by.Tag) {
			continue
		}
		t.Superseded()
		if by != nil {
			t.Back(s.Node().Name, by.Origin)
			t.Expires(trace.Instant(by.Until - sim.Epoch))
		}
	}
}

// RolledBack lets each see that a member has given up what it had.
func (all truths) RolledBack(s *object.Server) {
	for _, t := range all {
		t.Discarded(s.Node().Name)
	}
}

// late reports whether a request that has been executed is a heartbeat of DynamoDB's clients that came after the release: the item has
// another version, and is still marked as released.
func late(s *object.Server, r *object.Request) bool {
	value, _ := s.Find(r.Name)
	return r.Item != nil && r.Purpose == trace.ToRenew && wire.ItemIn(value).Released
}

// executed sees a request. One that writes what is there already prolongs nothing: those who wait see no change, but of objects
// below the lock's name, where they look at the time of the last write.
func (t *truth) executed(n *sim.Node, r *object.Request, a *object.Response, changed bool) {
	node := n.Name
	switch {
	case changed && r.Op == object.Delete && r.Name == t.key:
		t.value = ""
	case !changed || r.Op != object.Put && r.Op != object.Patch:
	case r.Name == t.key:
		changed, t.value = r.Value != t.value || r.When == object.IfAbsent, r.Value // a file on S3 may be empty
	case r.Name < t.name:
		changed = false
	default:
		t.name = r.Name
	}
	ends := t.ends(n, r, a)
	if changed && r.Op == object.Put && r.Name == t.key {
		if r.Life != 0 && r.Value == t.put.value { // late, after its deletion: those who wait have counted since they saw it first
			ends = min(ends, t.put.ends)
		}
		t.put.value, t.put.ends = r.Value, ends
	}
	took := r.Purpose == trace.ToAcquire && changed
	switch {
	case r.Purpose == access:
		t.settle(r, a)
	case took && r.Op == object.AcquireLease && t.Holder() == history.ID(r.Tag): // an attempt whose answer was lost, again
		t.Prolonged(node, r.Origin, ends)
	case took || r.Purpose == trace.ToRenew && r.Op == object.Put && changed && !t.SameOwner(t.Holder(), history.ID(r.Tag)):
		t.Took(node, r.Origin, ends)
	case r.Purpose == trace.ToRenew && changed:
		t.Prolonged(node, r.Origin, ends)
	case r.Purpose == object.ToExpire && t.Holder() == history.ID(r.Tag):
		t.Forgot(history.Expired)
	case r.Purpose == trace.ToRelease && changed && r.Once != "" && a.Removed != nil && history.ID(a.Removed.Tag) != t.Holder():
		t.Released(node, r.Origin, 0) // another primary has made another client the holder
	case r.Purpose == trace.ToRelease && changed:
		t.Released(node, r.Origin, t.Holder())
	case r.Purpose == trace.ToRelease:
		t.Released(node, r.Origin, 0)
	case r.Purpose == clear && changed && t.SameOwner(t.Holder(), history.ID(r.Tag)): // left of an earlier attempt of its own
		t.Released(node, r.Origin, t.Holder())
	case r.Purpose == clear && changed: // nobody's grant ends by that, if it is not over
		t.Forgot(history.Deleted)
	}
	if took || r.Asking && (r.Purpose == trace.ToAcquire || r.Purpose == trace.ToLook) {
		t.Asked(node, r.Origin, took)
	}
}

// ends returns until when others leave the object alone that a request writes, in true time if their clocks show it.
func (t *truth) ends(n *sim.Node, r *object.Request, a *object.Response) trace.Instant {
	switch {
	case r.Until != 0:
		return max(trace.Instant(r.Until-sim.Epoch), t.Now())
	case r.Life == 0:
		return trace.Never
	case r.Name != t.key && a.Result == object.OK: // counted from the time of the last write
		return t.Now().Add(time.Duration(r.Life - (n.Wall() - a.Modified)))
	default: // others may have seen it before a majority had it
		return max(cmp.Or(a.Done, t.Now()).Add(time.Duration(r.Life)), t.Now())
	}
}
