package locktest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// What servers grant is seen in what becomes of a key. A lock whose key does not say who holds is not accused for that,
// and its author is told.
func TestALockIsNotJudgedByAKeyThatDoesNotSayWhoHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		build locks.Builder
		why   string // ""; the key says it
	}{
		{"seat", seat().build, `"lock" does not say: it has no end, and the lock ends nevertheless`},
		{"note", note().build, `"lock" does not say: it has no end, and the lock ends nevertheless`},
		{"line", line().build, `"lock" does not say: who is refused writes it, too`},
		{"hash that stays", hashThatStays().build, `"lock" does not say: it stays when the lock is released`},
		{"emptied", emptied, ""},
		{"handed", handed().build, `"lock" does not say: another's request may make the next holder's`},
		{"guests", guests().build, `"lock" does not say: who is refused writes it, too`},
		{"lease", plant{}.build, ""},
		{"lease that is prolonged by anybody", plant{renews: true, prolongsAny: true}.build, ""},
		{"lease that is cleaned up by anybody", plant{cleansUp: true}.build, ""},
	} {
		sentence, promises, err := locktest.Describe(c.build, locktest.Options{})
		require.NoError(t, err)
		require.Contains(t, sentence, "for a lease of 10", c.name)
		require.Contains(t, promises, locktest.ReleaseSafety, c.name)
		if c.why == "" {
			require.Contains(t, sentence, `the client that makes "lock" holds`, c.name)
			require.Contains(t, promises, locktest.ExclusionAtService, c.name)
			continue
		}
		require.Contains(t, sentence, "what its servers grant cannot be told, since "+c.why, c.name)
		require.NotContains(t, promises, locktest.ExclusionAtService, c.name)
	}
}

// What is learnt of a lease is the least that is certain.
func TestALeaseIsAsLongAsIsCertain(t *testing.T) {
	for _, c := range []struct {
		name  string
		build locks.Builder
		says  string
	}{
		{"second", untilASecond().build, "for a lease of 9s"},
		{"short renewals", shortRenewals, "for a lease of 30s, which it renews when 24 % of it are left"},
	} {
		sentence, _, err := locktest.Describe(c.build, locktest.Options{})
		require.NoError(t, err)
		require.Contains(t, sentence, c.says, c.name)
	}
}
