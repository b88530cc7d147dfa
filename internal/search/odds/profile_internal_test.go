package odds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// underPauses is the model of a lock under a profile with these pauses.
func underPauses(t *testing.T, cpu, pauses string) Model {
	t.Helper()
	return under(t, cpu, pauses, "none")
}

func under(t *testing.T, cpu, pauses, clocks string) Model {
	t.Helper()
	p, err := profile.Read("p.yaml", []byte("title: t\nexample: true\nsource: a test\nacquisitions: 1/s\ncontention: 20%\nlatency: 1ms\n"+
		"work: {length: 500ms, cpu-bound: "+cpu+"}\npauses: "+pauses+"\ncuts: none\ncrashes: none\nfailovers: none\nclocks: "+clocks+"\ncauses: none\n"), nil)
	require.NoError(t, err)
	lock, _ := locks.Catalogue().Find("set-nx-lua")
	s, err := scenarios.Parse("x.yaml", Scenario(&lock, p))
	require.NoError(t, err)
	m, err := Of(p, s.Cases()[0], harness.Options{}, true)
	require.NoError(t, err)
	return m
}

// TestPausesAreLeftOutThatAreShortAndMany leaves out those that are shorter than a thousandth of the lease of ten seconds. They prolong
// work that keeps the processor busy by what they come to: 400 a second of 50 µs are 2 %.
func TestPausesAreLeftOutThatAreShortAndMany(t *testing.T) {
	const many = "{rate: 400/s, length: {p50: 100us, p99: 1ms, tail: pareto}}"
	m := underPauses(t, "false", many)
	h := &m.Hazards[0]
	require.Equal(t, 10*time.Millisecond, h.Short)
	require.InDelta(t, h.All.Rate.PerSecond*h.All.Length.Tail(h.Short), h.Rate, 1e-9)
	require.Less(t, h.Rate, 4.0)
	require.InDelta(t, h.All.Length.Tail(time.Second)*400, h.Length.Tail(time.Second)*h.Rate, 1e-12)
	require.Equal(t, 500*time.Millisecond, m.Case.Scenario.Clients[0].Work, "work that waits is not prolonged")

	m = underPauses(t, "true", "{rate: 400/s, length: {uniform: {from: 0s, to: 100us}}}")
	require.InDelta(t, 510*time.Millisecond, m.Case.Scenario.Clients[0].Work, float64(100*time.Microsecond))

	for _, few := range []string{"{rate: 1/min, length: {p50: 100us, p99: 1ms, tail: pareto}}", "{rate: 400/s, length: {pareto: {min: 20ms, exponent: 1.6}}}"} {
		m = underPauses(t, "false", few)
		require.Zero(t, m.Hazards[0].Short, few)
	}
}

// TestNoDriftIsSaidByNone, as elsewhere in a profile.
func TestNoDriftIsSaidByNone(t *testing.T) {
	require.Empty(t, under(t, "false", "none", "{of: all, drift: none, steps: none}").Drifts)
	require.Len(t, under(t, "false", "none", "{of: all, drift: 20ppm}").Drifts, 1)
}

// TestLocksOfOneScenarioHaveOneLease, since other leases are tried by that of the scenario.
func TestLocksOfOneScenarioHaveOneLease(t *testing.T) {
	p, err := profile.Read("p.yaml", []byte("title: t\nacquisitions: 1/s\npauses: none\ncuts: none\ncrashes: none\nfailovers: none\n"+
		"clocks: none\ncauses: none\n"), nil)
	require.NoError(t, err)
	for named, refused := range map[string]bool{"{x: {}, z: {}}": false, "{x: {}, z: {ttl: 3s}}": true} {
		s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua}\nlocks: "+named+"\nclients: {a: {}, b: {}}\n"))
		require.NoError(t, err)
		if _, err = Of(p, s.Cases()[0], harness.Options{}, false); refused {
			require.EqualError(t, err, "x.yaml:3:25: locks.z.ttl: odds are found for other leases too, by lock.ttl: want one time to live for all locks, stated there")
		} else {
			require.NoError(t, err)
		}
	}
}
