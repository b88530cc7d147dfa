package checker

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Exclusion at the service: no grant starts inside another one. A grant runs as promised to the client: until it is
// released, its time to live has elapsed in true time, its session has rightfully expired, or the deadline that the
// lease states has passed. Whether the servers still hold the key plays no part. A client whose request prolongs another's grant is told that it holds, which grants
// the lock to it as well. Overlapping grants of one owner are one.

func (j *judge) exclusionAtService() {
	if j.passUnobserved(ExclusionAtService) {
		return
	}
	found := j.granted.scan(j.h.End, j.tellDoubleGrant)
	j.conclude(ExclusionAtService, found.pairs > 0, j.asksDuring(&j.granted))
}

// grants returns the grants as intervals; none where nobody declared whose word makes a grant.
func (j *judge) grants() intervals {
	if !j.h.HasAuthority {
		return intervals{}
	}
	list := sized(&j.room.granted, len(j.h.Grants))[:0]
	for i := range j.h.Grants {
		g := &j.h.Grants[i]
		list = append(list, newInterval(g.From, g.From, j.promisedUntil(g), j.ownerOf(g.Acquisition, g.Client), g.Acquisition))
	}
	return newIntervals(list)
}

// promisedUntil returns the moment until which the client may rely on a grant: what a lease states as its deadline is all
// that it promises.
func (j *judge) promisedUntil(g *history.Grant) trace.Instant {
	a := j.h.Acquisition(g.Acquisition)
	if a != nil && a.Outcome == history.OK && a.HasDeadline {
		return min(g.To, a.Deadline)
	}
	return g.To
}

// makes reports whether a server had a key made for an acquisition at a moment, however soon it was gone.
func (j *judge) makes(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(j.h.Copies, func(c history.Copy) bool { return c.Acquisition == id && c.From == at })
}

func (j *judge) tellDoubleGrant(first, second *interval) {
	j.tellOverlap(ExclusionAtService, first, second, func(one, other, during string) (kind, text string, broken breach) {
		b := j.breachOfGrant(first, second)
		text = other + " was granted the lock while it was still promised to " + one + ", " + during + b.String()
		// A renewal that does not compare whose it is makes no key.
		if j.stands(first.id, second.from) && !j.stands(second.id, second.from) && !j.makes(second.id, second.from) {
			text = other + " prolonged the lock that was promised to " + one + ", " + during + b.String()
		}
		return "double grant", text, b
	})
}

// stands reports whether a server has an acquisition's copy of the lock's key at a moment.
func (j *judge) stands(of history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(j.h.Copies, func(c history.Copy) bool { return c.Acquisition == of && c.From <= at && at < c.To })
}

// asksDuring counts the requests that servers executed during an interval of another owner.
func (j *judge) asksDuring(v *intervals) int {
	n := 0
	for i := range j.h.Asks {
		ask := &j.h.Asks[i]
		if v.othersAt(ask.At, j.ownerOf(ask.Acquisition, ask.Client)) {
			n++
		}
	}
	return n
}
