package minimal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

// causesOf plays a scenario's first case and returns the causes of what it violates.
func causesOf(t *testing.T, text string) []checker.Cause {
	t.Helper()
	s, err := scenarios.Parse("cause.yaml", []byte("name: cause\ntitle: A violation and its causes\n"+text))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(plan, s.Seed, true)
	require.NoError(t, err)
	require.NotEmpty(t, result.Report.Violations)
	return minimal.Causes(&r, plan, s.Seed, &result.Report, minimal.Options{})
}

func TestAPauseIsACauseOnlyIfTheRunWithoutItIsRight(t *testing.T) {
	const scenario = `
lock: {algorithm: set-nx-lua, ttl: 10s}
resource: {fencing: fenced-write}
faults: [{name: gc, after: {node: a, does: acquired}, pause: holder, for: 12s}]
clients: {b: {work: 1s, start: 1s}, `
	paused := checker.Cause{Property: checker.MutualExclusion, Condition: checker.PausedHolder, Client: "a"}
	require.Contains(t, causesOf(t, scenario+"a: {work: 1s}}"), paused)
	require.NotContains(t, causesOf(t, scenario+"a: {work: 15s}}"), paused, "its work outlasts the lease without the pause, too")
}

func TestAStyleIsACauseOnlyIfAnotherStyleIsRight(t *testing.T) {
	const scenario = `
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper}
`
	const late, waiting = "clients: {a: {work: 20s}, b: {work: 1s, start: 8s}}\n", "clients: {a: {work: 20s}, b: {work: 1s, start: 1s}}\n"
	deaf := checker.Cause{Property: checker.MutualExclusion, Condition: checker.IgnoredNotice, Client: "a"}
	require.Contains(t, causesOf(t, scenario+late+"faults: [{at: 5s, end-session: a}]"), deaf)
	require.NotContains(t, causesOf(t, scenario+waiting+"faults: [{at: 5s, end-session: a}]"), deaf,
		"b is granted the lock before a can have heard anything")
	require.NotContains(t, causesOf(t, scenario+waiting+"faults: [{at: 5s, pause: a, for: 17s}]"), deaf,
		"a client that is paused does not hear of it in time, whether it listens or not")
}

func TestFencingIsACauseOnlyIfAStrongerModeIsRight(t *testing.T) {
	weak := checker.Cause{Property: checker.Resource, Condition: checker.WeakFencing}
	const overrun = `
lock: {algorithm: set-nx-lua-fenced, ttl: 10s}
clients: {a: {work: 12s}, b: {work: 12s, start: 1s}}
`
	require.Contains(t, causesOf(t, overrun), weak)
	require.NotContains(t, causesOf(t, overrun+"resource: {fencing: check-then-write}"), weak,
		"a fenced write is accepted as well, since its token is still the largest that was written")
	require.Contains(t, causesOf(t, overrun+"resource: {fencing: fenced-write}"), weak)
}

// TestAMistakeOfTheApplicationIsACauseOnlyIfTheRunWithoutItIsRight makes each where it does the damage, and where the damage
// is done without it: in the last run by a that outlasts its lease, in the one before it by a job of which there is no need.
func TestAMistakeOfTheApplicationIsACauseOnlyIfTheRunWithoutItIsRight(t *testing.T) {
	const start = `
lock: {algorithm: set-nx-lua-fenced, ttl: 10s}
clients: {a: {work: %s, %s}, b: {work: 3s, start: 1s}}
resource: {fencing: %s}
faults: [{before: {node: a, does: access, what: write}, pause: a, for: %s}]
`
	forgotten := checker.Cause{Property: checker.Resource, Condition: checker.ForgottenToken, Client: "a"}
	passed := checker.Cause{Property: checker.Resource, Condition: checker.PassedToken, Client: "a"}
	for _, x := range []struct {
		work, mistake, fencing, pause string
		cause                         checker.Cause
		is                            bool
	}{
		{"1s", "forgets-token: true", "fenced-write", "15s", forgotten, true},
		{"1s", "forgets-token: true", "none", "15s", forgotten, false},
		{"2s", "passes-token: 2s", "fenced-write", "1ms", passed, true},
		{"11s", "passes-token: 1ms", "fenced-write", "1ms", passed, false},
	} {
		got := causesOf(t, fmt.Sprintf(start, x.work, x.mistake, x.fencing, x.pause))
		require.Equal(t, x.is, slices.Contains(got, x.cause), "%+v: %v", x, got)
	}
}
