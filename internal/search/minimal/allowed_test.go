package minimal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

// TestAReductionStaysWithinWhatIsAllowed reduces violations freely, which makes some sections longer than they were, and
// within what a promise would allow.
func TestAReductionStaysWithinWhatIsAllowed(t *testing.T) {
	t.Parallel()
	h := campaign{"set-nx-lua", history.Careless, history.Unfenced, checker.MutualExclusion, search.Kinds()}
	var r harness.Runner
	defer r.Close()
	left := 0
	for from := range uint64(12) {
		v := h.violation(t, &r, from*100)
		allowed := minimal.Within(v.Case.Scenario)
		free, err := minimal.Reduce(&r, v, minimal.Options{})
		require.NoError(t, err)
		if !allowed(free.Scenario) {
			left++
		}
		bound, err := minimal.Reduce(&r, v, minimal.Options{Allowed: allowed})
		require.NoError(t, err)
		require.True(t, allowed(bound.Scenario), "%s", bound.Scenario.YAML())
	}
	require.Positive(t, left, "nothing would have been longer anyway")
}

// TestAReductionStaysOutOfWhatIsForgiven has a violation forgiven that needs no fault, which is where it would end otherwise.
func TestAReductionStaysOutOfWhatIsForgiven(t *testing.T) {
	h := campaign{"set-nx-lua", history.Careless, history.Unfenced, checker.MutualExclusion, search.Kinds()}
	var r harness.Runner
	defer r.Close()
	forgives := func(h *history.History, _ *checker.Violation) bool { return len(h.Faults) == 0 }
	gone := 0
	for from := range uint64(4) {
		v := h.violation(t, &r, from*100)
		free, err := minimal.Reduce(&r, v, minimal.Options{})
		require.NoError(t, err)
		if len(v.Case.Scenario.Faults) == 0 || len(free.Scenario.Faults) > 0 {
			continue
		}
		gone++
		bound, err := minimal.Reduce(&r, v, minimal.Options{Forgives: forgives})
		require.NoError(t, err)
		require.NotEmpty(t, bound.Scenario.Faults, "%s", bound.Scenario.YAML())
	}
	require.Positive(t, gone, "nothing would have been forgiven anyway")
}

// TestACounterexampleNamesTheLocksOfItsClients leaves out the scenario's lock if no client has it.
func TestACounterexampleNamesTheLocksOfItsClients(t *testing.T) {
	for clients, want := range map[string]string{
		"{a: {}, b: {}}":                                   "set-nx-lua",
		"{a: {lock: {ttl: 4s}}, b: {}}":                    "set-nx-lua",
		"{a: {lock: {algorithm: watchdog}}}":               "watchdog",
		"{a: {lock: {algorithm: watchdog}}, b: {}, c: {}}": "watchdog (a) and set-nx-lua (b, c)",
		"{a: {lock: {algorithm: watchdog}}, b: {lock: {algorithm: set-nx-lua-fenced}}}": "watchdog (a) and set-nx-lua-fenced (b)",
	} {
		s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua}\nclients: "+clients+"\n"))
		require.NoError(t, err)
		require.Equal(t, want, (&minimal.Counterexample{Scenario: s}).Lock(), clients)
	}
}
