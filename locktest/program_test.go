package locktest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// checkProgram checks a program of package clients' tests.
func checkProgram(t *testing.T, program string, o locktest.Options) (*locktest.Finding, error) {
	t.Helper()
	lock, err := clients.Build(t.Context(), "../clients/testdata/"+program)
	if err != nil {
		return nil, err
	}
	return locktest.CheckProgram(lock, o)
}

// The program releases whatever lock is there, as its own or as another's.
func TestAProgramThatReleasesAnothersLockIsCaught(t *testing.T) {
	o := locktest.Options{Runs: 60, Only: []locktest.Promise{locktest.ReleaseSafety}}
	found, err := checkProgram(t, "mine", o)
	require.NoError(t, err)
	require.NotNil(t, found)
}

func TestAProgramThatIsNoneIsNotTested(t *testing.T) {
	_, err := checkProgram(t, "silent", locktest.Options{})
	require.ErrorContains(t, err, "it does not speak to the simulation")
}

func TestALockWithoutAProgramIsForRun(t *testing.T) {
	lock, _ := locks.Catalogue().Find("set-nx-lua")
	_, err := locktest.CheckProgram(lock, locktest.Options{})
	require.ErrorContains(t, err, "clients.Build")
}

// The program panics when a request is not answered in time.
func TestAProgramThatEndsItselfIsCaughtWithItsOutput(t *testing.T) {
	o := locktest.Options{Runs: 100, Only: []locktest.Promise{locktest.Survival}}
	found, err := checkProgram(t, "fragile", o)
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Contains(t, found.Headline(), "survival is broken: at ")
	require.Contains(t, found.Text, "panics: fragile: no answer in time")
	require.Contains(t, found.String(), "goroutine 1 [running]:\n      main.answered(")
}

func TestAProgramThatIsNeverReadyIsNotTested(t *testing.T) {
	_, err := checkProgram(t, "unready", locktest.Options{})
	require.ErrorContains(t, err, "exits with status 1, before it asks for the lock for the first time\nno configuration")
}

// TestAProgramThatCannotAcquireWithoutFaultsIsNotTested wants the library's own error, and what it may come from.
func TestAProgramThatCannotAcquireWithoutFaultsIsNotTested(t *testing.T) {
	long.Only(t)
	for program, says := range map[string][]string{
		"undialled": {"the lock was never acquired in a rehearsal without faults", "dial tcp 10.0.0.1:6379", "hint: ", "guest.Dial"},
		"foreign":   {"the lock was never acquired in a rehearsal without faults", "last error: ", "hint: ", "the protocol of its servers"},
	} {
		_, err := checkProgram(t, program, locktest.Options{})
		for _, text := range says {
			require.ErrorContains(t, err, text)
		}
	}
}
