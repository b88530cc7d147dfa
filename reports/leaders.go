package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// leadersLane shows which servers take themselves for the master or the leader, and in which epoch, if that changes. It
// is a number too: of two at once each may grant the lock.
func (v *view) leadersLane() lane {
	role, _ := v.servers().Role()
	l := lane{name: laneLeads, title: role, kind: LaneLevel}
	reigns := v.reigns()
	var levels []Level
	for _, at := range v.turns(reigns) {
		var lead []reign
		for _, r := range reigns {
			if r.from <= at && at < r.to && !v.isDown(r.node, at) {
				lead = append(lead, r)
			}
		}
		level := Level{at, int64(len(lead)), v.whoLeads(lead)}
		if n := len(levels); n == 0 || levels[n-1].Text != level.Text {
			levels = append(levels, level)
		}
	}
	if levels = v.drawn(levels); len(levels) > 1 && len(reigns) > 1 {
		l.levels = levels
	}
	return l
}

// reign is the time during which a server leads.
type reign struct {
	node     string
	epoch    uint64 // 0 if it has none
	from, to trace.Instant
}

// whoLeads names the servers that lead; where one node stands for several servers only the epochs tell them apart.
func (v *view) whoLeads(lead []reign) string {
	_, nodes := v.servers().Role()
	switch {
	case len(lead) == 1 && !nodes:
		return fmt.Sprintf("epoch %d", lead[0].epoch)
	case len(lead) == 1 && lead[0].epoch > 0:
		return fmt.Sprintf("%s epoch %d", lead[0].node, lead[0].epoch)
	}
	names := make([]string, len(lead))
	for i, r := range lead {
		names[i] = r.node
	}
	return strings.Join(names, "+")
}

// reigns are those of the servers of one master's dataset, or of an ensemble.
func (v *view) reigns() []reign {
	of, first := v.electorate()
	if len(of) == 0 {
		return nil
	}
	list := []reign{first}
	for i := range v.roles {
		e := &v.roles[i]
		if !slices.Contains(of, e.Node) {
			continue
		}
		for k := range list {
			if list[k].node == e.Node {
				list[k].to = min(list[k].to, e.At)
			}
		}
		if e.Does == trace.Promote {
			list = append(list, reign{node: e.Node, epoch: e.Sum, from: e.At, to: trace.Never})
		}
	}
	if role, _ := v.servers().Role(); role == "leader" { // a master is one again when it comes back
		for i := range list {
			list[i].to = min(list[i].to, v.crashes(list[i].node, list[i].from))
		}
	}
	return list
}

// crashes returns when a server first goes down after a moment; Never if it does not.
func (v *view) crashes(node string, after trace.Instant) trace.Instant {
	first := trace.Never
	for i := range v.faults {
		if f := &v.faults[i]; f.fired && f.kind == "crash" && f.node == node && f.begin >= after {
			first = min(first, f.begin)
		}
	}
	return first
}

// electorate are the servers of which one is to lead, and the reign of that which leads at first.
func (v *view) electorate() (of []string, first reign) {
	servers := v.servers()
	first = reign{epoch: 1, to: trace.Never}
	switch role, nodes := servers.Role(); {
	case !nodes:
		of, first.node = v.names, v.names[0]
	case role == "leader":
		of, first.node = v.names, v.names[cmp.Or(servers.Leader, servers.Count())-1]
	case role == "master" && servers.Replicas > 0:
		// The lock's key is of the first master.
		of = append([]string{v.names[0]}, v.names[servers.Masters:servers.Masters+servers.Replicas]...)
		first.node, first.epoch = of[0], 0
	}
	return of, first
}

// turns are the moments at which it may change who leads, sorted.
func (v *view) turns(reigns []reign) []trace.Instant {
	var list []trace.Instant
	for _, r := range reigns {
		list = append(list, r.from, r.to)
	}
	for i := range v.faults {
		if f := &v.faults[i]; f.fired && f.kind == "crash" {
			list = append(list, f.begin, f.end)
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(t trace.Instant) bool { return t == trace.Never })
}
