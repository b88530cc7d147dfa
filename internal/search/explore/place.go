package explore

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// placement is a fault at a point of a run.
type placement struct {
	what   *mishap
	at     *sim.Trigger
	stands int // how many placements do the same, this one included
}

// fault returns the fault in full.
func (p *placement) fault() sim.Fault {
	f := p.what.fault
	f.Trigger = *p.at
	return f
}

// weigh returns for how many placements a list stands.
func weigh(list []placement) (sum int) {
	for i := range list {
		sum += list[i].stands
	}
	return sum
}

// placements lists what can go wrong in a run, besides what has gone wrong already. Of two faults the second is placed
// at the moment of the first or later, so that no set of faults is placed twice; of two at one moment the second stands
// further down in the fault model. They act at one instant, the one right after the other, and do the same the other way
// round, except that a dead process cannot be paused: but to pause it and have it die is to have it die.
//
// The first placements are at the first step of a client: before that nobody wants the lock. The last are when nobody
// can be harmed any more. And none are at the heartbeats by which servers know of each other: those are no steps of the
// lock's protocol, and go on for as long as somebody waits.
//
// What does the same at several points is placed at the first of them only, unless all is asked for.
func (m *model) placements(r *harness.Result, latest *sim.Fault, all bool) []placement {
	l := layout{
		model: m, latest: latest, begun: latest == nil, all: all, points: m.telling(m.points(r)), ends: trace.Never,
		last: make(map[string]int), acts: make(map[string]act),
	}
	if !all {
		l.ends = m.stake(r.History)
	}
	if latest == nil || latest.Trigger.When == sim.At {
		faults := m.atStart()
		for k := range faults {
			l.add(&faults[k], &sim.Trigger{})
		}
	}
	for i := range l.points {
		p := &l.points[i]
		switch {
		case l.begun && p.at > l.ends:
			return l.list
		case m.isHeartbeat(&p.step):
			delete(l.last, p.step.Node) // what follows it does not follow what was before it
			clear(l.acts)
			continue
		}
		l.hit(i)
		faults := m.at(p)
		for k := range faults {
			l.act(&faults[k], i)
		}
	}
	if !l.begun {
		panic("explore: a fault that was placed is no placement of its own run: " + latest.String())
	}
	return l.list
}

// points are those of a run, at all of which clients may have looked at their clocks if nobody sees when they do.
func (m *model) points(r *harness.Result) []point {
	points := pointsOf(r)
	for i := range points {
		points[i].looked = points[i].looked || m.blind && m.roles[points[i].step.Node] == client
	}
	return points
}

// telling leaves out the points before the first step of a client.
func (m *model) telling(points []point) []point {
	first := slices.IndexFunc(points, func(p point) bool { return m.roles[p.step.Node] == client })
	if first < 0 {
		return nil
	}
	return points[first:]
}

func (m *model) isHeartbeat(s *trace.Step) bool {
	return m.roles[s.Node] == server && m.roles[s.Peer] == server &&
		(strings.EqualFold(s.What, "PING") || strings.EqualFold(s.What, "PONG"))
}

// layout is placements in the making.
type layout struct {
	model  *model
	latest *sim.Fault // nil if nothing goes wrong yet
	all    bool
	ends   trace.Instant // until when faults are placed
	points []point
	last   map[string]int // each node's point that was placed at last
	acts   map[string]act // what has been placed besides what happens to nodes, by what it does
	begun  bool           // the latest fault has been met
	places []int          // of what happens to nodes: for each point, where its placements are named in spots
	spots  []int          // for each thing that happens to a node at a point, its placement; -1 if it is none
	list   []placement
}

// add adds a placement and returns its place; -1 if it is no later than the latest fault.
func (l *layout) add(what *mishap, at *sim.Trigger) int {
	p := placement{what, at, 1}
	if l.begun {
		l.list = append(l.list, p)
		return len(l.list) - 1
	}
	if *at == l.latest.Trigger {
		full := p.fault()
		l.begun = full.String() == l.latest.String()
	}
	return -1
}

// act is a fault that is no matter of one node, and where it was placed at last.
type act struct{ point, spot int }

// act places a fault that is no matter of one node. Where it does the same as at a point before the latest fault it is
// no placement: there it is the first of the two.
func (l *layout) act(m *mishap, i int) {
	f, at := &m.fault, &l.points[i].trigger
	if l.all || !l.model.maySlip(f) {
		l.add(m, at)
		return
	}
	what := f.String()
	last, ok := l.acts[what]
	switch {
	case !ok || !l.model.slips(f, l.points[last.point:i+1]):
		last.spot = l.add(m, at)
	case last.spot >= 0:
		l.list[last.spot].stands++
	}
	l.acts[what] = act{i, last.spot}
}

// hit places what happens to the node of a point.
func (l *layout) hit(i int) {
	p := &l.points[i]
	previous, ok := l.last[p.step.Node]
	l.last[p.step.Node] = i
	for len(l.places) <= i {
		l.places = append(l.places, len(l.spots))
	}
	mishaps := l.model.mishaps[p.step.Node]
	for j := range mishaps {
		b := &mishaps[j]
		var spot int
		if !ok || l.all || !l.model.sameMoment(b.kind, &l.points[previous], p) {
			spot = l.add(b, &p.trigger)
		} else if spot = l.spots[l.places[previous]+j]; spot >= 0 && b.kind != search.ClientClock {
			l.list[spot].stands++
		}
		l.spots = append(l.spots, spot)
	}
}
