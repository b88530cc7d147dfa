package workload_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

func (f *fake) NewSignal() locks.Signal { return &signal{} }

// remote returns an Env that has another do everything but wait.
func remote(f *fake) workload.Env {
	answer := func(request []byte) []byte { return workload.Answer(f, request) }
	return &workload.Remote{Process: f, Call: answer, Ask: answer}
}

func drawDuration(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.IntRange(0, 4).Draw(t, label)) * time.Second
}

// TestAWorkloadFarAwayIsTheSame plays workloads on an Env itself, and on one that reaches it by frames.
func TestAWorkloadFarAwayIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := workload.Plan{
			Style:    history.Style(rapid.IntRange(0, int(history.Careful)).Draw(t, "style")),
			Fencing:  rapid.SampledFrom([]history.Fencing{history.Unfenced, history.CheckThenWrite}).Draw(t, "fencing"),
			Sections: rapid.IntRange(1, 3).Draw(t, "sections"), Enters: rapid.IntRange(0, 2).Draw(t, "enters"),
			Again: drawDuration(t, "again"), Think: drawDuration(t, "think"), Read: drawDuration(t, "read"),
			Write: drawDuration(t, "write"), Work: drawDuration(t, "work"), Unlock: drawDuration(t, "unlock"),
			Passes: drawDuration(t, "passes"), Forgets: rapid.Bool().Draw(t, "forgets"),
			Stays:     rapid.Bool().Draw(t, "stays"),
			Registers: rapid.IntRange(1, 2).Draw(t, "registers"),
		}
		failures := []error{
			nil, locks.ErrNotAcquired, locks.ErrNotHeld, fmt.Errorf("%w: it broke", locks.ErrUnknown),
			errors.New("refused"),
		}
		refusals := rapid.SliceOfN(rapid.SampledFrom(failures[1:]), 0, 3).Draw(t, "refusals")
		release := rapid.SampledFrom(failures).Draw(t, "release")
		losesAt := drawDuration(t, "losesAt")
		lease := locks.Lease{Value: "v", Token: rapid.Uint64().Draw(t, "token")}
		lease.Deadline = rapid.SampledFrom([]locks.Deadline{
			{}, locks.MonotonicDeadline(2e9), locks.WallDeadline(3e9),
		}).Draw(t, "deadline")
		unanswered := rapid.SampledFrom([]string{"", "read 0", "write 0"}).Draw(t, "unanswered")

		play := func(env func(*fake) workload.Env) []string {
			f := &fake{loses: &signal{}, losesAt: losesAt, fail: map[string]error{unanswered: locks.ErrUnknown}}
			l := &lock{lease: lease, release: release, refusals: append([]error(nil), refusals...)}
			l.lease.Lost = f.loses
			require.NoError(t, workload.Run(env(f), func(locks.Process) (locks.Lock, error) { return l, nil }, &plan))
			return f.said
		}
		require.Equal(t, play(func(f *fake) workload.Env { return f }), play(remote))
	})
}

// hearing is a fake that keeps what it is told of a lease and of a refusal.
type hearing struct {
	fake
	lease locks.Lease
	why   error
}

func (h *hearing) Acquired(_ history.ID, l locks.Lease)                       { h.lease = l }
func (h *hearing) Refused(_ history.ID, _ history.Outcome, why error, _ bool) { h.why = why }

// TestRemoteCallsArrive checks all fields of a lease and of a refusal.
func TestRemoteCallsArrive(t *testing.T) {
	h := &hearing{}
	answer := func(request []byte) []byte { return workload.Answer(h, request) }
	r := &workload.Remote{Call: answer}
	lease := locks.Lease{Value: "v\x00", Token: 1<<64 - 1, Deadline: locks.WallDeadline(-5), Suspended: &signal{}}
	r.Acquired(1, lease)
	require.NotNil(t, h.lease.Suspended)
	require.Nil(t, h.lease.Lost)
	h.lease.Suspended = lease.Suspended
	require.Equal(t, lease, h.lease)

	r.Refused(1, history.Failed, fmt.Errorf("redis-1: %w", locks.ErrNotAcquired), true)
	require.ErrorIs(t, h.why, locks.ErrNotAcquired)
	require.Equal(t, "redis-1: lock not acquired", h.why.Error())
	r.Refused(1, history.Unknown, locks.ErrUnknown, true)
	require.NotErrorIs(t, h.why, locks.ErrNotAcquired)

	why, told := workload.FailureIn(workload.Failure(errors.New("no such server")))
	require.True(t, told)
	require.EqualError(t, why, "no such server")
}

// TestAssignmentsAreReadAsTheyWereWritten, for arbitrary contents.
func TestAssignmentsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Make[workload.Assignment]().Draw(t, "assignment")
		if len(a.Servers) == 0 {
			a.Servers = nil
		}
		a.Plan.Resources = nil // of several locks, and a program takes one
		require.Equal(t, a, workload.ParseAssignment(a.Frame()))
	})
}

// TestAnAssignmentOfAnotherVersionIsRefused pins the bytes of an assignment: who changes them counts the version up.
func TestAnAssignmentOfAnotherVersionIsRefused(t *testing.T) {
	a := workload.Assignment{Name: "a", Servers: []string{"s"}, Key: "k"}
	require.Equal(t, "e90701610101730000016b00000000000000000000000000000000000000000000000000000000", fmt.Sprintf("%x", a.Frame()), "count the version up")
	require.PanicsWithValue(t, "the program was built from another version of locksim than the one that runs it: build locksim again",
		func() { workload.ParseAssignment(a.Frame()[2:]) }) // as it was before there were versions
}
