package locktest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locktest"
)

// The program releases whatever lock is there, as its own or as another's.
func TestAProgramThatReleasesAnothersLockIsCaught(t *testing.T) {
	o := locktest.Options{Runs: 60, Only: []locktest.Promise{locktest.ReleaseSafety}}
	found, err := locktest.CheckProgram("../clients/testdata/mine", o)
	require.NoError(t, err)
	require.NotNil(t, found)
}

func TestAProgramThatIsNoneIsNotTested(t *testing.T) {
	_, err := locktest.CheckProgram("../clients/testdata/silent", locktest.Options{})
	require.ErrorContains(t, err, "it does not speak to the simulation")
}
