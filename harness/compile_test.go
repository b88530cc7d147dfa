package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func compileText(t *testing.T, text string, lock *locks.Algorithm) error {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte("name: x\ntitle: x\nstory: x\nclients: {a: {work: 1s}, b: {work: 1s}}\n"+text))
	require.NoError(t, err)
	_, err = harness.Compile(s.Cases()[0], lock)
	return err
}

func TestLockThatDoesNotExistIsRefusedWithTheNearestName(t *testing.T) {
	err := compileText(t, "lock: {algorithm: set-nx-lau}\nexpect: {mutual-exclusion: held}\n", nil)
	require.EqualError(t, err, `x.yaml:5:19: lock.algorithm: there is no lock named "set-nx-lau"; did you mean "set-nx-lua"?`)
}

func TestExpectationOfATokenThatTheLockHasNotIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"expect: {fencing-order: held}\n": "x.yaml:6:25: expect.fencing-order: the lock redlock hands out no fencing token",
		"resource: {fencing: fenced-write}\nexpect: {resource: {fenced-write: held}}\n": "x.yaml:7:35: expect.resource.fenced-write: " +
			"the lock redlock hands out no fencing token to compare; want not-judged, or a mode that needs none",
		"resource: {fencing: fenced-write}\nexpect: {resource: {fenced-write: not-judged}}\n": "",
	} {
		err := compileText(t, "lock: {algorithm: redlock}\n"+text, nil)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

func TestLockWithoutABuilderIsRefused(t *testing.T) {
	err := compileText(t, "lock: {algorithm: own}\nexpect: {mutual-exclusion: held}\n", &locks.Algorithm{Name: "own"})
	require.ErrorContains(t, err, `the lock "own" has no builder`)
}
