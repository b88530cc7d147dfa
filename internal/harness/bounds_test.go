package harness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/scenarios"
)

// endless is a scenario whose run would be long, and whose data would be large, on some servers.
const endless = `
name: endless
lock: {algorithm: LOCK, ttl: 10s}
servers: {SERVERS}
clients:
  a: {count: 40, sections: 10000, tasks: 20, wait: 1000h, work: 1ms, retry: {delay: 1ms, jitter: 1ms}}
until: 1000h
bounds: {steps: 1000000000, messages: 1000000000}
expect: {mutual-exclusion: held}
`

func endlessPlan(t *testing.T, lock, servers string) *harness.Plan {
	t.Helper()
	text := strings.NewReplacer("LOCK", lock, "SERVERS", servers).Replace(endless)
	s, err := scenarios.Parse("endless.yaml", []byte(text))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	return plan
}

func TestARunsMemoryIsBoundedAndTheBoundIsNamed(t *testing.T) {
	long.Only(t) // it takes millions of events
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(endlessPlan(t, "set-nx-lua", "kind: redis"), 1, false)
	require.NoError(t, err)
	require.Contains(t, []string{"trace events", "history records"}, result.History.Bound)
	require.Less(t, result.Steps, 6_000_000)
	require.Equal(t, checker.Undecided, result.Report.Verdicts[checker.MutualExclusion])
	require.Contains(t, result.Report.Reasons[checker.MutualExclusion], "the bound on "+result.History.Bound+" was reached")
}

func TestALongRunIsInterruptedAndLeavesNoTrace(t *testing.T) {
	long := endlessPlan(t, "redlock", "kind: redis, masters: 99")
	short := harnessCase(t, "fencing-33-34")
	var fresh harness.Runner
	defer fresh.Close()
	want, err := fresh.Run(short, 7, false)
	require.NoError(t, err)

	stopped := false
	r := harness.Runner{Stop: func() bool { return stopped }}
	defer r.Close()
	_, err = r.Run(short, 7, false)
	require.NoError(t, err)
	require.False(t, r.TakeCut())

	stopped = true
	_, err = r.Run(long, 1, false)
	require.ErrorIs(t, err, harness.ErrInterrupted)
	require.True(t, r.TakeCut())
	require.False(t, r.TakeCut(), "it is told once")
	got, err := r.Run(short, 7, false)
	require.NoError(t, err, "a short run comes to its end")
	require.Equal(t, want, got, "and knows nothing of what was interrupted before it")
}

// harnessCase is the first case of a named scenario.
func harnessCase(t *testing.T, name string) *harness.Plan {
	t.Helper()
	s, err := scenarios.Load(name)
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	return plan
}
