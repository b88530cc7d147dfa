package replay

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
)

// route is a link from a client, or a replica, to a server or to the resource, as faults know it.
type route struct {
	client, server string
	link           *real.Link // nil: to the resource
	hold           func(requests, replies bool) (release func())
}

// between lists the routes that lead between two sets of nodes, and which of their directions are meant.
func (s *stage) between(l sim.Link) (list []held) {
	from, to := s.names(l.From), s.names(l.To)
	for _, r := range s.routes {
		forth := slices.Contains(from, r.client) && slices.Contains(to, r.server)
		back := slices.Contains(from, r.server) && slices.Contains(to, r.client)
		h := held{route: r, requests: forth || back && !l.OneWay, replies: back || forth && !l.OneWay}
		if h.requests || h.replies {
			list = append(list, h)
		}
	}
	return list
}

type held struct {
	*route
	requests, replies bool
}

// names lists the nodes that match globs or roles.
func (s *stage) names(patterns []string) (list []string) {
	all := []string{resourceNode}
	for _, r := range s.routes {
		all = append(all, r.client, r.server)
	}
	for _, p := range patterns {
		if sim.IsRole(p) {
			p = s.RoleOf(p)
		}
		for _, name := range all {
			if name != "" && sim.Glob(p, name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// holdAll has what is sent between two sets of nodes wait; nil if there are no links between them.
func (s *stage) holdAll(l sim.Link) (release func() error) {
	list := s.between(l)
	if len(list) == 0 {
		return nil
	}
	var all []func()
	for _, h := range list {
		all = append(all, h.hold(h.requests, h.replies))
	}
	return func() error {
		for _, release := range all {
			release()
		}
		return nil
	}
}

// latency is how long something takes from one node to another, if the scenario says so.
func (s *stage) latency(from, to string) func() time.Duration {
	network := &s.scenario.Network
	found := network.Latency
	if to == resourceNode && s.scenario.Resource.Latency != nil {
		found = s.scenario.Resource.Latency
	}
	for _, l := range network.Links {
		if sim.MatchesAny(l.From, from) && sim.MatchesAny(l.To, to) || sim.MatchesAny(l.To, from) && sim.MatchesAny(l.From, to) {
			found = l.Latency
		}
	}
	if len(found) == 0 {
		return nil
	}
	return func() time.Duration { return draw(found) }
}
