package search

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// InDanger reports whether a run put a property at risk, given how the resource defended itself. One that takes every
// access is at risk whenever its lock is: an access that came too late would not be the danger, it would be the damage.
func InDanger(p checker.Property, fencing history.Fencing, r *checker.Report) bool {
	if p == checker.Resource && fencing == history.Unfenced {
		return r.Dangers[checker.MutualExclusion] > 0
	}
	return r.Dangers[p] > 0
}
