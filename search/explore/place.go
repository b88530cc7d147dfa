package explore

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// placement is a fault at a point of a run.
type placement struct {
	what   *sim.Fault // without its trigger
	at     *sim.Trigger
	stands int // how many placements do the same, this one included
}

// fault returns the fault in full.
func (p *placement) fault() sim.Fault {
	f := *p.what
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
// further down in the menu. They act at one instant, the one right after the other, and do the same the other way
// round, except that a dead process cannot be paused: but to pause it and have it die is to have it die.
//
// The first placements are at the first step of a client: before that nobody wants the lock. And none are at the
// heartbeats by which servers know of each other: those are no steps of the lock's protocol, and go on for as long as
// somebody waits.
//
// What befalls a node does so once at points that are the same to it, unless all is asked for.
func (m *menu) placements(r *harness.Result, latest *sim.Fault, all bool) []placement {
	l := layout{
		menu: m, latest: latest, begun: latest == nil, all: all, points: m.telling(pointsOf(r)),
		last: make(map[string]int),
	}
	if latest == nil || latest.Trigger.When == sim.At {
		faults := m.atStart()
		for k := range faults {
			l.add(&faults[k], &sim.Trigger{})
		}
	}
	for i := range l.points {
		l.befall(i)
		faults := m.at(&l.points[i])
		for k := range faults {
			l.add(&faults[k], &l.points[i].trigger)
		}
	}
	return l.list
}

// telling leaves out the points before the first step of a client, and heartbeats.
func (m *menu) telling(points []point) []point {
	first := slices.IndexFunc(points, func(p point) bool { return m.roles[p.step.Node] == client })
	if first < 0 {
		return nil
	}
	return slices.DeleteFunc(points[first:], func(p point) bool {
		return m.roles[p.step.Node] == server && m.roles[p.step.Peer] == server && isHeartbeat(p.step.What)
	})
}

func isHeartbeat(what string) bool {
	return strings.EqualFold(what, "PING") || strings.EqualFold(what, "PONG")
}

// layout is placements in the making.
type layout struct {
	menu   *menu
	latest *sim.Fault // nil if nothing goes wrong yet
	all    bool
	points []point
	last   map[string]int // each node's point that was placed at last
	begun  bool           // the latest fault has been met
	places []int          // of what befalls nodes: for each point, where its placements are named in spots
	spots  []int          // for each thing that befalls a node at a point, its placement; -1 if it is none
	list   []placement
}

// add adds a placement and returns its place; -1 if it is no later than the latest fault.
func (l *layout) add(f *sim.Fault, at *sim.Trigger) int {
	p := placement{f, at, 1}
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

// befall places what befalls the node of a point. What is the same as at a point before the latest fault is no
// placement either: there it is the first of the two.
func (l *layout) befall(i int) {
	p := &l.points[i]
	previous, ok := l.last[p.step.Node]
	l.last[p.step.Node] = i
	l.places = append(l.places, len(l.spots))
	befalling := l.menu.befalling[p.step.Node]
	for j := range befalling {
		b := &befalling[j]
		if ok && !l.all && sameMoment(b.kind, &l.points[previous], p) {
			spot := l.spots[l.places[previous]+j]
			if spot >= 0 {
				l.list[spot].stands++
			}
			l.spots = append(l.spots, spot)
			continue
		}
		l.spots = append(l.spots, l.add(&b.fault, &p.trigger))
	}
}

// sameMoment reports whether a kind of fault that befalls a node does the same at two points that follow each other
// there: whatever code runs between them cannot tell.
//
//   - Between the arrival of a message and its reception no code of the node runs, nor between the reception of a
//     request and its execution, nor between that and the answer: it is one turn of the server's event loop. Only a
//     machine that loses power before a message has been received has not acknowledged it: it will be sent again.
//   - A server that is paused while it executes a request goes on to the end of its turn, but sends nothing more. And
//     to send one message to several others is one loop.
//   - What a client's code does between two steps of one instant is in its own mind only, and is lost when it dies. A
//     pause is another thing: the code may look at its clock before it, or after.
func sameMoment(k search.Kind, p, q *point) bool {
	if p.at != q.at {
		return false
	}
	before, after := q.trigger.When == sim.Before, q.trigger.When == sim.After
	oneMessage := p.step.Peer == q.step.Peer && p.step.What == q.step.What
	switch from, to := p.step.Does, q.step.Does; {
	case from == trace.Receive && to == trace.Receive && after && p.trigger.When == sim.Before:
		return oneMessage && k != search.PowerLoss
	case from == trace.Receive && to == trace.Execute && before, from == trace.Execute && to == trace.Reply && before:
		return oneMessage && p.trigger.When == sim.After
	case from == trace.Reply && p.trigger.When == sim.After && to == trace.Reply && before:
		return k == search.ServerPause || p.step.What == q.step.What
	case from == trace.Reply && p.trigger.When == sim.After && to == trace.Execute && after:
		return k == search.ServerPause
	}
	return k == search.ClientCrash && p.trigger.When == sim.After && before
}
