package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ClockTurn is a moment at which a clock begins to be wrong in another way.
type ClockTurn struct {
	At   trace.Instant
	Step time.Duration
	Rate int64 // from then on, in parts per million
}

// ClockTurns are the scenario's settings of a node's clock and the faults that changed it. Of several rates that faults
// set, the latest counts.
func (v *View) ClockTurns(node string) []ClockTurn {
	var list []ClockTurn
	for _, c := range v.Run.Case.Scenario.Clocks {
		if c.Node == node {
			list = append(list, ClockTurn{0, c.Offset, c.Rate})
		}
	}
	own := int64(0)
	if len(list) > 0 {
		own = list[0].Rate
	}
	for i := range v.Faults {
		f := &v.Faults[i]
		if f.Kind != sim.SetClock || f.Node != node {
			continue
		}
		list = append(list, ClockTurn{At: f.Begin, Step: f.Of.Action.Step}, ClockTurn{At: f.End, Step: -f.Of.Action.Step})
	}
	list = slices.DeleteFunc(list, func(t ClockTurn) bool { return t.At > v.History.End })
	slices.SortStableFunc(list, func(a, b ClockTurn) int { return cmp.Compare(a.At, b.At) })
	for i := range list {
		list[i].Rate = v.rateAt(node, list[i].At, own)
	}
	return list
}

func (v *View) rateAt(node string, at trace.Instant, own int64) int64 {
	rate, since := own, trace.Instant(-1)
	for i := range v.Faults {
		f := &v.Faults[i]
		imposed := f.Kind == sim.SetClock && f.Node == node && f.Of.Action.Rate != 0
		if imposed && f.Begin <= at && at < f.End && f.Begin > since {
			rate, since = f.Of.Action.Rate, f.Begin
		}
	}
	return rate
}

// Drift is how far a clock with a wrong rate gets ahead. Whole seconds are counted apart so that nothing overflows.
func Drift(t trace.Instant, rate int64) time.Duration {
	const second = trace.Instant(time.Second)
	return time.Duration(t/second)*time.Duration(rate)*time.Microsecond + time.Duration(int64(t%second)*rate/1_000_000)
}
