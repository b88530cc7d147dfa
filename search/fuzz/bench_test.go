package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

// BenchmarkCampaign plays campaigns on one core, with all that belongs to them: drawing, faults, the checker, and
// finding out the causes of violations. Everything is drawn, or the scenarios of harness's benchmarks are played, as
// they stand and with faults added.
func BenchmarkCampaign(b *testing.B) {
	for _, lock := range []string{"set-nx-lua", "redlock", "zk-sequential"} {
		b.Run("drawn/"+lock, func(b *testing.B) { benchmark(b, Config{Lock: lock, Faults: search.Kinds()}) })
	}
	for _, text := range benchmarks {
		s, err := scenarios.Parse("benchmark.yaml", []byte(text))
		require.NoError(b, err)
		as, with := Config{Base: s}, Config{Base: s, Faults: search.Kinds()}
		b.Run("as-it-stands/"+s.Lock.Algorithm, func(b *testing.B) { benchmark(b, as) })
		b.Run("with-faults/"+s.Lock.Algorithm, func(b *testing.B) { benchmark(b, with) })
	}
}

func benchmark(b *testing.B, c Config) {
	b.Helper()
	h := hunt(b, c, nil)
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, h.Campaign(b.Context(), Plan{Runs: uint64(b.N), Jobs: 1}, func(*Stretch) error { return nil }))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// benchmarks are the scenarios of harness's benchmarks.
var benchmarks = []string{`
name: benchmark-set-nx-lua
title: Two clients and a pause
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {kind: redis}
clients:
  a: {work: 1s, retry: 1s}
  b: {start: 100ms, work: 1s, retry: 1s}
faults:
  - {after: {node: a, does: acquired}, plus: 100ms, pause: a, for: 12s}
expect: {mutual-exclusion: violated}
`, `
name: benchmark-redlock
title: Three clients, five servers and a restart
lock: {algorithm: redlock, ttl: 10s}
servers: {kind: redis, masters: 5}
clients:
  a: {work: 50ms, retry: 200ms}
  b: {work: 50ms, retry: 200ms}
  c: {work: 50ms, retry: 200ms}
faults:
  - {after: {node: a, does: acquired}, crash: redis-3, restart: 10ms}
expect: {mutual-exclusion: held}
`, `
name: benchmark-zk-sequential
title: Three clients on an ensemble
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper}
clients:
  a: {work: 50ms}
  b: {work: 50ms}
  c: {start: 14s, work: 50ms}
until: 15s
expect: {mutual-exclusion: held}
`}
