package harness

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Outages lists the clients that, by faults that never heal, have lost access to servers that every lock on them needs:
// the only server, or a majority where one is needed. A replica that cannot be promoted does not count as a server; one
// that Sentinels or a cluster could promote does, whether they promote it or not.
func (p *Plan) Outages(faults []sim.FaultReport) []history.Outage {
	var lasting []sim.FaultReport
	for _, f := range faults {
		takes := slices.Contains([]sim.ActionKind{sim.Crash, sim.Pause, sim.Cut, sim.Stall}, f.Fault.Action.Kind)
		if takes && f.Fired && f.End == trace.Never {
			lasting = append(lasting, f)
		}
	}
	slices.SortStableFunc(lasting, func(a, b sim.FaultReport) int { return cmp.Compare(a.Begin, b.Begin) })
	promotes := slices.ContainsFunc(faults, func(f sim.FaultReport) bool { return f.Fired && f.Fault.Action.Kind == sim.Promote })
	var list []history.Outage
	for i := range p.clients {
		c := &p.clients[i]
		for n := range lasting {
			x := remains{&p.Case.Scenario.Servers, c, lasting[:n+1], promotes}
			if text := x.missing(); text != "" {
				list = append(list, history.Outage{Client: c.name, From: lasting[n].Begin, Text: text})
				break
			}
		}
	}
	return list
}

// remains is what lasting faults have left of the servers for a client.
type remains struct {
	servers  *scenarios.Servers
	client   *clientPlan
	faults   []sim.FaultReport
	promotes bool // a fault made a replica master
}

// missing says what the client has lost for good; "" if it can still do all that a lock needs.
func (x *remains) missing() string {
	names := x.servers.Names()
	switch {
	case x.servers.Kind == "zookeeper":
		return x.ensemble()
	case x.servers.Kind == "redis":
		return x.masters()
	case !x.lives(names[0]):
		return "the only server is gone"
	case !x.reaches(names[len(names)-1]): // or its pooler
		return "it cannot reach the only server"
	default:
		return ""
	}
}

// ensemble needs a majority of servers that live, and one of them that the client reaches.
func (x *remains) ensemble() string {
	names := x.servers.Names()
	live := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !x.lives(name) })
	mine := names
	if len(x.client.servers) > 0 {
		mine = x.client.servers
	}
	switch {
	case len(live) <= len(names)/2:
		return "a majority of the servers is gone"
	case !slices.ContainsFunc(mine, x.reaches):
		return "it cannot reach any of its servers"
	default:
		return ""
	}
}

// masters needs the only master, that of the lock's slot, or a majority of independent ones.
func (x *remains) masters() string {
	s := x.servers
	names, up := s.Names(), 0
	independent := s.Masters
	if s.Cluster {
		independent = 1
	}
	for m := range independent {
		stands := x.reaches(names[m])
		for r := 0; r < s.Replicas && (x.promotes || s.Cluster || s.Sentinels > 0); r++ {
			stands = stands || x.reaches(names[s.Masters+m*s.Replicas+r])
		}
		if stands {
			up++
		}
	}
	switch {
	case up > independent/2:
		return ""
	case independent > 1:
		return "it cannot reach a majority of the servers any more"
	default:
		return "it cannot reach the only master any more"
	}
}

// lives reports whether a server has neither crashed nor stopped for good.
func (x *remains) lives(server string) bool {
	return !slices.ContainsFunc(x.faults, func(f sim.FaultReport) bool { return f.Node == server })
}

// reaches reports whether a server lives, and nothing holds up for good what the client and the server send each other.
func (x *remains) reaches(server string) bool {
	joins := func(from, to []string) bool { return meant(from, x.client.name) && meant(to, server) }
	return x.lives(server) && !slices.ContainsFunc(x.faults, func(f sim.FaultReport) bool {
		l := &f.Fault.Action.Link
		return joins(l.From, l.To) || joins(l.To, l.From)
	})
}

func meant(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return sim.Glob(p, name) })
}
