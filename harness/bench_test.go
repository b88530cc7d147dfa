package harness_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/scenarios"
)

// benchmark runs a scenario's first case with ever new seeds and reports runs and steps per second.
func benchmark(b *testing.B, text string) {
	s, err := scenarios.Parse("benchmark.yaml", []byte(text))
	require.NoError(b, err)
	p, err := harness.Compile(s.Cases()[0], nil)
	require.NoError(b, err)
	var r harness.Runner
	defer r.Close()
	steps := 0
	b.ReportAllocs()
	b.ResetTimer()
	for seed := range uint64(b.N) {
		result, err := r.Run(p, seed, false)
		if err != nil {
			b.Fatal(err)
		}
		steps += result.Steps
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}

// BenchmarkSetNXLua: two clients with one section each, one of which pauses for longer than its lease.
func BenchmarkSetNXLua(b *testing.B) {
	benchmark(b, `
name: benchmark-set-nx-lua
title: Two clients and a pause
story: A client pauses for longer than its lease.
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {kind: redis}
clients:
  a: {work: 1s, retry: 1s}
  b: {start: 100ms, work: 1s, retry: 1s}
faults:
  - {after: {node: a, does: acquired}, plus: 100ms, pause: a, for: 12s}
expect: {mutual-exclusion: violated}
`)
}

// BenchmarkRedlock: five nodes, three clients with a short section each, one node restarts.
func BenchmarkRedlock(b *testing.B) {
	benchmark(b, `
name: benchmark-redlock
title: Three clients, five servers and a restart
story: A server restarts without its data.
lock: {algorithm: redlock, ttl: 10s}
servers: {kind: redis, masters: 5}
clients:
  a: {work: 50ms, retry: 200ms}
  b: {work: 50ms, retry: 200ms}
  c: {work: 50ms, retry: 200ms}
faults:
  - {after: {node: a, does: acquired}, crash: redis-3, restart: 10ms}
expect: {mutual-exclusion: held}
`)
}

// BenchmarkZKSequential: an ensemble of three, three clients with a short section each over 15 seconds, in which sessions
// are kept alive and followers are pinged.
func BenchmarkZKSequential(b *testing.B) {
	benchmark(b, `
name: benchmark-zk-sequential
title: Three clients on an ensemble
story: Clients queue for a lock and are woken one by one.
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper}
clients:
  a: {work: 50ms}
  b: {work: 50ms}
  c: {start: 14s, work: 50ms}
until: 15s
expect: {mutual-exclusion: held}
`)
}

// BenchmarkLockCycles: clients that take the lock, touch what it protects and release it, over and over without a fault,
// all of it judged by the checker.
func BenchmarkLockCycles(b *testing.B) {
	const sections = 1_000 // of each client in a run
	for _, lock := range []struct {
		name    string
		masters int
	}{{"redlock", 5}, {"set-nx-lua", 1}} {
		for _, clients := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/clients=%d", lock.name, clients), func(b *testing.B) {
				benchmark(b, fmt.Sprintf(`
name: benchmark-lock-cycles
lock: {algorithm: %s, ttl: 10s}
servers: {kind: redis, masters: %d}
clients:
  a: {count: %d, sections: %d, work: 1ms, retry: 200ms}
until: 1h
expect: {mutual-exclusion: held}
`, lock.name, lock.masters, clients, sections))
				b.ReportMetric(float64(b.N*clients*sections)/b.Elapsed().Seconds(), "cycles/s")
			})
		}
	}
}
