package moments

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// OrderMessage is the order of what happens to a release, or to a client that is about to do something: it comes after
// what led to that.
const OrderMessage = OrderUnlock + 1

// StepAt returns the step of the trace that something is which happens at a moment: what happens at one moment is told in
// the order of the trace. What is no step of its own comes after those that are; without a trace it is 0.
func StepAt(v *model.View, at trace.Instant, order int, in Place) uint64 {
	if len(v.Run.Events) == 0 {
		return 0
	}
	others := 0
	if order == OrderBelief {
		others = returnedBefore(v, at, in)
	}
	if e := first(v, at, func(e *trace.Event) bool {
		if !is(e, order, in) || others > 0 && e.Does != trace.Acquired {
			return false
		}
		others--
		return others < 0
	}); e != nil {
		return e.Seq
	}
	return math.MaxUint64
}

// returnedBefore counts the acquisitions of other tasks of a client that returned in the moment in which that of a place did, and began before.
func returnedBefore(v *model.View, at trace.Instant, in Place) (n int) {
	number, _ := strings.CutPrefix(in.Key, "belief ")
	id, _ := strconv.Atoi(number)
	a := v.History.Acquisition(history.ID(id))
	for i := range v.History.Acquisitions {
		o := &v.History.Acquisitions[i]
		if a != nil && o.ID < a.ID && o.Client == a.Client && o.Outcome == history.OK && o.Returned == at && a.Returned == at {
			n++
		}
	}
	return n
}

// first returns the first step of a moment that is of a kind; nil if there is none.
func first(v *model.View, at trace.Instant, of func(*trace.Event) bool) *trace.Event {
	events := v.Run.Events
	i, _ := slices.BinarySearchFunc(events, at, func(e trace.Event, at trace.Instant) int { return cmp.Compare(e.At, at) })
	for ; i < len(events) && events[i].At == at; i++ {
		if of(&events[i]) {
			return &events[i]
		}
	}
	return nil
}

// StepOfGrant returns the step in which servers gave a grant: they have carried out the request for it, and what kept its client out
// is gone. A client in a queue is granted the lock long after it asked, or at the same moment.
func StepOfGrant(v *model.View, g *history.Grant) (step uint64) {
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if c.Acquisition != g.Acquisition || c.From != g.From {
			continue
		}
		if e := Maker(v, c); e != nil {
			step = max(step, e.Seq)
		}
		for k := range v.History.Copies {
			if o := &v.History.Copies[k]; o.Node == c.Node && o.To == c.From && o.Acquisition != c.Acquisition {
				if e := taker(v, o); e != nil {
					step = max(step, e.Seq)
				}
			}
		}
	}
	return cmp.Or(step, StepAt(v, g.From, OrderService, PlaceOfGrant(v, g)))
}

// StepOfEnd returns the step in which a grant was over.
func StepOfEnd(v *model.View, g *history.Grant) (step uint64) {
	for i := range v.History.Copies {
		if c := &v.History.Copies[i]; c.Acquisition == g.Acquisition && c.To == g.To {
			step = max(step, StepOfLoss(v, c))
		}
	}
	return cmp.Or(step, StepAt(v, g.To, OrderService, PlaceOfGrant(v, g).Ended()))
}

// StepOfLoss returns the step in which a server lost what it kept, or that of the request which found it gone.
func StepOfLoss(v *model.View, c *history.Copy) uint64 {
	if e := taker(v, c); e != nil {
		return e.Seq
	}
	if next := successor(v, c); next != nil {
		if e := Maker(v, next); e != nil {
			return e.Seq
		}
	}
	return StepAt(v, c.To, OrderLoss, PlaceOfCopy(v, c))
}

// Maker returns the step in which a server made an entry; nil if the trace has none.
func Maker(v *model.View, c *history.Copy) *trace.Event {
	value := ""
	if a := v.History.Acquisition(c.Acquisition); a != nil {
		value = a.Value
	}
	of := func(any bool) *trace.Event { // of several that have one value that of the acquisition
		return first(v, c.From, func(e *trace.Event) bool {
			made := e.Does == trace.Execute && e.Node == c.Node && e.Peer == c.Client && (strings.Contains(e.Detail, value) || e.Detail == "")
			return made && (any || e.For == int(c.Acquisition))
		})
	}
	return cmp.Or(of(false), of(true))
}

// Shared reports whether an entry became another's, whose script takes it for its own since it has the same value.
func Shared(v *model.View, c *history.Copy) bool {
	next := successor(v, c)
	if next == nil || c.Gone != history.Overwritten || !sameValue(v, c.Acquisition, next.Acquisition) {
		return false
	}
	e := Maker(v, next)
	return e != nil && slices.Contains(scripts, e.What)
}

// scripts are the commands that run one.
var scripts = []string{"EVAL", "EVALSHA", "FCALL"}

// sameValue reports whether two acquisitions have one value, by which servers cannot tell them apart.
func sameValue(v *model.View, one, other history.ID) bool {
	a, b := v.History.Acquisition(one), v.History.Acquisition(other)
	return a != nil && b != nil && a != b && a.Value != "" && a.Value == b.Value
}

// taker returns the step that took an entry from a server; nil if the trace has none.
func taker(v *model.View, c *history.Copy) *trace.Event {
	client := c.Client
	if e := Deleter(v, c); e != nil {
		return e
	}
	for i := range v.History.Removals {
		if r := &v.History.Removals[i]; r.Ended == c.Acquisition && r.At == c.To && r.Node == c.Node {
			if e := Remover(v, r); e != nil {
				return e
			}
			client = r.Client
		}
	}
	return first(v, c.To, func(e *trace.Event) bool {
		here := e.Node == c.Node || c.Node == model.KeeperOf(v.Servers())
		fault := e.Does == trace.Begin || e.Does == trace.End
		switch c.Gone {
		case history.Expired: // or the servers ended what its client held
			return here && e.Does == trace.Expire || fault && (e.Node == c.Client && endsSession(v, e) || setsClock(v, e, c.Node))
		case history.Wiped, history.Evicted:
			return here && fault
		case history.Deleted:
			return here && e.Does == trace.Execute && e.Peer == client
		case history.Overwritten, history.Kept:
		}
		return false
	})
}

// Deleter returns the request by which another client deleted an object that it took for over, which is no release; nil if there is none.
func Deleter(v *model.View, c *history.Copy) *trace.Event {
	if c.Gone != history.Deleted || v.Servers().Entry() != "object" {
		return nil
	}
	return first(v, c.To, func(e *trace.Event) bool {
		return e.Does == trace.Execute && e.Node == c.Node && e.Peer != c.Client && e.Alt != trace.ToRelease && strings.HasPrefix(e.What, "delete")
	})
}

// endsSession reports whether a step is the beginning of a fault that ends what a client holds by its session or connection.
func endsSession(v *model.View, e *trace.Event) bool {
	return slices.ContainsFunc(v.Faults, func(f model.Fault) bool {
		return f.Name == e.What && (f.Kind == sim.EndSession || f.Kind == sim.Crash)
	})
}

// setsClock reports whether a step is the beginning or the end of a fault by which a server's clock is set: what the server ends at that moment
// it ends by the new time.
func setsClock(v *model.View, e *trace.Event, node string) bool {
	return slices.ContainsFunc(v.Faults, func(f model.Fault) bool {
		return f.Name == e.What && f.Kind == sim.SetClock && f.Node == node
	})
}

// successor returns the entry that took the place of another at once; nil if there is none.
func successor(v *model.View, c *history.Copy) *history.Copy {
	for i := range v.History.Copies {
		if o := &v.History.Copies[i]; o.Node == c.Node && o.From == c.To && o.Acquisition != c.Acquisition {
			return o
		}
	}
	return nil
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

// RequestAt returns the request of a client that a server carries out at a moment, of several one for a purpose that is given; nil if the
// trace has none.
func RequestAt(v *model.View, node, client string, at trace.Instant, purpose string) *trace.Event {
	of := func(any bool) *trace.Event {
		return first(v, at, func(e *trace.Event) bool {
			return e.Does == trace.Execute && e.Peer == client && (e.Node == node || node == model.KeeperOf(v.Servers())) && (any || e.Alt == purpose)
		})
	}
	return cmp.Or(of(false), of(true))
}

// StepOfRemoval returns the step in which a server carried out a release.
func StepOfRemoval(v *model.View, r *history.Removal) uint64 {
	if e := Remover(v, r); e != nil {
		return e.Seq
	}
	return StepAt(v, r.At, OrderService, PlaceOfRemoval(v, r))
}

// Remover returns the request that deleted or shortened another's entry, or could have; nil if the trace has none.
func Remover(v *model.View, r *history.Removal) *trace.Event {
	before := 0 // of the same client, in the same moment
	for i := range v.History.Removals {
		if o := &v.History.Removals[i]; o == r {
			break
		} else if o.At == r.At && o.Client == r.Client && o.Node == r.Node {
			before++
		}
	}
	var last *trace.Event
	reads := v.Servers().Facts().Reads
	first(v, r.At, func(e *trace.Event) bool {
		asks := e.Alt == trace.ToAcquire || e.Alt == trace.ToLook || slices.Contains(reads, e.What)
		if e.Does == trace.Execute && e.Peer == r.Client && e.Node == r.Node && !asks {
			last = e
			before--
		}
		return before < 0
	})
	if last != nil {
		return last
	}
	e := RequestAt(v, r.Node, r.Client, r.At, trace.ToRelease)
	if e != nil && !slices.Contains(reads, e.What) || r.Node != model.KeeperOf(v.Servers()) {
		return e
	}
	for i := len(v.Run.Events) - 1; i >= 0; i-- { // servers that agree on a release first
		if e := &v.Run.Events[i]; e.At < r.At && e.Does == trace.Execute && e.Peer == r.Client && e.Alt == trace.ToRelease && !slices.Contains(reads, e.What) {
			return e
		}
	}
	return nil
}
