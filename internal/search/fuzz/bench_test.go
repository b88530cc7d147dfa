package fuzz

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// BenchmarkCampaign plays campaigns on one core, with all that belongs to them: drawing, faults, the checker, and
// finding out the causes of violations. Everything is drawn, or the scenarios of harness's benchmarks are played, as
// they stand and with faults added.
func BenchmarkCampaign(b *testing.B) {
	for _, lock := range []string{"set-nx-lua", "redlock", "zk-sequential"} {
		file := filepath.Join("..", "..", "harness", "testdata", "benchmarks", lock+".yaml")
		text, err := os.ReadFile(file)
		require.NoError(b, err)
		s, err := scenarios.Parse(file, text)
		require.NoError(b, err)
		b.Run("drawn/"+lock, func(b *testing.B) { benchmark(b, Config{Lock: lock, Faults: search.Kinds()}) })
		b.Run("as-it-stands/"+lock, func(b *testing.B) { benchmark(b, Config{Base: s}) })
		b.Run("with-faults/"+lock, func(b *testing.B) { benchmark(b, Config{Base: s, Faults: search.Kinds()}) })
	}
}

func benchmark(b *testing.B, c Config) {
	b.Helper()
	h := campaign(b, c)
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, h.Run(b.Context(), Plan{Runs: uint64(b.N), Jobs: 1}, func(*Stretch) error { return nil }))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
