package fuzz

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// misdelete searches for a well-known violation: a client whose lease is over deletes the key of the next holder.
func misdelete() Config {
	return Config{
		Lock: "set-nx-ex-del", Faults: []search.Kind{search.ClientPause},
		Properties: []checker.Property{checker.ReleaseSafety},
	}
}

func campaign(t testing.TB, c Config, own ...locks.Algorithm) *Campaign {
	t.Helper()
	h, err := New(c, locks.Catalogue().With(own...))
	require.NoError(t, err)
	return h
}

// play plays a plan and returns what came of it.
func play(t *testing.T, h *Campaign, p Plan) ([]Stretch, *Tally) {
	t.Helper()
	var list []Stretch
	sum := &Tally{}
	require.NoError(t, h.Run(t.Context(), p, func(s *Stretch) error {
		list = append(list, *s)
		sum.Add(&s.Tally)
		return nil
	}))
	return list, sum
}

func TestWhatIsFoundDoesNotDependOnHowManyRunAtOnce(t *testing.T) {
	t.Parallel()
	h := campaign(t, misdelete())
	one, sum := play(t, h, Plan{From: 7, Runs: 700, Jobs: 1})
	eight, same := play(t, h, Plan{From: 7, Runs: 700, Jobs: 8})
	require.Equal(t, one, eight)
	require.Equal(t, sum, same)
	require.Equal(t, 700, sum.Runs)
	require.Positive(t, sum.Violated)

	found, err := h.Findings(t.Context(), h.UsualEffort(sum, 1), sum)
	require.NoError(t, err)
	again, err := h.Findings(t.Context(), h.UsualEffort(sum, 8), sum)
	require.NoError(t, err)
	require.Equal(t, found, again)
}

func TestEveryHitIsOfOneFinding(t *testing.T) {
	t.Parallel()
	h := campaign(t, misdelete())
	_, sum := play(t, h, Plan{Runs: 500, Jobs: 2})
	found, err := h.Findings(t.Context(), h.UsualEffort(sum, 2), sum)
	require.NoError(t, err)
	require.Greater(t, len(sum.Cores), len(found.Findings)-1)
	hits, forms := 0, map[string]bool{}
	for i, f := range found.Findings {
		hits += f.Hits
		forms[f.Counterexample.Form()] = true
		if i > 0 {
			require.LessOrEqual(t, found.Findings[i-1].faults(), f.faults(), "the simplest first")
		}
		require.Equal(t, checker.ReleaseSafety, f.Property)
		plan, err := harness.Compile(f.Counterexample.Scenario.Cases()[0], harness.Options{})
		require.NoError(t, err)
		var r harness.Runner
		result, err := r.Run(plan, f.Counterexample.Scenario.Seed, false)
		require.NoError(t, err)
		require.Equal(t, f.Counterexample.Digest, result.Digest, "the run that was found")
		require.Equal(t, checker.Violated, result.Report.Verdicts[f.Property])
		r.Close()
	}
	require.Equal(t, sum.Violated, hits)
	require.Len(t, forms, len(found.Findings))
	require.Zero(t, found.Left)
}

func TestACampaignToTheFirstViolationStopsThere(t *testing.T) {
	h := campaign(t, misdelete())
	_, whole := play(t, h, Plan{Runs: stretchSize, Jobs: 1})
	first := whole.Cores[whole.inOrder()[0]].First
	for _, jobs := range []int{1, 8} {
		stretches, sum := play(t, h, Plan{Runs: 10_000, Jobs: jobs, ToFirst: true})
		require.Len(t, stretches, 1)
		require.True(t, stretches[0].Cut)
		require.Equal(t, int(first)+1, sum.Runs, "not one run more")
		require.Equal(t, 1, sum.Violated)
		require.Equal(t, Hits{Runs: 1, First: first}, sum.Cores[sum.inOrder()[0]])
	}
}

func TestDangerIsCountedWhereNothingIsViolated(t *testing.T) {
	c := misdelete()
	c.Lock = "set-nx-lua"
	_, sum := play(t, campaign(t, c), Plan{Runs: 300, Jobs: 2})
	require.Zero(t, sum.Violated)
	share := sum.Properties[checker.ReleaseSafety]
	require.Positive(t, share.AtRisk)
	require.Less(t, share.AtRisk, share.Judged, "in some runs nothing could happen")
	require.Equal(t, 300, share.Judged)
	require.Zero(t, sum.Properties[checker.MutualExclusion], "nobody asked for it")
}

// forgetful is a lock whose code panics when it is asked for the second time.
type forgetful struct{ asked []int }

func (f *forgetful) Acquire(time.Duration) (locks.Lease, error) {
	f.asked = append(f.asked, 1)
	return locks.Lease{}, errors.New([]string{"no"}[len(f.asked)-1])
}
func (f *forgetful) Release(locks.Lease) error { return nil }

func TestALockThatPanicsIsNotTheEndOfTheCampaign(t *testing.T) {
	c := misdelete()
	c.Lock = "forgetful"
	h := campaign(t, c, locks.Algorithm{Name: c.Lock, New: func(locks.Options) locks.Builder {
		return func(locks.Process) (locks.Lock, error) { return &forgetful{}, nil }
	}})
	_, sum := play(t, h, Plan{Runs: 50, Jobs: 2})
	require.Equal(t, 50, sum.Runs)
	require.Positive(t, sum.Undecided)
	var r harness.Runner
	defer r.Close()
	which, why := h.Undecided(&r, sum.FirstUndecided)
	require.Contains(t, why, "panicked: runtime error: index out of range [1] with length 1")
	require.NotContains(t, why, "goroutine")
	require.Equal(t, string(h.Draw(sum.FirstUndecided).YAML()), string(which.Scenario.YAML()))
	_, why = h.Undecided(&r, firstDecided(&r, h))
	require.Empty(t, why)
}

// Two sets have a lock of one name: one that releases only its own lock, and one that deletes any. Campaigns for both run at
// once, on the same schedules.
func TestLocksOfOneNameInTwoSetsAreComparedInParallel(t *testing.T) {
	for of, violates := range map[string]bool{"set-nx-lua": false, "set-nx-ex-del": true} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			lock, ok := locks.Catalogue().Find(of)
			require.True(t, ok)
			lock.Name = "mine"
			c := misdelete()
			c.Lock = lock.Name
			_, sum := play(t, campaign(t, c, lock), Plan{Runs: 200, Jobs: 2})
			require.Equal(t, violates, sum.Violated > 0)
			require.Positive(t, sum.Properties[checker.ReleaseSafety].AtRisk)
		})
	}
}

func firstDecided(r *harness.Runner, h *Campaign) uint64 {
	for n := uint64(0); ; n++ {
		if _, why := h.Undecided(r, n); why == "" {
			return n
		}
	}
}

// TestAnInterruptedCampaignGoesOn stops a campaign again and again, at any moment, and resumes it from its ledger.
func TestAnInterruptedCampaignGoesOn(t *testing.T) {
	h := campaign(t, misdelete())
	const runs = 1500
	whole := filepath.Join(t.TempDir(), "whole")
	want := record(t, t.Context(), h, whole, Plan{Runs: runs, Jobs: 2}, nil)

	r := rand.New(rand.NewPCG(3, 4))
	parts := filepath.Join(t.TempDir(), "parts")
	var got *Tally
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		left := r.IntN(4)
		got = record(t, ctx, h, parts, Plan{Runs: runs, Jobs: 1 + r.IntN(3)}, func() {
			if left--; left < 0 {
				cancel()
			}
		})
		cancel()
		if got.Runs == runs {
			break
		}
	}
	require.Equal(t, want, got)
	requireSameFile(t, whole, parts)
}

// record plays a campaign and keeps a ledger, and returns what that says then. Before each stretch is written it calls
// meanwhile.
func record(t *testing.T, ctx context.Context, h *Campaign, file string, p Plan, meanwhile func()) *Tally {
	t.Helper()
	l, played, err := ResumeLedger(file, "build", h.Config, p.Shard)
	require.NoError(t, err)
	p.Done = played.Done
	err = h.Run(ctx, p, func(s *Stretch) error {
		if s.Cut {
			return nil // no line of a ledger
		}
		if meanwhile != nil {
			meanwhile()
		}
		played.Tally.Add(&s.Tally)
		return l.Add(s)
	})
	if ctx.Err() == nil {
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	return &played.Tally
}

func requireSameFile(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	require.NoError(t, err)
	y, err := os.ReadFile(b)
	require.NoError(t, err)
	require.Equal(t, string(x), string(y))
}
