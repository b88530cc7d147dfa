package moments

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/trace"
)

// OrderMessage is the order of what happens to a release, or to a client that is about to do something: it comes after
// what led to that.
const OrderMessage = OrderUnlock + 1

// StepAt returns the step of the trace that something is which happens at a moment: what happens at one moment is told in
// the order of the trace. What is no step of its own comes after those that are; without a trace it is 0.
func StepAt(v *model.View, at trace.Instant, order int, in Place) uint64 {
	events := v.Run.Events
	i, _ := slices.BinarySearchFunc(events, at, func(e trace.Event, at trace.Instant) int { return cmp.Compare(e.At, at) })
	if len(events) == 0 {
		return 0
	}
	for ; i < len(events) && events[i].At == at; i++ {
		if is(&events[i], order, in) {
			return events[i].Seq
		}
	}
	return math.MaxUint64
}

// is reports whether a step is what a moment of the picture is about.
func is(e *trace.Event, order int, in Place) bool {
	who, _, _ := strings.Cut(model.ClientOf(strings.TrimSuffix(strings.TrimSuffix(in.Lane, BeliefLane("")), GrantLane(""))), "/")
	server, _, _ := strings.Cut(in.Lane, " ") // a lane of keys names the lock, too
	node := e.Node == server || e.Peer == server
	client := e.Node == who || e.Peer == who
	switch order {
	case OrderFault, OrderMessage:
		begins, ends := e.Does == trace.Begin && e.What == in.Key, e.Does == trace.End && e.What+" ends" == in.Key
		return begins || ends || (e.Does == trace.Promote || e.Does == trace.Demote) && node && e.Does.String() == in.Key
	case OrderLoss:
		return node && (e.Does == trace.Expire || e.Does == trace.Execute || e.Does == trace.Begin || e.Does == trace.End)
	case OrderService:
		return e.Does == trace.Execute && (node || client) || e.Does == trace.Expire
	case OrderBelief:
		return client && (e.Does == trace.Acquired || e.Does == trace.Refused || e.Does == trace.Lost || e.Does == trace.Start)
	case OrderEffect:
		return node && e.Does == trace.Execute
	case OrderUnlock:
		return client && (e.Does == trace.Release || e.Does == trace.Done)
	}
	return false
}
