package reports

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// onItsWay reports whether a message had not been received yet when the run ended, but was not lost: nothing took it
// off its link, and it was not late, or something held it up.
func (v *view) onItsWay(m *Message) bool {
	if m.Received != trace.Never {
		return false
	}
	if v.isServer(m.From) && v.isServer(m.To) && v.regrouped(m) {
		return false
	}
	held := v.h.End.Sub(m.Sent) <= v.slowest()
	for i := range v.faults {
		f := &v.faults[i]
		if !f.fired {
			continue
		}
		if f.loses(m) {
			return false
		}
		held = held || f.holds(m, v.h.End)
	}
	return held
}

// regrouped reports whether what one server told another is no longer waited for: one of the two has taken up another
// role since, or the sender went down, and with that they close their connection.
func (v *view) regrouped(m *Message) bool {
	for i := range v.roles {
		if e := &v.roles[i]; e.At >= m.Sent && (e.Node == m.From || e.Node == m.To) {
			return true
		}
	}
	return v.crashes(m.From, m.Sent) != trace.Never
}

// loses reports whether a message that was never received is lost by a fault: its link is cut, its connection breaks,
// or whom it is for goes down.
func (f *fault) loses(m *Message) bool {
	switch f.kind {
	case "cut":
		return m.Sent < f.end && f.link.joins(m.From, m.To)
	case "break":
		return m.Sent <= f.begin && (len(f.link.from) == 0 || f.link.joins(m.From, m.To))
	case "crash":
		return m.Sent < f.end && f.node == m.To
	}
	return false
}

// holds reports whether a message still waits for a fault at the end of the run: it is delayed, or behind one that is,
// its link is stalled, or whom it is for is paused.
func (f *fault) holds(m *Message, end trace.Instant) bool {
	switch f.kind {
	case "delay":
		between := f.of
		between.what = ""
		return f.begin.Add(f.by) >= end && between.tells(m)
	case "stall":
		return f.end >= end && f.link.joins(m.From, m.To)
	case "pause":
		return f.end >= end && f.node == m.To
	}
	return false
}

// slowest is how long a message takes at most if no fault holds it up.
func (v *view) slowest() time.Duration {
	s := v.run.Case.Scenario
	most := lanSlowest
	if l := s.Network.Latency; len(l) > 0 {
		most = l[len(l)-1].Delay
	}
	if l := s.Resource.Latency; len(l) > 0 {
		most = max(most, l[len(l)-1].Delay)
	}
	for i := range s.Network.Links {
		if l := s.Network.Links[i].Latency; len(l) > 0 {
			most = max(most, l[len(l)-1].Delay)
		}
	}
	return most
}

// underway reports whether an access that was never applied was on its way to the resource when the run ended.
func (v *view) underway(a *history.Access) bool {
	for i := range v.all {
		m := &v.all[i]
		if m.From == a.Client && m.Sent == a.Invoked && m.What == a.Op.String() && v.onItsWay(&m.Message) {
			return true
		}
	}
	return false
}
