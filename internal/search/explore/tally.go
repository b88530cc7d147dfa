package explore

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parts"
)

// counts are what schedules with one number of faults come to. A ledger has them as they are, since only the build that wrote it reads it.
type counts struct {
	Level    Level
	Judged   [checker.PropertyCount]int
	AtRisk   [checker.PropertyCount]int
	Violated [checker.PropertyCount]int
	Acted    []search.Kind
}

// tally is what came of some schedules of one branch, in their order.
type tally struct {
	counts
	sightings []sighting // first counts runs from the first of these schedules
	extended  []outcome
	violating []uint64 // digests of the schedules that violate

	part parts.Part
	err  error
}

// add enters what came of the schedule with a placement.
func (t *tally) add(o *outcome, placement int) {
	l := &t.Level
	l.Covered += o.stands
	if o.contains {
		l.Contain += o.stands
		return
	}
	l.Played++
	if o.idle {
		l.Idle += o.stands
	}
	if o.undecided {
		l.Undecided += o.stands
	}
	if len(o.hits) > 0 {
		l.Violating += o.stands
		t.violating = append(t.violating, o.faults)
	}
	for p := range checker.PropertyCount {
		t.Judged[p] += one(o.judged[p])
		t.AtRisk[p] += one(o.atRisk[p])
		t.Violated[p] += one(slices.ContainsFunc(o.hits, func(h hit) bool { return h.property == p }))
	}
	if o.acted && !slices.Contains(t.Acted, o.kind) {
		t.Acted = append(t.Acted, o.kind)
	}
	for _, h := range o.hits {
		at := slices.IndexFunc(t.sightings, func(s sighting) bool { return s.cause == h.cause })
		if at < 0 {
			at = len(t.sightings)
			t.sightings = append(t.sightings, sighting{hit: h, first: l.Played - 1, placement: placement})
		}
		t.sightings[at].hits++
	}
	if o.extends {
		t.extended = append(t.extended, *o)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// take enters what came of some schedules of n faults.
func (x *explorer) take(t *tally, n int) {
	before := x.result.Played()
	x.result.Levels[n].add(&t.Level)
	for p := range checker.PropertyCount {
		x.result.Judged[p] += t.Judged[p]
		x.result.AtRisk[p] += t.AtRisk[p]
		x.result.Violated[p] += t.Violated[p]
	}
	for _, kind := range t.Acted {
		if !slices.Contains(x.result.Acted, kind) {
			x.result.Acted = append(x.result.Acted, kind)
		}
	}
	for _, s := range t.sightings {
		s.first += before
		x.sight(s)
	}
}

// add adds what is covered of the same schedules elsewhere.
func (l *Level) add(other *Level) {
	l.Covered += other.Covered
	l.Played += other.Played
	l.Idle += other.Idle
	l.Contain += other.Contain
	l.Violating += other.Violating
	l.Undecided += other.Undecided
}

// tallyText is a tally as a ledger has it. None of its schedules is extended.
type tallyText struct {
	counts
	Sightings []sightingText `json:",omitempty"`
}

type sightingText struct {
	Property               checker.Property
	Kind, Sketch           string
	Placement, First, Hits int
}

// text is the inverse of parse.
func (t *tally) text() []byte {
	out := tallyText{counts: t.counts}
	for _, s := range t.sightings {
		out.Sightings = append(out.Sightings, sightingText{s.property, s.kind, s.sketch, s.placement, s.first, s.hits})
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic("a tally should have a text: " + err.Error())
	}
	return text
}

// parse reads a tally of a branch. The schedules that violate are found by playing the branch again.
func (x *explorer) parse(r *harness.Runner, b *branch, text []byte) (*tally, error) {
	var in tallyText
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	t := &tally{counts: in.counts}
	if len(in.Sightings) == 0 {
		return t, nil
	}
	faults, forks := x.follow(r, b)
	for _, s := range in.Sightings {
		if r.Stopped() {
			break
		}
		if s.Placement < 0 || s.Placement >= len(forks) {
			return nil, fmt.Errorf("there is no placement %d", s.Placement)
		}
		v := x.violation(append(slices.Clip(faults), forks[s.Placement].fault()), s.Property, s.Kind)
		t.sightings = append(t.sightings, sighting{hit{cause{s.Property, s.Kind, s.Sketch}, v}, s.Hits, s.First, s.Placement})
	}
	return t, nil
}
