package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestEveryKindOfFaultIsPlacedSomewhere(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	placed := make(map[search.Kind]bool)
	for _, lock := range []string{"set-nx-lua-wait", "zk-sequential", "etcd"} {
		base := based(t, lock, func(s *scenarios.Scenario) {
			if s.Servers.Kind == "redis" {
				s.Servers.Persistence = "rdb"
			}
		})
		x := &explorer{base: base}
		for _, k := range search.Kinds() {
			x.model = newModel(base.Scenario, only(k), true)
			run, err := x.play(&r, nil, true)
			require.NoError(t, err)
			list := x.model.placements(&run, nil, false)
			require.Equal(t, len(x.model.kinds) > 0, len(list) > 0, "%v in %s", k, lock)
			placed[k] = placed[k] || len(list) > 0
			for _, line := range x.model.words() {
				kind, what, ok := strings.Cut(line, ": ")
				require.True(t, ok)
				require.Equal(t, k.String(), kind)
				require.NotEmpty(t, what)
			}
			for i := 0; i < len(list); i += 9 {
				requireText(t, base.Scenario, list[i].fault())
			}
		}
	}
	for _, k := range search.Kinds() {
		require.True(t, placed[k], "%v", k)
	}
}

// requireText requires a scenario with a fault to be one that a file can hold.
func requireText(t *testing.T, base *scenarios.Scenario, f sim.Fault) {
	t.Helper()
	s := *base
	s.Faults = append(s.Faults, f)
	read, err := scenarios.Parse("base.yaml", s.YAML())
	require.NoError(t, err, "%v", f)
	require.Equal(t, s.Faults[len(s.Faults)-1].String(), read.Faults[len(read.Faults)-1].String())
}

func TestEveryLockHasABase(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, lock := range locks.Catalogue().All() {
		s := Base(&lock)
		read, err := scenarios.Parse("base.yaml", s.YAML())
		require.NoError(t, err)
		require.Equal(t, string(s.YAML()), string(read.YAML()))
		x := &explorer{base: s.Cases()[0]}
		run, err := x.play(&r, nil, false)
		require.NoError(t, err)
		require.Empty(t, run.History.Bound)
		acquired := map[string]bool{}
		for i := range run.History.Acquisitions {
			if a := &run.History.Acquisitions[i]; a.Outcome == history.OK {
				acquired[a.Client] = true
			}
		}
		require.Len(t, acquired, 2, "%s: both clients get the lock", lock.Name)
	}
}

// Servers that measure with monotonic clocks do not mind what becomes of their wall clocks.
func TestServersThatNeverLookAtTheirWallClocksDoNotMindThem(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, lock := range []string{"zk-sequential", "etcd", "consul", "chubby"} {
		x := &explorer{base: based(t, lock)}
		require.True(t, x.base.Scenario.Servers.Facts().Monotonic)
		run, err := x.play(&r, nil, true)
		require.NoError(t, err)
		points, untouched := pointsOf(&run), seen(&run)
		for i := 0; i < len(points); i += 5 {
			for _, node := range x.base.Scenario.Servers.Names() {
				f := clock(node, long(x.base.Scenario.Servers.Facts(), x.base.Scenario.Lock.TTL))
				f.Trigger = points[i].trigger
				touched, err := x.play(&r, []sim.Fault{f}, true)
				require.NoError(t, err)
				require.True(t, fired(&touched))
				require.Equal(t, untouched, seen(&touched), "%v", f)
			}
		}
	}
}

// seen condenses what happened in a run and what was promised, but for the faults.
func seen(run *harness.Result) uint64 {
	var d trace.Digest
	happened(&d, run.Events)
	promised(&d, run.History)
	return d.Sum()
}
