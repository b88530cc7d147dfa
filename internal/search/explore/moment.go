package explore

import (
	"slices"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// sameMoment reports whether a kind of fault that hits a node does the same at two points that follow each other
// there: whatever code runs between them cannot tell.
//
//   - Between the arrival of a message and its reception no code of the node runs, nor between the reception of a
//     request and its execution, nor between that and the answer: it is one turn of the server's event loop. Only a
//     machine that loses power before a message has been received has not acknowledged it: it will be sent again.
//   - A server that stops, for a while or for good, with its last answer out has written what it told of, and sends
//     nothing more in that turn. Between one turn and the next no code of it runs.
//   - To tell other servers one thing is one loop.
//   - What a client's code does between two steps of one instant is in its own mind only, and is lost when it dies. A
//     pause is another thing: the code may look at its clock before it, or after.
//   - A clock that jumps shows the same to the next reader, even if that is at another instant.
func (m *model) sameMoment(k search.Kind, p, q *point) bool {
	switch {
	case k == search.ClientClock && !q.looked:
		return true
	case p.at != q.at:
		return false
	}
	taken := p.trigger.When == sim.After
	before, after := q.trigger.When == sim.Before, q.trigger.When == sim.After
	stops := k == search.ServerPause || k == search.ServerCrash
	oneMessage := p.step.Peer == q.step.Peer && p.step.What == q.step.What
	switch from, to := p.step.Does, q.step.Does; {
	case from == trace.Receive && to == trace.Receive && !taken && after:
		return oneMessage && k != search.PowerLoss
	case from == trace.Receive && to == trace.Execute && before, from == trace.Execute && to == trace.Reply && before:
		return oneMessage && taken
	case from == trace.Reply && to == trace.Execute && after, from == trace.Execute && to == trace.Receive && before:
		return stops && taken
	case (from == trace.Reply || from == trace.Send) && to == from && taken && before:
		if p.step.What == q.step.What && m.roles[p.step.Peer] == server && m.roles[q.step.Peer] == server {
			return stops
		}
	}
	return k == search.ClientCrash && taken && before
}

// maySlip reports whether a fault that is no matter of one node may do the same at several points of one instant.
func (m *model) maySlip(f *sim.Fault) bool {
	switch f.Action.Kind {
	case sim.Cut, sim.Stall, sim.EndSession:
		return true
	case sim.Promote:
		return m.led
	default:
		return false
	}
}

// slips reports whether a fault does the same at the last of some points as at the first.
//
//   - A cut takes along what is under way, a stall holds it up: what is sent at one instant is met as a whole,
//     whichever message goes first, unless something arrives in between.
//   - What a client sends at an instant does not meet what the servers decide about its session at that instant; but
//     what it has just received may have begun its session.
//   - An ensemble's leader carries a command out when it is through with what the instant has brought.
func (m *model) slips(f *sim.Fault, points []point) bool {
	last := len(points) - 1
	if points[0].at != points[last].at {
		return false
	}
	switch f.Action.Kind {
	case sim.Cut, sim.Stall:
		return !slices.ContainsFunc(points[1:], func(p point) bool {
			return p.step.Does != trace.Send && p.step.Does != trace.Reply
		})
	case sim.EndSession:
		return !slices.ContainsFunc(points, func(p point) bool {
			return p.step.Node != f.Action.Node || p.step.Does == trace.Receive
		})
	default:
		return true
	}
}
