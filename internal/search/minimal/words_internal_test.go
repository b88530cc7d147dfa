package minimal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A lease that is renewed does not run out while its holder works; one that is not does.
func TestATitleSaysWhetherALeaseIsOutlasted(t *testing.T) {
	title := func(ended history.Cause, c scenarios.Client, faults ...sim.Fault) string {
		c.Name, c.Count = "a", 1
		s := &scenarios.Scenario{Faults: faults, Clients: []scenarios.Client{c}}
		s.Lock.TTL, s.Servers.Kind = time.Second, "redis"
		return titleOf(s, sighting{
			result:    &harness.Result{History: &history.History{Grants: []history.Grant{{Client: "a", Ended: ended}}}},
			violation: &checker.Violation{Property: checker.Progress},
		})
	}
	long, endless := scenarios.Client{Work: 2 * time.Second}, scenarios.Client{Hangs: true}
	require.Equal(t, "Client a works for longer than the lease; nobody acquires", title(history.ByDeadline, long))
	require.Equal(t, "Client a works for longer than the lease; nobody acquires", title(history.ByDeadline, endless))
	require.Equal(t, "Client a never stops working; nobody acquires", title(history.Open, endless))
	require.Equal(t, "No fault at all; nobody acquires", title(history.Open, long))

	late := sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "redis-1", Does: trace.Execute}},
		Action:  sim.Action{Kind: sim.Delay},
	}
	require.Equal(t, "A message to redis-1 is late; nobody acquires", title(history.Open, long, late))
	twins := sim.Fault{Action: sim.Action{Kind: sim.SameRandom, Nodes: []string{"a", "b"}}}
	require.Equal(t, "Clients a and b draw the same random numbers; nobody acquires", title(history.Open, long, twins))
}

func TestALockHasANameInNamesOfScenariosWhateverItIsCalled(t *testing.T) {
	for lock, name := range map[string]string{
		"redlock": "redlock", "redislock@v0.9.3": "redislock-v0-9-3", "./my/Lock": "my-lock", ".": "lock",
		"/usr/bin/python3 ../../internal/command/testdata/lease.py": "command-testdata-lease-py",
		"./" + strings.Repeat("x", 70):                              strings.Repeat("x", longestLock), "7z 1": "z-1", "77": "lock",
	} {
		require.Equal(t, name, NameOf(lock))
	}
}
