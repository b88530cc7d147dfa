package checker

// Exclusion at the service: no grant starts inside another one. A grant runs, as promised, until it is released, its
// time to live has elapsed in true time, or its session has rightfully expired; that the servers still hold or have
// lost the key plays no part. Who prolongs another's is told that he holds, which grants it to him as well. Overlapping
// grants of one owner are one.

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
		list = append(list, newInterval(g.From, g.From, g.To, j.ownerOf(g.Acquisition, g.Client), g.Acquisition))
	}
	return newIntervals(list)
}

func (j *judge) tellDoubleGrant(first, second *interval) {
	j.tellOverlap(ExclusionAtService, first, second, func(one, other, during string) (kind, text string) {
		return "double grant", other + " was granted the lock while it was still promised to " + one + ", " + during
	})
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
