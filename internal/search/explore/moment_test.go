package explore

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// story is what came of a run, but for what a client that died was about to do, or had just been told.
func story(run *harness.Result) string {
	h := run.History
	truth := history.History{Grants: h.Grants, Copies: h.Copies, Asks: h.Asks, Removals: h.Removals}
	told := ""
	for _, p := range DefaultProperties() {
		told += fmt.Sprintln(p, run.Report.Verdicts[p])
	}
	for i := range h.Acquisitions {
		told += fmt.Sprintln(h.Acquisitions[i].Outcome, h.Acquisitions[i].Deadline)
	}
	return told + truth.String()
}

// leftOut is what is not placed in a run, and the fault that is placed in its stead; nil if nobody can be harmed then.
type leftOut struct{ fault, stead *sim.Fault }

func (x *explorer) leaves(run *harness.Result, latest *sim.Fault) (list []leftOut) {
	ends, at, kept := x.model.stake(run.History), make(map[sim.Trigger]trace.Instant), make(map[string]bool)
	for _, p := range pointsOf(run) {
		at[p.trigger] = p.at
	}
	for _, p := range x.model.placements(run, latest, false) {
		kept[p.fault().String()] = true
	}
	steads := make(map[string]*sim.Fault)
	for _, p := range x.model.placements(run, latest, true) {
		f, what := p.fault(), p.what.fault.String()
		switch {
		case kept[f.String()]:
			steads[what] = &f
		case at[f.Trigger] > ends:
			list = append(list, leftOut{fault: &f})
		case steads[what] != nil: // else it does the same as before the latest fault
			list = append(list, leftOut{&f, steads[what]})
		}
	}
	return list
}

// What is not placed at a point does the same as what is placed at another, or can harm nobody any more.
func TestWhatIsNotPlacedMakesNoDifference(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	met, late := make(map[sim.ActionKind]int), 0
	for _, tc := range []struct {
		lock   string
		latest *sim.Fault // goes wrong in the first place
	}{
		{lock: "set-nx-lua"}, {lock: "redlock-py"}, {lock: "zk-sequential"}, {lock: "etcd"}, {lock: "set-nx-lua-wait"},
		{"zk-sequential", &sim.Fault{
			Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Acquired}},
			Action:  sim.Action{Kind: sim.Pause, Node: "a"}, For: 12500 * time.Millisecond,
		}},
	} {
		base := based(t, tc.lock, careful)
		x := &explorer{base: base, model: newModel(base.Scenario, search.Kinds(), false)}
		play := func(also ...*sim.Fault) harness.Result {
			var faults []sim.Fault
			for _, f := range append([]*sim.Fault{tc.latest}, also...) {
				if f != nil {
					faults = append(faults, *f)
				}
			}
			run, err := x.play(&r, faults, true)
			require.NoError(t, err)
			return run
		}
		run := play()
		for i, left := range x.leaves(&run, tc.latest) {
			switch {
			case i%5 != 0: // they are many
			case left.stead == nil:
				late++
				after := play(left.fault)
				require.Equal(t, run.Report.Violations, after.Report.Violations, "%v", left.fault)
			default:
				met[left.fault.Action.Kind]++
				one, other := play(left.fault), play(left.stead)
				require.Equal(t, story(&other), story(&one), "%s: %v, not %v", tc.lock, left.fault, left.stead)
			}
		}
	}
	require.Greater(t, late, 100)
	for _, k := range []sim.ActionKind{sim.Crash, sim.Pause, sim.SetClock, sim.Cut, sim.EndSession, sim.Promote} {
		require.Greater(t, met[k], 4, "%v", k)
	}
}
