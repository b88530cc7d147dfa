package tell

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Assumptions say in which model of time and of faults runs took place, in clauses of one sentence.
func Assumptions(v *model.View) []string {
	if v.Run.Log != nil {
		return v.Run.Log.Assumes
	}
	s := v.Run.Case.Scenario
	if v.Run.Real != "" {
		return onRealServers(v)
	}
	code := "the lock's code is"
	if s.Servers.Facts().Scripts {
		code = "the lock's code and its scripts are"
	}
	return []string{
		"an asynchronous network, where " + latencyWords(s) + " unless a fault holds them up",
		clockWords(v),
		"what servers have acknowledged " + diskWords(s.Servers),
		faultWords(v),
		code + " real, everything else is simulated",
	}
}

// onRealServers says what a run on real servers was, and how time went.
func onRealServers(v *model.View) []string {
	s, network := v.Run.Case.Scenario, "the network of this machine"
	if len(s.Network.Latency)+len(s.Network.Links) > 0 {
		network += ", where in addition " + latencyWords(s)
	}
	passed := "real time"
	if v.Run.Late > 0 {
		passed += ", in which something came late by " + wording.Precise(v.Run.Late.Round(time.Millisecond))
	}
	return []string{
		network, "the clocks of this machine", passed, "what servers have acknowledged " + diskWords(s.Servers), faultWords(v),
		"the program and the servers (" + v.Run.Real + ") are real, as are their stops and ends; proxies hold back and break off what " +
			"passes between them; the resource is simulated",
	}
}

// latencyWords say how long messages take.
func latencyWords(s *scenarios.Scenario) string {
	l := model.Delays(s)
	text := span(l[0].Delay, l[len(l)-1].Delay)
	var links []string
	for i := range s.Network.Links {
		link := &s.Network.Links[i]
		if l := link.Latency; len(l) > 0 {
			takes := span(l[0].Delay, l[len(l)-1].Delay)
			links = append(links, takes+" between "+wording.Listing(link.From)+" and "+wording.Listing(link.To))
		}
	}
	if len(links) > 0 {
		text += " (" + strings.Join(links, ", ") + ")"
	}
	return "messages take " + text
}

func span(shortest, longest time.Duration) string {
	if shortest == longest {
		return wording.Precise(longest)
	}
	return wording.Precise(shortest) + " to " + wording.Precise(longest)
}

// clockWords say whose clocks are wrong.
func clockWords(v *model.View) string {
	var wrong []string
	for _, c := range v.Run.Case.Scenario.Clocks {
		wrong = append(wrong, c.Node)
	}
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Kind == sim.SetClock {
			wrong = append(wrong, f.Node)
		}
	}
	slices.SortFunc(wrong, model.CompareNames)
	if wrong = slices.Compact(wrong); len(wrong) == 0 {
		return "accurate clocks"
	}
	return "accurate clocks but for " + wording.Listing(wrong)
}

// diskWords say what a crash leaves of what servers have acknowledged.
func diskWords(s scenarios.Servers) string {
	switch {
	case s.Disk == "lies":
		return "is kept by disks that lie"
	case s.Persistence == "everysec":
		return "is written to disk once a second"
	case s.Persistence == "lazy":
		return "is written to disk when the machine likes"
	case s.Persistence == "rdb":
		return "is written to disk with a snapshot"
	case s.Shape().Volatile:
		return "is in memory alone"
	}
	return "has been written to disk"
}

// faultWords count the faults of each kind but for those of clocks, of which the words before tell. A shared random source is not
// injected, and is in the scenario alone.
func faultWords(v *model.View) string {
	var kinds []string
	count := map[string]int{}
	add := func(kind sim.ActionKind) {
		name := faultNames[kind]
		if count[name] == 0 {
			kinds = append(kinds, name)
		}
		count[name]++
	}
	wrong := len(v.Run.Case.Scenario.Clocks) > 0
	for i := range v.Run.Case.Scenario.Faults {
		if v.Run.Case.Scenario.Faults[i].Action.Kind == sim.SameRandom {
			add(sim.SameRandom)
		}
	}
	for i := range v.Faults {
		if kind := v.Faults[i].Kind; kind == sim.SetClock {
			wrong = true
		} else {
			add(kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = wording.Counted(count[kind], kind)
	}
	switch {
	case len(kinds) > 0:
		return wording.Listing(kinds) + ", no other fault"
	case wrong:
		return "no other fault"
	}
	return "no fault"
}

// faultNames are what one of each kind of faults is called.
var faultNames = map[sim.ActionKind]string{
	sim.Pause: "pause", sim.Crash: "crash", sim.Cut: "cut", sim.Stall: "stalled link", sim.Delay: "delay", sim.Break: "broken connection",
	sim.Error: "error reply", sim.SameRandom: "shared random source", sim.Promote: "manual failover", sim.Evict: "eviction",
	sim.Snapshot: "snapshot", sim.EndSession: "ended session",
}
