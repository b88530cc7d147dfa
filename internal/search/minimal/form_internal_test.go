package minimal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

// Of two forms the one extends the other that has all of its causes and more of them.
func TestAFormExtendsThoseOfItsCauses(t *testing.T) {
	crash, both := form{about: "a", causes: []string{"crash"}}, form{about: "a", causes: []string{"crash", "pause"}}
	require.True(t, both.extends(&crash))
	require.False(t, crash.extends(&both))
	require.False(t, both.extends(&both))
	require.False(t, both.extends(&form{about: "a", causes: []string{"cut"}}))
	require.False(t, both.extends(&form{about: "b", causes: []string{"crash"}}), "of another lock, or another violation")
}

// Of three servers one may be lost, of two none: what comes of it is another finding.
func TestAMinorityOutOfReachIsAnotherCauseThanAMajority(t *testing.T) {
	for _, c := range []struct {
		masters int
		faults  string
		well    bool
	}{
		{3, "[{at: 0s, crash: redis-1}]", true},
		{3, "[{at: 0s, crash: redis-1}, {at: 1s, pause: redis-1, for: 1s}]", true},
		{3, "[{at: 0s, crash: redis-1}, {at: 0s, crash: redis-2}]", false},
		{3, "[{at: 0s, cut: {from: a, to: redis-1}, for: 1s}]", true},
		{3, "[{at: 0s, cut: {from: a, to: redis-*}, for: 1s}]", false},
		{5, "[{at: 0s, crash: redis-1}, {at: 0s, crash: redis-2}]", true},
		{2, "[{at: 0s, crash: redis-1}]", false},
		{1, "[{at: 0s, crash: redis-1}]", false},
	} {
		s, err := scenarios.Parse("few.yaml", fmt.Appendf(nil, "name: few\nlock: {algorithm: redlock}\nservers: {masters: %d}\n"+
			"clients: {a: {}}\nfaults: %s\n", c.masters, c.faults))
		require.NoError(t, err)
		require.Equal(t, c.well, (&cast{scenario: s}).mostAreWell(), "%d: %s", c.masters, c.faults)
	}
}
