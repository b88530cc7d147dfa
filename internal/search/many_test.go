package search

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

func jobsOf(t *testing.T, seeds int) []Job {
	t.Helper()
	s, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	var jobs []Job
	for _, c := range s.Cases() {
		p, err := harness.Compile(c, harness.Options{})
		require.NoError(t, err)
		jobs = append(jobs, Job{Plan: p, Seeds: Seeds{First: 7, Count: seeds}})
	}
	return jobs
}

type played struct {
	job          int
	seed, digest uint64
}

func TestManyDeliversInOrderHoweverManyRunAtOnce(t *testing.T) {
	jobs := jobsOf(t, 3*chunkSize+1)
	play := func(atOnce int) (list []played) {
		err := Many(t.Context(), jobs, Options{Jobs: atOnce}, func(o Outcome) error {
			require.Equal(t, o.Seed, o.Result.Seed)
			list = append(list, played{o.Job, o.Seed, o.Result.Digest})
			return nil
		})
		require.NoError(t, err)
		return list
	}
	one := play(1)
	require.Len(t, one, len(jobs)*(3*chunkSize+1))
	for i, p := range one {
		require.Equal(t, i/(3*chunkSize+1), p.job)
		require.Equal(t, 7+uint64(i%(3*chunkSize+1)), p.seed)
	}
	require.Equal(t, one, play(8))
	require.Equal(t, one, play(0), "at least one runs")
}

func TestManyEndsWithTheCallersError(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	err := Many(t.Context(), jobsOf(t, 100), Options{Jobs: 4}, func(Outcome) error {
		if n++; n == 20 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, 20, n, "nothing is delivered after the error")
}

func TestManyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := Many(ctx, jobsOf(t, 1_000_000), Options{Jobs: 2}, func(o Outcome) error {
		require.Equal(t, 7+uint64(n), o.Seed, "without a gap")
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.GreaterOrEqual(t, n, 10)
}

func TestManyPlaysNothingOnceItsContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		err := Many(ctx, jobsOf(t, 1), Options{Jobs: 2}, func(Outcome) error { return errors.New("called") })
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestManyOfNothingIsDone(t *testing.T) {
	require.NoError(t, Many(t.Context(), nil, Options{}, func(Outcome) error { return errors.New("called") }))
}

func TestASelectionNarrowsAndAdds(t *testing.T) {
	s, err := scenarios.Load("lease-overrun")
	require.NoError(t, err)
	all, err := Selection{}.Cases(s)
	require.NoError(t, err)
	require.Equal(t, s.Cases(), all)

	careful := history.Careful
	few, err := Selection{
		Variant: s.Variants[1].Name, Style: &careful, Fencing: []history.Fencing{history.TokenEquality},
	}.Cases(s)
	require.NoError(t, err)
	require.Equal(t, []scenarios.Case{{
		Scenario: s.Variants[1].Scenario, Variant: s.Variants[1].Name, Style: careful, Fencing: history.TokenEquality,
	}}, few)

	_, err = Selection{Variant: s.Variants[0].Name + "x"}.Cases(s)
	require.ErrorContains(t, err, "did you mean")
}
