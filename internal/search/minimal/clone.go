package minimal

import (
	"slices"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
)

// clone copies a scenario so far that its clients, faults, clocks and links, and the numbers in them, can be changed.
// Lists within them are shared: who changes one makes another.
func clone(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Clients = slices.Clone(s.Clients)
	for i := range c.Clients {
		if w := c.Clients[i].Write; w != nil {
			own := *w
			c.Clients[i].Write = &own
		}
	}
	c.Faults, c.Clocks = slices.Clone(s.Faults), slices.Clone(s.Clocks)
	c.Network.Links = slices.Clone(s.Network.Links)
	return &c
}

// tidy brings fields into line with others that have been changed.
func tidy(s *scenarios.Scenario) {
	for i := range s.Clients {
		tidyClient(&s.Clients[i])
	}
	v := &s.Servers
	v.Backend().Tidy((*backend.Servers)(v))
	s.Lock.Acks = min(s.Lock.Acks, v.Replicas)
}

// tidyClient keeps a section's accesses within it. A write at its end needs not be mentioned.
func tidyClient(c *scenarios.Client) {
	if c.Hangs {
		return
	}
	c.Read = min(c.Read, c.Work)
	if c.Write == nil {
		return
	}
	*c.Write = max(*c.Write, c.Read)
	if *c.Write >= c.Work {
		c.Write = nil
	}
}
