package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
)

// Mutual exclusion: the beliefs of different acquisitions do not overlap. A belief includes the moment it begins and
// not the one it ends, so a belief may begin when another ends. One that ends in the moment in which it begins, since its client has
// been told of the loss by then, is that moment: Lock returned the lock in it. Overlapping beliefs of one owner are one.

// beliefs returns the beliefs as intervals.
func (j *judge) beliefs() intervals {
	list := sized(&j.room.held, len(j.h.Acquisitions))[:0]
	for i := range j.h.Acquisitions {
		a := &j.h.Acquisitions[i]
		if b, ok := a.Belief(); ok {
			i := newInterval(a.Invoked, b.From, b.To, owner{a.Client, a.Task}, a.ID)
			i.off = a.Uncertainty
			if a.Vague && b.Ended == history.ByUnlock {
				i.sure = min(max(i.from, a.Seen), i.to)
			}
			if b.Ended == history.Unseen {
				i.latest = max(i.to, a.Latest)
			}
			list = append(list, i)
		}
	}
	return newIntervals(list)
}

func (j *judge) mutualExclusion() {
	if slices.ContainsFunc(j.held.list, func(i interval) bool { return i.off > 0 || i.latest > i.to || i.sure < i.to }) {
		j.exclusionInDoubt()
		return
	}
	j.double = j.held.scan(j.h.End, j.tellDoubleHolder)
	violated := j.double.pairs > 0
	if asked, ok := j.porcupineOnBeliefs(); ok && exclusive(asked, &j.room) == violated {
		panic(fmt.Sprintf("checker: porcupine and the interval scan disagree on these beliefs:\n%s", j.h))
	}
	j.conclude(MutualExclusion, violated, j.asksDuringBeliefs())
}

// porcupineOnBeliefs returns the intervals that porcupine is to judge, and whether it is.
func (j *judge) porcupineOnBeliefs() ([]interval, bool) {
	n := len(j.held.list)
	switch {
	case n <= alwaysSections, j.o.Sample && n <= sampledSections:
		return j.held.list, true
	case j.double.pairs > 0:
		return aroundFirst(j.held.list, j.double.first), true
	default:
		return nil, false
	}
}

// aroundFirst cuts a long history down to the first double holder: some of the intervals of an exclusive history are
// exclusive too, so a violation among a few is one of the whole. The interval that the second one overlaps is the one
// before it: any between them would have been the first to overlap.
func aroundFirst(list []interval, second int) []interval {
	return list[max(0, second+1-alwaysSections) : second+1]
}

// The kinds of double holders.
const (
	doubleHolder = "double holder"
	// One of the two has been told that it holds when that was over, and had no means to see it: see [history.History.Belated].
	staleAcquisition = "stale acquisition"
)

func (j *judge) tellDoubleHolder(first, second *interval) {
	j.tellOverlap(MutualExclusion, first, second, func(one, other, during string) (kind, text string, broken breach) {
		text = one + " and " + other + " both believed to hold the lock, " + during
		for _, i := range []*interval{second, first} {
			if g := j.h.Belated(i.id); g != nil {
				return staleAcquisition, text + "; Lock returned to " + j.name(i.id) + " when what it was granted had been over since " + g.To.String(), breach{by: Lock}
			}
		}
		b := j.breachOfBelief(first, second)
		return doubleHolder, text + b.String(), b
	})
}

// tellOverlap accuses two whose intervals overlap; says makes a sentence of their names and of how long they did, and says
// of which kind that is and whose promise was broken.
func (j *judge) tellOverlap(
	p Property, first, second *interval, says func(first, second, during string) (kind, text string, broken breach),
) {
	if j.told[p] >= toldOfOneProblem {
		return // before the text is made: of n believers at once there are n*(n-1)/2 pairs
	}
	kind, text, broken := says(j.name(first.id), j.name(second.id), j.during(second.from, min(first.to, second.to)))
	v := Violation{Property: p, Kind: kind, At: second.from, Acquisitions: []history.ID{first.id, second.id}, Text: text}
	v.blame(broken)
	j.accuse(v)
}

// asksDuringBeliefs is the danger: how many requests for the lock reached a server while somebody else believed to
// hold it. Where nobody observed the servers, it is how many calls of Lock were under way meanwhile.
func (j *judge) asksDuringBeliefs() int {
	if len(j.h.Asks) > 0 || j.h.HasAuthority {
		return j.asksDuring(&j.held)
	}
	n := 0
	widest := time.Duration(0) // uncertainty of a log: the call must have been under way whatever the clocks were
	for i := range j.h.Acquisitions {
		widest = max(widest, j.h.Acquisitions[i].Uncertainty)
	}
	for i := range j.h.Acquisitions {
		a := &j.h.Acquisitions[i]
		doubt := a.Uncertainty + widest
		from, to := a.Invoked.Add(doubt), a.Returned.Add(-doubt)
		if doubt > 0 && to <= from {
			continue
		}
		if j.held.othersIn(from, max(to, from+1), owner{a.Client, a.Task}) {
			n++
		}
	}
	return n
}
