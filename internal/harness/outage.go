package harness

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// outages lists the clients that, by faults that never heal, have lost access to servers that every lock on them needs:
// the only server, or a majority where one is needed.
func (p *Plan) outages(faults []sim.FaultReport) []history.Outage {
	var lasting []sim.FaultReport
	for _, f := range faults {
		takes := slices.Contains([]sim.ActionKind{sim.Crash, sim.Pause, sim.Cut, sim.Stall}, f.Fault.Action.Kind)
		if takes && f.Fired && f.End == trace.Never {
			lasting = append(lasting, f)
		}
	}
	slices.SortStableFunc(lasting, func(a, b sim.FaultReport) int { return cmp.Compare(a.Begin, b.Begin) })
	promotes := slices.ContainsFunc(faults, func(f sim.FaultReport) bool { return f.Fired && f.Fault.Action.Kind == sim.Promote })
	servers := &p.Case.Scenario.Servers
	var list []history.Outage
	for i := range p.clients {
		c := &p.clients[i]
		for n := range lasting {
			if text := servers.Backend().Lost((*backend.Servers)(servers), remains{c, lasting[:n+1], promotes}); text != "" {
				list = append(list, history.Outage{Client: c.Name, From: lasting[n].Begin, Text: text})
				break
			}
		}
	}
	return list
}

// remains is what lasting faults have left of the servers for a client: backend.Remains.
type remains struct {
	client   *clientPlan
	faults   []sim.FaultReport
	promotes bool // a fault made a replica master
}

// Mine returns the servers that the client may connect to.
func (x remains) Mine() []string { return x.client.Servers }

// Promotes reports whether a fault made a replica master.
func (x remains) Promotes() bool { return x.promotes }

// Lives reports whether a server has neither crashed nor stopped for good.
func (x remains) Lives(server string) bool {
	return !slices.ContainsFunc(x.faults, func(f sim.FaultReport) bool { return f.Node == server })
}

// Reaches reports whether a server lives, and nothing holds up for good what the client and the server send each other.
func (x remains) Reaches(server string) bool {
	joins := func(from, to []string) bool { return sim.MatchesAny(from, x.client.Name) && sim.MatchesAny(to, server) }
	return x.Lives(server) && !slices.ContainsFunc(x.faults, func(f sim.FaultReport) bool {
		l := &f.Fault.Action.Link
		return joins(l.From, l.To) || joins(l.To, l.From)
	})
}
