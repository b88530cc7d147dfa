package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// benchmarkFile is benchmark for a scenario of testdata/benchmarks, which campaigns are measured by, too.
func benchmarkFile(b *testing.B, name string) {
	text, err := os.ReadFile(filepath.Join("testdata", "benchmarks", name+".yaml"))
	require.NoError(b, err)
	benchmark(b, string(text))
}

// benchmark runs a scenario's first case with ever new seeds and reports runs and steps per second.
func benchmark(b *testing.B, text string) {
	s, err := scenarios.Parse("benchmark.yaml", []byte(text))
	require.NoError(b, err)
	p, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(b, err)
	var r harness.Runner
	defer r.Close()
	benchmarkPlan(b, &r, p)
}

// benchmarkPlan is benchmark for a plan.
func benchmarkPlan(b *testing.B, r *harness.Runner, p *harness.Plan) {
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
	benchmarkFile(b, "set-nx-lua")
}

// BenchmarkRedlock: five nodes, three clients with a short section each, one node restarts.
func BenchmarkRedlock(b *testing.B) {
	benchmarkFile(b, "redlock")
}

// BenchmarkZKSequential: an ensemble of three, three clients with a short section each over 15 seconds, in which sessions
// are kept alive and followers are pinged.
func BenchmarkZKSequential(b *testing.B) {
	benchmarkFile(b, "zk-sequential")
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
