package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// nothing is a fault that always acts, and does nothing.
func nothing(at sim.Trigger) sim.Fault {
	return sim.Fault{Trigger: at, Action: sim.Action{Kind: sim.SetClock, Node: "b"}}
}

func TestFaultsActAtTheirPoints(t *testing.T) {
	t.Parallel()
	pause := sim.Fault{
		Action:  sim.Action{Kind: sim.Pause, Node: "a"},
		For:     20 * time.Second,
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Acquired}},
	}
	crash := sim.Fault{
		Action:  sim.Action{Kind: sim.Crash, Node: "a", Restart: time.Second},
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "a", Does: trace.Access, What: "write"}},
	}
	var r harness.Runner
	defer r.Close()
	for _, lock := range []string{"set-nx-lua", "redlock", "zk-sequential", "set-nx-lua-wait"} {
		for _, before := range [][]sim.Fault{nil, {pause}, {crash}} {
			x := &explorer{base: based(t, lock)}
			run, err := x.play(&r, before, true)
			require.NoError(t, err)
			points := pointsOf(&run)
			require.Greater(t, len(points), len(run.Events))
			for i := 0; i < len(points); i += 11 {
				p := &points[i]
				again, err := x.play(&r, append(before[:len(before):len(before)], nothing(p.trigger)), true)
				require.NoError(t, err)
				requireBegun(t, again.Events, len(before)+1, p)
			}
		}
	}
}

// requireBegun looks for the beginning of the n-th fault right at a point.
func requireBegun(t *testing.T, events []trace.Event, n int, p *point) {
	t.Helper()
	name := "fault-" + string(rune('0'+n))
	for i, e := range events {
		if e.Does != trace.Begin || e.What != name {
			continue
		}
		require.Equal(t, p.at, e.At, "%v", p.trigger)
		if p.trigger.When == sim.After {
			for i--; events[i].Does == trace.Begin; i-- { // of others that hang on the same step
			}
			require.Equal(t, p.step, events[i].Step)
		}
		return
	}
	require.Fail(t, "it never acted", "%v", p.trigger)
}

// A client that looks at its clock between two steps of one moment is not the same if it was paused before or after it.
func TestAPauseBeforeAClockIsReadIsNotOneAfterIt(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	x := &explorer{base: based(t, "redlock", careful)}
	x.model = newModel(x.base.Scenario, only(search.ClientPause), false)
	run, err := x.play(&r, nil, true)
	require.NoError(t, err)
	keys := make(map[uint64][]string)
	for _, p := range x.model.placements(&run, nil, true) {
		f := p.fault()
		run, err := x.play(&r, []sim.Fault{f}, true)
		require.NoError(t, err)
		key := keyOf(&run)
		keys[key] = append(keys[key], strings.TrimPrefix(f.String(), "{"))
	}
	for _, same := range keys {
		received, acquired := 0, 0
		for _, text := range same {
			if strings.HasPrefix(text, "after: {node: a, does: receive, what: acquire, peer: redis-5}") {
				received++
			}
			if strings.HasPrefix(text, "before: {node: a, does: acquired}") {
				acquired++
			}
		}
		require.Less(t, received+acquired, 2, "its validity was computed in between: %v", same)
	}
}
