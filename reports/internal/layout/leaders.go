package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// leadersLane shows which servers take themselves for the master or the leader, and in which epoch, if that changes. It
// is a number too: of two at once each may grant the lock.
func leadersLane(v *model.View) Lane {
	l := Lane{Name: laneLeads, title: v.Servers().Leads(), kind: timeline.LaneLevel}
	reigns := v.Reigns()
	var levels []timeline.Level
	for _, at := range turns(v, reigns) {
		var lead []model.Reign
		for _, r := range reigns {
			if r.From <= at && at < r.To && !v.IsDown(r.Node, at) {
				lead = append(lead, r)
			}
		}
		level := timeline.Level{At: at, Value: int64(len(lead)), Text: whoLeads(v, lead)}
		if n := len(levels); n == 0 || levels[n-1].Text != level.Text {
			levels = append(levels, level)
		}
	}
	if levels = drawn(v, levels); len(levels) > 1 && len(reigns) > 1 {
		l.Levels = levels
	}
	return l
}

// whoLeads names the servers that lead; where one node stands for several servers only the epochs tell them apart.
func whoLeads(v *model.View, lead []model.Reign) string {
	_, nodes := v.Servers().Role()
	switch {
	case len(lead) == 1 && !nodes:
		return fmt.Sprintf("epoch %d", lead[0].Epoch)
	case len(lead) == 1 && lead[0].Epoch > 0:
		return fmt.Sprintf("%s epoch %d", lead[0].Node, lead[0].Epoch)
	}
	names := make([]string, len(lead))
	for i, r := range lead {
		names[i] = r.Node
	}
	return strings.Join(names, "+")
}

// turns are the moments at which it may change who leads, sorted.
func turns(v *model.View, reigns []model.Reign) []trace.Instant {
	var list []trace.Instant
	for _, r := range reigns {
		list = append(list, r.From, r.To)
	}
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Kind == sim.Crash {
			list = append(list, f.Begin, f.End)
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(t trace.Instant) bool { return t == trace.Never })
}
