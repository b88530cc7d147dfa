package workload_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

func playAll(t *testing.T, f *fake, p workload.Plan, all ...*lock) string {
	t.Helper()
	p.Sections = 1
	var build []locks.Builder
	for _, l := range all {
		build = append(build, func(locks.Process) (locks.Lock, error) { return l, nil })
	}
	require.NoError(t, workload.RunAll(f, build, &p))
	return strings.Join(f.said, "; ")
}

func TestSeveralLocksAreTakenInTurnAndReleasedBackwards(t *testing.T) {
	first, second := &lock{release: locks.ErrNotHeld}, &lock{}
	got := playAll(t, &fake{}, workload.Plan{Between: time.Second, Work: time.Second, Write: time.Second, Registers: 1}, first, second)
	require.Equal(t, "0s takes 0 more=true; 0s start; 0s acquired; 1s takes 1 more=false; 1s start; 1s acquired; "+
		"1s read 0; 1s read 0; 2s write 0; 2s write 0; 2s release; 2s released ok; 2s release; 2s released failed", got)
}

func TestClientWithoutItsSecondLockReleasesTheFirst(t *testing.T) {
	second := &lock{refusals: []error{locks.ErrNotAcquired}}
	got := playAll(t, &fake{}, workload.Plan{Again: time.Second}, &lock{}, second)
	require.Equal(t, "0s takes 0 more=true; 0s start; 0s acquired; 0s takes 1 more=false; 0s start; "+
		"0s refused failed final=false: lock not acquired; 0s release; 0s released ok; "+
		"1s takes 0 more=true; 1s start; 1s acquired; 1s takes 1 more=false; 1s start; 1s acquired; "+
		"1s release; 1s released ok; 1s release; 1s released ok", got)
}

func TestClientThatDoesNotTryAgainReleasesToo(t *testing.T) {
	second := &lock{refusals: []error{errors.New("down")}}
	require.Equal(t, "0s takes 0 more=true; 0s start; 0s acquired; 0s takes 1 more=false; 0s start; "+
		"0s refused failed final=true: down; 0s release; 0s released ok", playAll(t, &fake{}, workload.Plan{Registers: 1}, &lock{}, second))
}

// TestCarefulClientChecksAllItsLocks has a first lease that is over before the write, and a second that is not.
func TestCarefulClientChecksAllItsLocks(t *testing.T) {
	until := func(d time.Duration) *lock {
		return &lock{lease: locks.Lease{Deadline: locks.MonotonicDeadline(locks.Monotonic(d))}}
	}
	p := workload.Plan{Style: history.Careful, Work: 3 * time.Second, Write: 3 * time.Second, Registers: 1}
	require.Equal(t, "0s takes 0 more=true; 0s start; 0s acquired; 0s takes 1 more=false; 0s start; 0s acquired; "+
		"0s check; 0s check; 0s read 0; 0s check; 0s check; 0s read 0; 3s check; 3s lost; "+
		"3s release; 3s released ok; 3s release; 3s released ok", playAll(t, &fake{}, p, until(2*time.Second), until(9*time.Second)))
}

// TestLocksThatGuardOneResourceAccessItOnce shows the leases of both, but for the third, which has a resource of its own.
func TestLocksThatGuardOneResourceAccessItOnce(t *testing.T) {
	token := func(n uint64) *lock { return &lock{lease: locks.Lease{Token: n}} }
	f := &fake{}
	playAll(t, f, workload.Plan{Registers: 1, Resources: []int{0, 1, 0}}, token(33), token(5), token(7))
	require.Equal(t, [][]uint64{{33, 7}, {5}, {33, 7}, {5}}, f.tokens)

	f = &fake{}
	playAll(t, f, workload.Plan{Registers: 1, Resources: []int{0, 0}, Forgets: true}, token(33), token(5))
	require.Equal(t, [][]uint64{{0, 0}, {0, 0}}, f.tokens)
}
