package servers

import (
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes the object of a lock: who has written it last holds the lock, for as long as is written there. If a lock makes
// objects below its name, that is the last of them: older ones may still be written, which changes nothing.
type truth struct {
	*record.Succession
	key   string
	name  string // of the object
	value string // of the object
}

// truths observes several locks, each by itself.
type truths []*truth

// Executed lets each see a request.
func (all truths) Executed(s *object.Server, r *object.Request, a *object.Response, changed bool) {
	for _, t := range all {
		if r.Name == t.key || strings.HasPrefix(r.Name, t.key+"/") {
			t.executed(s.Node(), r, a, changed)
		}
	}
}

// executed sees a request. One that writes what is there already prolongs nothing: those who wait see no change, but of objects
// below the lock's name, where they look at the time of the last write.
func (t *truth) executed(n *sim.Node, r *object.Request, a *object.Response, changed bool) {
	node := n.Name
	switch {
	case !changed || r.Op != object.Put:
	case r.Name == t.key:
		changed, t.value = r.Value != t.value, r.Value
	case r.Name < t.name:
		changed = false
	default:
		t.name = r.Name
	}
	ends := t.ends(n, r, a)
	took := r.Purpose == trace.ToAcquire && changed
	switch {
	case took || r.Purpose == trace.ToRenew && changed && !t.SameOwner(t.Holder(), history.ID(r.Tag)):
		t.Took(node, r.Origin, ends)
	case r.Purpose == trace.ToRenew && changed:
		t.Prolonged(node, r.Origin, ends)
	case r.Purpose == trace.ToRelease && changed:
		t.Released(node, r.Origin, t.Holder())
	case r.Purpose == trace.ToRelease:
		t.Released(node, r.Origin, 0)
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
	default:
		return t.Now().Add(time.Duration(r.Life))
	}
}
