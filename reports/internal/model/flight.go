package model

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Delays returns how long messages take, but for those of links that have their own delays.
func Delays(s *scenarios.Scenario) sim.Latency {
	if len(s.Network.Latency) > 0 {
		return s.Network.Latency
	}
	return sim.LAN()
}

// OnItsWay reports whether a message had not been received yet when the run ended, but was not lost: nothing took it
// off its link, and it was not late, or something held it up.
func (v *View) OnItsWay(m *timeline.Message) bool {
	if m.Received != trace.Never {
		return false
	}
	if v.IsServer(m.From) && v.IsServer(m.To) && v.regrouped(m) {
		return false
	}
	held := v.History.End.Sub(m.Sent) <= v.slowest()
	for i := range v.Faults {
		f := &v.Faults[i]
		if f.loses(m) {
			return false
		}
		held = held || f.holds(m, v.History.End)
	}
	return held
}

// regrouped reports whether what one server told another is no longer waited for: one of the two has taken up another
// role since, or the sender went down, and with that they close their connection.
func (v *View) regrouped(m *timeline.Message) bool {
	for i := range v.Roles {
		if e := &v.Roles[i]; e.At >= m.Sent && (e.Node == m.From || e.Node == m.To) {
			return true
		}
	}
	return v.crashes(m.From, m.Sent) != trace.Never
}

// loses reports whether a message that was never received is lost by a fault: its link is cut, its connection breaks,
// or whom it is for goes down.
func (f *Fault) loses(m *timeline.Message) bool {
	switch f.Kind {
	case sim.Cut:
		return m.Sent < f.End && f.joins(m.From, m.To)
	case sim.Break:
		return m.Sent <= f.Begin && (len(f.Of.Action.Link.From) == 0 || f.joins(m.From, m.To))
	case sim.Crash:
		return m.Sent < f.End && f.Node == m.To
	default:
		return false
	}
}

// holds reports whether a message still waits for a fault at the end of the run: it is delayed, or behind one that is,
// its link is stalled, or whom it is for is paused.
func (f *Fault) holds(m *timeline.Message, end trace.Instant) bool {
	switch f.Kind {
	case sim.Delay:
		return f.Begin.Add(f.Of.Action.By) >= end && f.between(m)
	case sim.Stall:
		return f.End >= end && f.joins(m.From, m.To)
	case sim.Pause:
		return f.End >= end && f.Node == m.To
	default:
		return false
	}
}

// slowest is how long a message takes at most if no fault holds it up.
func (v *View) slowest() time.Duration {
	s := v.Run.Case.Scenario
	most := max(longest(Delays(s)), longest(s.Resource.Latency))
	for i := range s.Network.Links {
		most = max(most, longest(s.Network.Links[i].Latency))
	}
	return most
}

// longest returns the longest of some delays; 0 if there are none.
func longest(l sim.Latency) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].Delay
}

// Underway reports whether an access that was never applied was on its way to the resource when the run ended.
func (v *View) Underway(a *history.Access) bool {
	for i := range v.Messages {
		m := &v.Messages[i]
		if m.From == a.Client && m.Sent == a.Invoked && m.What == a.Op.String() && v.OnItsWay(&m.Message) {
			return true
		}
	}
	return false
}
