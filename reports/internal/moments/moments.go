// Package moments lists what happened in a run: a [Moment] for each thing that matters, with a line that tells it and a place
// on a lane of the picture. [Of] gathers them.
package moments

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Moment is something that matters to the story of a run: it has a place on a lane of the picture, and a line in the
// list below it.
type Moment struct {
	At trace.Instant
	Place
	step   uint64        // of the trace, which orders the moments of one instant
	order  int           // among the moments of one step
	Label  string        // what stands on the lane, after the number
	Sign   timeline.Sign // what stands there if it has no number
	Who    string
	Text   string
	Ink    paint.Ink
	Weight int  // the heavier, the sooner it gets a number
	Cited  bool // by the proof of the first run: it gets a number first
	Number int  // 0: none
}

// Weights of moments. What takes part in a violation outweighs everything else.
const (
	weightTrivia   = 10
	weightNote     = 60
	weightStale    = 30
	weightRead     = 40
	weightUnlock   = 45
	weightGrant    = 50
	weightWrite    = 70
	weightBelief   = 75
	weightElection = 78
	weightFault    = 80
	weightLoss     = 85
	weightDamage   = 120
	WeightWitness  = 100 // added
)

// orders of moments of one step, and of one instant where there is no trace: causes first.
const (
	OrderFault = iota
	OrderLoss
	OrderService
	OrderBelief
	OrderEffect
	OrderUnlock // it ends a section, after its last access
)

// story gathers the moments of one run.
type story struct {
	v       *model.View
	moments []Moment
}

// Of gathers the moments of a run, in the order in which they are listed.
func Of(v *model.View) []Moment {
	s := &story{v: v}
	for i := range v.Faults {
		s.fault(&v.Faults[i])
	}
	s.elections()
	s.grants()
	s.copies()
	s.removals()
	for i := range v.History.Acquisitions {
		if a := &v.History.Acquisitions[i]; v.Within(a.Invoked, model.EndOf(a, v.History.End)) {
			s.belief(a)
		}
	}
	for i := range v.History.Accesses {
		s.access(&v.History.Accesses[i])
	}
	s.waits()
	s.notes()
	s.exits()
	s.moments = slices.DeleteFunc(s.moments, func(m Moment) bool { return m.At < v.From || m.At > v.To })
	slices.SortStableFunc(s.moments, Compare)
	return slices.CompactFunc(s.moments, func(a, b Moment) bool { return Compare(a, b) == 0 && a.Text == b.Text })
}

// Compare orders moments as they are listed.
func Compare(a, b Moment) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.step, b.step), cmp.Compare(a.order, b.order), cmp.Compare(a.Lane, b.Lane),
		cmp.Compare(a.Key, b.Key))
}

func (s *story) add(m Moment, ids ...history.ID) {
	if m.At == trace.Never {
		return
	}
	for _, id := range ids {
		if m.Weight > weightStale && s.v.Witness(id) {
			m.Weight += WeightWitness
			break
		}
	}
	if m.step == 0 {
		m.step = StepAt(s.v, m.At, m.order, m.Place)
	}
	s.moments = append(s.moments, m)
}

func (s *story) fault(f *model.Fault) {
	if f.Kind == sim.Evict && Evicts(s.v, f) {
		return
	}
	lane := LaneOfFault(s.v, f)
	who := f.Node
	if who == "" {
		who = NetworkLane
	}
	begins, ends := FaultLines(s.v.Run.Case.Scenario, f)
	m := Moment{At: f.Begin, Place: Place{lane, f.Name}, order: OrderFault, Who: who, Text: begins, Weight: weightFault}
	if f.Node != "" {
		m.Weight += 5
	}
	s.add(m)
	if f.End == trace.Never || f.End <= f.Begin {
		return
	}
	m.At, m.Text, m.Place = f.End, ends, m.Ended()
	s.add(m)
}

// LaneOfFault names the lane on which a fault is shown.
func LaneOfFault(v *model.View, f *model.Fault) string {
	switch {
	case f.Node == "":
		return NetworkLane
	case slices.Contains(v.Names, f.Node):
		return NodeLane(f.Node)
	case f.Node == StorageLane:
		return StorageLane
	}
	for _, who := range v.Scope.Holders {
		if f.Concerns(who) {
			return BeliefLane(who)
		}
	}
	return NetworkLane
}

// Evicts reports whether a fault took somebody's entry away, which is told as such.
func Evicts(v *model.View, f *model.Fault) bool {
	return slices.ContainsFunc(v.History.Copies, func(c history.Copy) bool {
		return c.Node == f.Node && c.To == f.Begin && c.Gone == history.Evicted
	})
}

// PlaceOfNote is where a note of a log stands.
func PlaceOfNote(v *model.View, n *history.Note) Place {
	return Place{BeliefLane(v.Scope.LaneHolder(v.Scope.Name(n.Node, 0))), "note " + n.Text}
}

// notes tells what else became of a node: on a client's lane, of its connection and its session.
func (s *story) notes() {
	for i := range s.v.History.Notes {
		n := &s.v.History.Notes[i]
		lane := NodeLane(n.Node)
		if slices.ContainsFunc(s.v.History.Waits, func(w history.Wait) bool { return w.Client == n.Node }) || s.v.History.Logged {
			lane = BeliefLane(s.v.Scope.LaneHolder(s.v.Scope.Name(n.Node, 0)))
		}
		m := Moment{At: n.At, Place: Place{lane, "note " + n.Text}, order: OrderService, Who: n.Node, Text: n.Text, Weight: weightNote}
		if e := first(s.v, n.At, func(e *trace.Event) bool {
			return e.Node == n.Node && (e.Does == trace.Lost || e.Does == trace.Refused)
		}); e != nil {
			m.step = e.Seq // that it comes before: an application learns of a loss, or of an error, by what its client library notes
		}
		s.add(m)
	}
}

// exits tells of the ends of programs by their own code.
func (s *story) exits() {
	for i := range s.v.History.Exits {
		e := &s.v.History.Exits[i]
		var ids []history.ID
		for k := range s.v.History.Acquisitions {
			if a := &s.v.History.Acquisitions[k]; a.Client == e.Client && a.Crashed == e.At {
				ids = append(ids, a.ID)
			}
		}
		s.add(Moment{
			At: e.At, Place: Place{BeliefLane(s.v.Scope.LaneHolder(s.v.Scope.Name(e.Client, 0))), "exit"}, order: OrderUnlock, Sign: timeline.SignDies, Who: e.Client,
			Text: e.Text, Ink: paint.Amber, Weight: weightLoss,
		}, ids...)
	}
}

// Priority is 1 of what the explanation names.
func (m *Moment) Priority() int {
	if m.Cited {
		return 1
	}
	return 0
}

// Trivial reports whether a moment may go without a number though there are numbers left.
func (m *Moment) Trivial() bool { return m.Weight <= weightTrivia && !m.Cited }

// Line tells a moment apart from what else may have happened at its place.
func (m *Moment) Line() string { return strconv.Itoa(m.Number) + m.Who + m.Text }
