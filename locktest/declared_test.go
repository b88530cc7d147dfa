package locktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/promise"
	"github.com/locksim/locksim/locks"
)

// TestProbingFindsWhatTheCatalogueDeclares holds what is found out of a lock in runs without faults against what is declared of
// it, for every lock of the catalogue: promises follow from either. Not compared is Algorithm.Renews, which in the catalogue says
// that a lock tells its holder when it cannot renew, too.
func TestProbingFindsWhatTheCatalogueDeclares(t *testing.T) {
	for _, a := range locks.Catalogue().All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			s, err := examine(a.New(locks.Options{}), Options{Name: a.Name})
			require.NoError(t, err)
			require.False(t, s.waits, "a try returns at once")
			declared, found := *promise.Of(a), s.Subject
			require.Equal(t, declared.Algorithm.Token, found.Algorithm.Token, "token")
			require.Equal(t, declared.Algorithm.Guard, found.Algorithm.Guard, "guard")
			require.Equal(t, declared.Algorithm.Keeps, found.Algorithm.Keeps, "keeps")
			require.Equal(t, declared.Algorithm.Deadline, found.Algorithm.Deadline, "deadline")
			if declared.Algorithm.Authority == locks.MostKeys { // of several keys one is watched: who has it not has not the lock
				require.Equal(t, locks.OneNode, found.Algorithm.Authority, "authority")
				return
			}
			require.Equal(t, declared.Algorithm.Authority, found.Algorithm.Authority, "authority")
			require.Equal(t, declared.Kind(), found.Kind(), "servers")
			declared.Algorithm, found.Algorithm = locks.Algorithm{}, locks.Algorithm{}
			require.Equal(t, declared, found)
		})
	}
}
