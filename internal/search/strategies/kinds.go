package strategies

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// kindsOf names the kinds of faults that a scenario has.
func kindsOf(s *scenarios.Scenario) []search.Kind {
	d := directory(s.Servers.Names())
	var kinds []search.Kind
	for i := range s.Clients {
		if s.Clients[i].Hangs {
			kinds = append(kinds, search.ClientPause)
		}
	}
	for _, c := range s.Clocks {
		kinds = append(kinds, d.clock(&sim.Action{Node: c.Node, Step: c.Offset, Rate: c.Rate}))
	}
	for i := range s.Faults {
		kinds = append(kinds, d.kindOf(&s.Faults[i]))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// directory is the names of a scenario's servers.
type directory []string

// has reports whether a name, a glob or a role is of servers.
func (d directory) has(name string) bool {
	return slices.Contains(d, name) || name == "master" || name == "leader" || strings.HasSuffix(name, "-*")
}

// among reports whether both ends of a link, or of a message, are of servers.
func (d directory) among(from, to []string) bool {
	return slices.ContainsFunc(from, d.has) && slices.ContainsFunc(to, d.has)
}

// kindOf names the kind of fault that a generator would have to draw for this one.
func (d directory) kindOf(f *sim.Fault) search.Kind {
	a := &f.Action
	switch a.Kind {
	case sim.Pause:
		return d.either(a.Node, search.ClientPause, search.ServerPause)
	case sim.Crash:
		if a.Host {
			return d.either(a.Node, search.ClientCrash, search.PowerLoss)
		}
		return d.either(a.Node, search.ClientCrash, search.ServerCrash)
	case sim.SetClock:
		return d.clock(a)
	case sim.Cut:
		if d.among(a.Link.From, a.Link.To) {
			return search.Partition
		}
		return search.Cut
	case sim.Stall:
		if d.among(a.Link.From, a.Link.To) {
			return search.Lag
		}
		return search.Stall
	case sim.Delay:
		if d.has(f.Trigger.Step.Node) && d.has(f.Trigger.Step.Peer) {
			return search.Lag
		}
		return search.Delay
	case sim.Promote:
		return search.Failover
	default: // the others have one name for action and kind
		k, ok := search.ParseKind(a.Kind.String())
		if !ok {
			panic("strategies: no kind of fault does " + a.Kind.String())
		}
		return k
	}
}

func (d directory) clock(a *sim.Action) search.Kind {
	switch {
	case a.Rate != 0:
		return search.Drift
	case a.Step < 0:
		return d.either(a.Node, search.ClientClock, search.ServerBack)
	default:
		return d.either(a.Node, search.ClientClock, search.ServerAhead)
	}
}

func (d directory) either(node string, ofClient, ofServer search.Kind) search.Kind {
	if d.has(node) {
		return ofServer
	}
	return ofClient
}
