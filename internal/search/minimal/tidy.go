package minimal

import (
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
)

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
