package servers

import (
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/trace"
)

// truth observes the object of a lock: who has written it last holds the lock, for as long as is written there.
type truth struct {
	*record.Succession
	key   string
	value string // of the object
}

// truths observes several locks, each by itself.
type truths []*truth

// Executed lets each see a request.
func (all truths) Executed(s *object.Server, r *object.Request, _ *object.Response, changed bool) {
	for _, t := range all {
		if r.Name == t.key || strings.HasPrefix(r.Name, t.key+"/") {
			t.executed(s.Node().Name, r, changed)
		}
	}
}

// executed sees a request. One that writes what is there already prolongs nothing: those who wait see no change.
func (t *truth) executed(node string, r *object.Request, changed bool) {
	if changed && r.Op == object.Put {
		changed, t.value = r.Value != t.value, r.Value
	}
	ends := trace.Never
	if r.Life > 0 {
		ends = t.Now().Add(time.Duration(r.Life))
	}
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
