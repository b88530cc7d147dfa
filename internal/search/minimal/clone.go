package minimal

import (
	"slices"

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
	if v.Leader > v.Count() {
		v.Leader = 0
	}
	v.MinReplicas = min(v.MinReplicas, v.Replicas)
	if v.MinReplicas == 0 {
		v.MaxLag = 0
	}
	if v.Replicas == 0 {
		v.FullSync, v.Sentinels = 0, 0
	}
	if v.Sentinels == 0 {
		v.Failover = 0
		if !v.Cluster {
			v.DownAfter = 0
		}
	}
	if v.Kind == "redis" {
		s.Lock.Acks = min(s.Lock.Acks, v.Replicas)
		if v.Persistence != "everysec" && v.Persistence != "always" {
			v.Disk = "honest" // nothing is written that it could lie about
		}
	}
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
