package compare

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Leases, and how long a holder stands still: between a half of that and one and a half times as long.
var (
	leases = []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second,
	}
	pauses = []time.Duration{
		500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second,
		40 * time.Second, 80 * time.Second,
	}
)

// shortWork is how long a section takes besides its pause.
const shortWork = 200 * time.Millisecond

// pauseHeats is how often a resource is harmed by a holder that reads, stands still somewhere within its section, and
// writes, while another client waits for the lock.
func pauseHeats(name string, modes ...history.Fencing) []heatMap {
	lock := lockNamed(name)
	var list []heatMap
	for _, mode := range modes {
		m := heatMap{
			Heat: Heat{
				Name:  fmt.Sprintf("pause-%s-%s", name, mode),
				Title: fmt.Sprintf("%s, a holder that stands still; fencing: %s", name, mode),
				Lock:  name, Fencing: mode.String(), Property: checker.Resource.String(), Runs: heatRuns,
				Across: "the holder's pause, on average", Down: "life of a lease", Columns: axis(pauses, short), Rows: axis(leases, short),
			},
			lock: lock, mode: mode, about: checker.Resource,
			scene: func(row, column, run int) *scene {
				s := newScene(&lock, leases[row], sim.LAN())
				s.Servers.Tick = tickFor(s.Servers.Kind, leases[row])
				s.client("a", 0, shortWork)
				s.client("b", shortWork/10, shortWork)
				s.Until = 4 * (leases[row] + pauses[column])
				at, long := run, run*permuting%heatRuns // one says nothing of the other
				s.Faults = []sim.Fault{{
					Trigger: sim.Trigger{
						When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Acquired},
						Plus: shortWork/10 + shortWork*8/10*time.Duration(at)/heatRuns,
					},
					Action: sim.Action{Kind: sim.Pause, Node: "a"}, For: pauses[column]/2 + pauses[column]*time.Duration(long)/heatRuns,
				}}
				return s
			},
		}
		m.blank()
		m.LineText = "a fence that sees every access refuses who comes too late, however long the pause"
		if mode == history.Unfenced {
			m.Line = pauseLine()
			m.LineText = "the longest of these pauses outlasts the lease: from there on the resource may be harmed"
		}
		list = append(list, m)
	}
	return list
}

// permuting has no factor in common with the number of runs.
const permuting = 73

// pauseLine says from which pauses on each lease may be outlasted.
func pauseLine() []int {
	line := make([]int, len(leases))
	for i, ttl := range leases {
		line[i] = slices.IndexFunc(pauses, func(p time.Duration) bool { return p*3/2 > ttl })
	}
	return line
}

// tickFor is a tick with which an ensemble grants sessions of that length: from 2 to 20 ticks.
func tickFor(kind string, session time.Duration) time.Duration {
	if !scenarios.Kind(kind).Facts().Has(backend.Tick) {
		return 0
	}
	return session / 5
}
