package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// moment is something that matters to the story of a run: it has a place on a lane of the picture, and a line in the
// list below it.
type moment struct {
	at     trace.Instant
	lane   string
	step   uint64 // of the trace, which orders the moments of one instant
	order  int    // among the moments of one step
	key    string // tells moments of one instant and lane apart, whatever the run
	label  string // what stands on the lane, after the number
	sign   Sign   // what stands there if it has no number
	who    string
	text   string
	ink    ink
	weight int  // the heavier, the sooner it gets a number
	cited  bool // by the proof of the first run: it gets a number first
	number int  // 0: none
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
	weightWitness  = 100 // added
)

// orders of moments of one step, and of one instant where there is no trace: causes first.
const (
	orderFault = iota
	orderLoss
	orderService
	orderBelief
	orderEffect
	orderUnlock // it ends a section, after its last access
)

// story gathers the moments of one run.
type story struct {
	v       *view
	moments []moment
}

func (v *view) tell() []moment {
	s := &story{v: v}
	for i := range v.faults {
		s.fault(&v.faults[i])
	}
	s.elections()
	s.grants()
	s.copies()
	s.removals()
	for i := range v.h.Acquisitions {
		if a := &v.h.Acquisitions[i]; v.within(a.Invoked, endOf(a, v.h.End)) {
			s.belief(a)
		}
	}
	for i := range v.h.Accesses {
		s.access(&v.h.Accesses[i])
	}
	s.waits()
	s.notes()
	s.exits()
	s.moments = slices.DeleteFunc(s.moments, func(m moment) bool { return m.at < v.from || m.at > v.to })
	slices.SortStableFunc(s.moments, compareMoments)
	return slices.CompactFunc(s.moments, func(a, b moment) bool { return compareMoments(a, b) == 0 && a.text == b.text })
}

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step), cmp.Compare(a.order, b.order), cmp.Compare(a.lane, b.lane),
		cmp.Compare(a.key, b.key))
}

func (s *story) add(m moment, ids ...history.ID) {
	if m.at == trace.Never {
		return
	}
	for _, id := range ids {
		if m.weight > weightStale && s.v.witness(id) {
			m.weight += weightWitness
			break
		}
	}
	m.step = s.v.stepAt(m.at, m.order, spot{m.lane, m.key})
	s.moments = append(s.moments, m)
}

func (s *story) fault(f *fault) {
	if !f.fired || f.kind == "evict" && s.v.evicts(f) {
		return
	}
	lane := s.v.laneOfFault(f)
	who := f.node
	if who == "" {
		who = laneNetwork
	}
	m := moment{at: f.begin, lane: lane, order: orderFault, key: f.name, who: who, text: f.start, weight: weightFault}
	if f.node != "" {
		m.weight += 5
	}
	s.add(m)
	if f.end == trace.Never || f.end <= f.begin {
		return
	}
	m.at, m.text, m.key = f.end, f.over, f.name+" ends"
	s.add(m)
}

// evicts reports whether a fault took somebody's entry away, which is told as such.
func (v *view) evicts(f *fault) bool {
	return slices.ContainsFunc(v.h.Copies, func(c history.Copy) bool {
		return c.Node == f.node && c.To == f.begin && c.Gone == history.Evicted
	})
}

// notes tells what else became of a node: on a client's lane, of its connection and its session.
func (s *story) notes() {
	for i := range s.v.h.Notes {
		n := &s.v.h.Notes[i]
		lane := laneNode(n.Node)
		if slices.ContainsFunc(s.v.h.Waits, func(w history.Wait) bool { return w.Client == n.Node }) {
			lane = laneBelief(s.v.scope.name(n.Node, 0))
		}
		s.add(moment{
			at: n.At, lane: lane, order: orderService, key: "note " + n.Text, who: n.Node, text: n.Text, weight: weightNote,
		})
	}
}

// exits tells of the ends of programs by their own code.
func (s *story) exits() {
	for i := range s.v.h.Exits {
		e := &s.v.h.Exits[i]
		var ids []history.ID
		for k := range s.v.h.Acquisitions {
			if a := &s.v.h.Acquisitions[k]; a.Client == e.Client && a.Crashed == e.At {
				ids = append(ids, a.ID)
			}
		}
		s.add(moment{
			at: e.At, lane: laneBelief(s.v.scope.name(e.Client, 0)), order: orderUnlock, key: "exit", sign: SignDies, who: e.Client,
			text: e.Text, ink: amber, weight: weightLoss,
		}, ids...)
	}
}
