package history

import "github.com/locksim/locksim/trace"

// Holder returns the client that last acquired the lock and still believes to hold it; "" if none does.
func Holder(list []Acquisition) string {
	last := -1
	for i := range list {
		a := &list[i]
		if a.Outcome != OK || a.Unlocked != trace.Never || a.Crashed != trace.Never {
			continue
		}
		if last < 0 || a.Returned >= list[last].Returned {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	return list[last].Client
}
