package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// BenchmarkTimeline compares a run that keeps its trace with the data of its picture, as JSON: what a page that plays a scenario
// again at each change waits for.
func BenchmarkTimeline(b *testing.B) {
	for _, name := range []string{"fencing-33-34", "redlock-clock-jump", "zk-gc-pause"} {
		s, err := scenarios.Load(name)
		require.NoError(b, err)
		p, err := harness.Compile(s.Cases()[0], harness.Options{})
		require.NoError(b, err)
		var r harness.Runner
		defer r.Close()
		b.Run(name+"/run", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err = r.Run(p, 1, true)
			}
		})
		result, err := r.Run(p, 1, true)
		require.NoError(b, err)
		runs := []reports.Run{account.Of(p, result)}
		b.Run(name+"/json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				err = timelineJSON(io.Discard, runs, reports.TextOptions{Width: imageColumns})
			}
		})
		require.NoError(b, err)
	}
}
