package claims

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// lateRelease ends what its own client has entered since, which a lock that is known by its owner's name does not exclude.
const lateRelease = `
name: late-release
lock: {algorithm: reentrant}
servers: {persistence: always}
clients:
  a: {sections: 2, enters: 1, again: 2.5s, retry: 2.5s, work: 1s}
  b: {enters: 1, again: 2.5s, retry: 2.5s, work: 1s}
network: {latency: 1ms}
faults:
  - {after: {node: a, does: send, what: release, peer: redis-1}, break: this}
  - {at: 0s, cut: {from: a, to: redis-1}, for: 100ms}
  - {after: {node: a, does: send, what: release, peer: redis-1}, pause: redis-1, for: 9.999s}
styles: careless
until: 6m40s
`

// TestWhatIsForgivenBreaksNoClaim plays a violation that the claim forgives, and holds it against a claim that forgives nothing.
func TestWhatIsForgivenBreaksNoClaim(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("late-release.yaml", []byte(lateRelease))
	require.NoError(t, err)
	list := Promises()
	i := slices.IndexFunc(list, func(c Claim) bool { return c.Name == "reentrant-release" })
	require.GreaterOrEqual(t, i, 0)
	strict := list[i]
	strict.Forgives = nil
	var r harness.Runner
	defer r.Close()
	trials := playAll([]*Claim{&list[i], &strict}, &r, s, harness.Options{})
	require.Equal(t, checker.Held, trials[0].Verdict, "%s", trials[0].Text)
	require.True(t, trials[0].InDanger)
	require.Equal(t, checker.Violated, trials[1].Verdict)
}
