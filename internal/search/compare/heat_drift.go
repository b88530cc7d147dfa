package compare

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Leases and rates of drift, in parts per million. No rate is a bound of Redlock's at one of the leases.
var (
	driftLeases = []time.Duration{200 * time.Millisecond, time.Second, 10 * time.Second, 100 * time.Second}
	driftRates  = []int64{0, 200, 1_000, 2_000, 4_500, 5_500, 8_000, 12_000, 20_000}
)

// driftHeats is how often two careful clients hold at once if the clock of the first is slow, and those of all servers are
// fast, by the same rate, while the second asks all the time.
func driftHeats(names ...string) []heatMap {
	var list []heatMap
	for _, name := range names {
		lock := lockNamed(name)
		m := heatMap{
			Heat: Heat{
				Name:  "drift-" + name,
				Title: name + ", the holder's clock slow and the servers' clocks fast; careful clients",
				Lock:  name, Fencing: history.Unfenced.String(), Property: checker.MutualExclusion.String(), Runs: heatRuns,
				Across: "drift of each clock", Down: "life of a lease", Columns: axis(driftRates, ppm), Rows: axis(driftLeases, short),
			},
			lock: lock, style: history.Careful, about: checker.MutualExclusion,
			scene: func(row, column, _ int) *scene {
				ttl, rate := driftLeases[row], driftRates[column]
				s := newScene(&lock, ttl, sim.Constant(time.Microsecond))
				s.client("a", 0, 2*ttl)
				b := s.client("b", ttl-ttl/64, 0)
				b.Retry.Delay, b.Retry.Jitter = ttl/2000, ttl/2000
				s.Until = ttl + ttl/10
				if rate > 0 {
					s.Clocks = []scenarios.Clock{{Node: "a", Rate: -rate}}
					for _, node := range s.Servers.Names() {
						s.Clocks = append(s.Clocks, scenarios.Clock{Node: node, Rate: rate})
					}
				}
				return s
			},
		}
		allowance, text := allowances(name)
		m.LineText = "drift uses the allowance up: (T-d)/(1-r) > T/(1+r), with " + text
		m.Line = driftLine(allowance)
		m.blank()
		list = append(list, m)
	}
	return list
}

// allowances is what a lock takes off its lease for drift.
func allowances(name string) (of func(ttl time.Duration) time.Duration, text string) {
	if name == "redlock-no-drift" {
		return func(time.Duration) time.Duration { return 0 }, "no allowance d"
	}
	return func(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }, "an allowance d of T/100 + 2ms"
}

// driftLine says from which rate on a slow holder outlasts a key on fast servers: the holder stops when (T-d)/(1-r) have
// passed in true time, and the key is gone after T/(1+r), so that r > d/(2T-d).
func driftLine(allowance func(time.Duration) time.Duration) []int {
	line := make([]int, len(driftLeases))
	for i, ttl := range driftLeases {
		d := allowance(ttl)
		line[i] = slices.IndexFunc(driftRates, func(rate int64) bool {
			return time.Duration(rate)*(2*ttl-d) > d*million && rate > 0
		})
		if line[i] < 0 {
			line[i] = len(driftRates)
		}
	}
	return line
}

const million = 1_000_000
