package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// proof says what took place, and shows step by step that it did: let this be so, then that happens, however this is so
// still. Its parts are sentences without a full stop.
type proof struct{ claim, let, then, however string }

// steps are the proof without the claim; "" if the claim needs none.
func (p proof) steps() string {
	var list []string
	for _, part := range [...]struct{ begins, text string }{{"Let ", p.let}, {"Then ", p.then}, {"However, ", p.however}} {
		if part.text != "" {
			list = append(list, part.begins+part.text+".")
		}
	}
	return strings.Join(list, " ")
}

// argument proves that a run violates what it is said to violate, from what was observed. It names moments by their
// numbers.
type argument struct {
	*plot
	moments []moment
	cites   func(*moment) // is told of every moment that the proof names; nil if nobody wants to know
}

func (p *picture) argue(run int, x *checker.Violation) *argument {
	return &argument{
		plot:    &plot{story: &story{view: p.views[run]}, violation: x, until: x.At},
		moments: p.tales[run],
	}
}

// ref is the number of what happens at a moment on a lane, or if it has none the moment. Of several it is that with the
// key.
func (a *argument) ref(at trace.Instant, lane string, key ...string) string {
	var found *moment
	for i := range a.moments {
		m := &a.moments[i]
		if m.at != at || m.lane != lane || m.number == 0 && a.cites == nil {
			continue
		}
		if found == nil || len(key) > 0 && m.key == key[0] {
			found = m
		}
	}
	switch {
	case found == nil:
		return precise(at.Sub(0))
	case a.cites != nil:
		a.cites(found)
	}
	if found.number == 0 {
		return precise(at.Sub(0))
	}
	return a.g.number(found.number)
}

// believes is when an acquisition begins to be believed in, and ceases when that ends.
func (a *argument) believes(q *history.Acquisition) string {
	return a.ref(q.Returned, laneBelief(a.who(q)), fmt.Sprintf("belief %d", q.ID))
}

func (a *argument) ceases(q *history.Acquisition, at trace.Instant) string {
	return a.ref(at, laneBelief(a.who(q)), fmt.Sprintf("belief %d ends", q.ID))
}

// given is when a grant was given.
func (a *argument) given(g *history.Grant) string {
	return a.ref(g.From, laneTruth(a.holder(g.Acquisition, g.Client)), fmt.Sprintf("grant %d", g.Acquisition))
}

// removed is when a release was carried out.
func (a *argument) removed(r *history.Removal) string {
	return a.ref(r.At, laneNode(r.Node), fmt.Sprintf("removal %d", r.By))
}

// effect is when the resource decided on an access.
func (a *argument) effect(x *history.Access) string {
	return a.ref(x.Applied, laneStorage, fmt.Sprintf("%s %d %d", x.Op, x.Acquisition, x.Register))
}

// prove proves the violation. Without a claim the checker's own words are better.
func (a *argument) prove() proof {
	first, second := a.taken(0), a.taken(1)
	switch p := a.violation.Property; {
	case p == checker.ReleaseSafety:
		return a.wrongRelease()
	case p == checker.Progress:
		return a.inVain()
	case first == nil || second == nil:
	case p == checker.MutualExclusion:
		return a.doubleHolder(first, second)
	case p == checker.ExclusionAtService:
		return a.doubleGrant(first, second)
	case p == checker.FencingOrder:
		return a.tokenOrder(first, second)
	case p == checker.Resource && a.violation.Kind == "lost update":
		return a.lostUpdate(first, second)
	case p == checker.Resource && a.hasRead(second, first):
		return a.seenHalf(first, second)
	}
	return proof{}
}

// step is something that happens in the middle of a proof.
type step struct {
	at   trace.Instant
	text string
}

// inTurn joins steps in the order in which they happen.
func inTurn(steps []step) string {
	slices.SortStableFunc(steps, func(x, y step) int { return cmp.Compare(x.at, y.at) })
	list := make([]string, len(steps))
	for i, s := range steps {
		list[i] = s.text
	}
	return clauses(list)
}

// clauses joins what are sentences of their own.
func clauses(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + joint + list[last]
}
