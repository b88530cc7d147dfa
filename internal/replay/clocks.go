package replay

import (
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/sim"
)

// clockOf is how wrong a node's clock is from the start on.
func (s *stage) clockOf(name string) (c live.Clock) {
	for _, each := range s.scenario.Clocks {
		if sim.Glob(each.Node, name) {
			c = live.Clock{Offset: each.Offset, Rate: each.Rate}
		}
	}
	return c
}

// touchesClock reports whether a node needs a clock of its own.
func (s *stage) touchesClock(name string) bool {
	for _, f := range s.scenario.Faults {
		if f.Action.Kind == sim.SetClock && (sim.Glob(f.Action.Node, name) || sim.IsRole(f.Action.Node)) {
			return true
		}
	}
	c := s.clockOf(name)
	return c.Offset != 0 || c.Rate != 0
}

// isTwin reports whether a client shares its randomness with another one.
func (s *stage) isTwin(name string) bool {
	for _, f := range s.scenario.Faults {
		if f.Action.Kind == sim.SameRandom && sim.MatchesAny(f.Action.Nodes, name) {
			return true
		}
	}
	return false
}
