package checker

import (
	"fmt"

	"github.com/locksim/locksim/history"
)

// Release safety: no executed release ended another acquisition's grant, nor a later grant of its own acquisition
// than the one it was sent for. A key that is removed when nothing is promised to its owner any more ends no grant, and nor
// does one that a later try left behind, once Lock has returned without the lock.
// A release is in danger of that only if it was executed where somebody else had the lock at that moment.

func (j *judge) releaseSafety() {
	if j.passUnobserved(ReleaseSafety) {
		return
	}
	violated, dangers := false, 0
	for i := range j.h.Removals {
		r := &j.h.Removals[i]
		if r.Exposed || r.Ended != 0 {
			dangers++
		}
		if r.Ended != 0 && !j.promiseOver(r) {
			violated = true
			j.tellMisdelete(r)
		}
	}
	j.conclude(ReleaseSafety, violated, dangers)
}

func (j *judge) tellMisdelete(r *history.Removal) {
	b := j.breachOfRelease(r)
	v := Violation{
		Property:     ReleaseSafety,
		Kind:         "released another's lock",
		At:           r.At,
		Acquisitions: []history.ID{r.By, r.Ended},
		Text: fmt.Sprintf("a release by %s, executed by %s at %s, ended the grant of %s%s",
			j.name(r.By), r.Node, r.At, j.name(r.Ended), b),
	}
	v.blame(b)
	switch {
	case r.Shortened:
		v.Kind = "shortened another's lock"
		v.Text = fmt.Sprintf("a request of %s, executed by %s at %s, gave the lock of %s an earlier end%s",
			j.name(r.By), r.Node, r.At, j.name(r.Ended), b)
	case r.Again:
		v.Kind = "released a later try"
		v.Acquisitions = []history.ID{r.By}
		v.Text = fmt.Sprintf("a late release by %s, executed by %s at %s, ended the grant of a later try of its own",
			j.name(r.By), r.Node, r.At)
	}
	j.accuse(v)
}
