package explore

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// stake returns until when somebody can be harmed in a run: until the last client that lives calls its last release, the
// last access has been carried out, and nobody is granted the lock any more. What goes wrong after that finds one
// client that lets go, and nobody who holds, waits or will ask.
func (m *model) stake(h *history.History) trace.Instant {
	if !h.Quiescent || slices.Max(m.comeback) > 0 { // some have not ended, or may come back
		return trace.Never
	}
	last := trace.Instant(0)
	for i := range h.Waits {
		last = max(last, h.Waits[i].To)
	}
	for i := range h.Acquisitions {
		if a := &h.Acquisitions[i]; a.Outcome == history.OK {
			last = max(last, min(a.Unlocked, a.Crashed))
		}
	}
	for i := range h.Accesses {
		last = max(last, min(h.Accesses[i].Applied, h.Accesses[i].Returned))
	}
	for i := range h.Grants {
		last = max(last, h.Grants[i].From)
	}
	return last
}
