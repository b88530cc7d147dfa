package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/ingest"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/scenarios"
)

// judged is what comes of the log of a history, with clocks that are right to within an uncertainty.
func judged(t *testing.T, h *history.History, uncertainty time.Duration) (*ingest.Result, string) {
	t.Helper()
	var log bytes.Buffer
	require.NoError(t, ingest.WriteHistory(&log, h, uncertainty))
	j := ingest.NewJudge(10, time.Second)
	text := log.String()
	_, err := ingest.Merge([]ingest.Source{{Name: "run.jsonl", Text: &log}}, &ingest.Options{Uncertainty: -1}, j.Take)
	require.NoError(t, err, text)
	return j.Close(), text
}

// eachCase calls check with the history and the report of every case of every named scenario.
func eachCase(t *testing.T, check func(name string, h *history.History, r *checker.Report)) {
	t.Helper()
	all, err := scenarios.All()
	require.NoError(t, err)
	var runner harness.Runner
	defer runner.Close()
	for _, s := range all {
		for _, c := range s.Cases() {
			p, err := harness.Compile(c, harness.Options{})
			require.NoError(t, err)
			result, err := runner.Run(p, s.Seed, false)
			require.NoError(t, err)
			check(fmt.Sprintf("%s/%s/%s/%s", s.Name, c.Variant, c.Style, c.Fencing), result.History, &result.Report)
		}
	}
}

// exposedOrNot maps verdicts to what a log can say: that a property was exposed takes the servers' view.
func exposedOrNot(v checker.Verdict) checker.Verdict {
	if v == checker.Vacuous {
		return checker.Held
	}
	return v
}

func TestTheLogOfARunHasTheRunsVerdict(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	runs, violated := 0, map[checker.Property]int{}
	eachCase(t, func(name string, h *history.History, r *checker.Report) {
		runs++
		got, log := judged(t, h, 0)
		for _, p := range []checker.Property{checker.MutualExclusion, checker.Resource} {
			want := r.Verdicts[p]
			if want == checker.NotJudged || want == checker.Undecided {
				continue
			}
			require.Equal(t, exposedOrNot(want).String(), exposedOrNot(got.Verdicts[p]).String(), "%s: %s: %s\n%s\n%s", name, p, got.Reasons[p], log, h)
			if want == checker.Violated {
				violated[p]++
			}
		}
		pairs := 0
		for _, m := range r.Measures {
			if m.Name == "double-holders" {
				pairs = int(m.Value)
			}
		}
		require.Equal(t, pairs, got.Certain, "%s: overlaps\n%s", name, log)
		require.Zero(t, got.Possible, "%s: %+v\n%s", name, got.Findings, log)
	})
	require.Greater(t, runs, 300)
	require.Greater(t, violated[checker.MutualExclusion], 50)
	require.Greater(t, violated[checker.Resource], 30)
}

// The clocks of two clients may differ by twice the uncertainty: if that is more than the two overlap by, the log shows that they
// may have overlapped, and no more.
func TestAnUncertaintyLargerThanTheOverlapMakesItPossible(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	found := 0
	eachCase(t, func(name string, h *history.History, r *checker.Report) {
		if r.Verdicts[checker.MutualExclusion] != checker.Violated {
			return
		}
		exact, _ := judged(t, h, 0)
		slack := time.Duration(0)
		for _, f := range exact.Findings {
			slack = max(slack, f.Slack)
		}
		if len(exact.Findings) < exact.Certain {
			return // the largest is not known
		}
		found++
		unsure, log := judged(t, h, slack/2+1)
		require.Equal(t, checker.Undecided.String(), unsure.Verdicts[checker.MutualExclusion].String(), "%s\n%s", name, log)
		require.Zero(t, unsure.Certain, name)
		require.Positive(t, unsure.Possible, name)
		if slack > 4 {
			sure, _ := judged(t, h, slack/2-1)
			require.Equal(t, checker.Violated.String(), sure.Verdicts[checker.MutualExclusion].String(), "%s\n%s", name, log)
		}
	})
	require.Greater(t, found, 50)
}
