package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The resource: what it accepted is as if the critical sections had run one after another, in an order that agrees
// with time. One model over all registers at once: a half-applied section shows only there. See type sections for
// what a section is, and serial.go and porcupine_resource.go for the two judges.

func (j *judge) resource() {
	if reason := j.unjudgeable(); reason != "" {
		j.pass(Resource, reason)
		return
	}
	s := newSections(j.h, &j.room)
	if s.malformed != "" {
		j.report.Verdicts[Resource], j.report.Reasons[Resource] = Undecided, s.malformed
		return
	}
	found := s.judgeByGraph()
	verdict := found.verdict
	if j.porcupineOnSections(s, verdict) {
		serial := s.serializable()
		if verdict != unsure && serial != (verdict == serialisable) {
			panic(fmt.Sprintf("checker: porcupine and the graph disagree on this resource:\n%s", j.h))
		}
		verdict = accused
		if serial {
			verdict = serialisable
		}
	}
	if lost := s.lostToHalves(); len(lost) > 0 {
		verdict = accused
		found.conflicts = append(found.conflicts, lost...)
	}
	if verdict == unsure {
		j.report.Verdicts[Resource] = Undecided
		j.report.Reasons[Resource] = "writes without reads, in more sections than porcupine is asked to judge"
		return
	}
	j.conclude(Resource, verdict == accused, j.staleAccesses())
	if verdict == accused {
		j.tellDamage(s, found)
	}
}

// unjudgeable says why there is nothing to judge the resource by; "" if there is.
func (j *judge) unjudgeable() string {
	switch mode := j.h.Fencing; {
	case len(j.h.Accesses) == 0:
		if j.h.Logged {
			return "the log tells of no access"
		}
		return "the resource was not used"
	case slices.ContainsFunc(j.h.Accesses, func(a history.Access) bool { return a.Version == history.NoVersion }):
		return "the log does not state versions"
	case mode.NeedsToken() && !j.h.HasTokens:
		return "no token to fence with"
	case mode == history.TokenEquality && !j.hasValues():
		return "no value to compare"
	default:
		return ""
	}
}

func (j *judge) hasValues() bool {
	return slices.ContainsFunc(j.h.Acquisitions, func(a history.Acquisition) bool { return a.Value != "" })
}

// porcupineOnSections reports whether porcupine is to judge, given what the fast judge says.
func (j *judge) porcupineOnSections(s *sections, v serialVerdict) bool {
	n := len(s.list)
	if v == serialisable {
		return n <= alwaysSections || j.o.Sample && n <= sampledSections
	}
	return n <= accusedSections && s.atOnce() <= accusedAtOnce
}

// supersededFrom returns for each acquisition, by ID-1, when the first access of a newer one arrived at the resource.
// Newer is who was told later that he holds the lock.
func (j *judge) supersededFrom() []trace.Instant {
	acquisitions := j.h.Acquisitions
	if len(j.h.Accesses) == 0 {
		return nil
	}
	first := sized(&j.room.instants, 2*len(acquisitions))
	first, superseded := first[:len(acquisitions)], first[len(acquisitions):]
	for i := range first {
		first[i] = trace.Never
	}
	for i := range j.h.Accesses {
		a := &j.h.Accesses[i]
		first[a.Acquisition-1] = min(first[a.Acquisition-1], a.Applied)
	}
	earliest := trace.Never
	for _, k := range slices.Backward(j.order) {
		superseded[k] = earliest
		earliest = min(earliest, first[k])
	}
	return superseded
}

// oldestFirst returns the indices of the acquisitions in the order in which their clients were told that they hold.
func (j *judge) oldestFirst() []int {
	order := indices(&j.room.order, len(j.h.Acquisitions))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(j.h.Acquisitions[a].Returned, j.h.Acquisitions[b].Returned)
	})
	return order
}

// isStale reports whether an access arrived after the first access of a newer acquisition.
func (j *judge) isStale(a *history.Access) bool {
	return a.Applied != trace.Never && a.Applied > j.newer[a.Acquisition-1]
}

// staleAccesses is the danger.
func (j *judge) staleAccesses() int {
	n := 0
	for i := range j.h.Accesses {
		if j.isStale(&j.h.Accesses[i]) {
			n++
		}
	}
	return n
}
