package harness_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// crowd is a scenario in which many clients want one lock at the same time, each once, for a millisecond.
func crowd(t testing.TB, clients int, lock, servers string) *harness.Plan {
	s, err := scenarios.Parse("crowd.yaml", fmt.Appendf(nil, `
name: crowd
lock: {algorithm: %s, ttl: 10s}
servers: {kind: %s}
clients:
  a: {count: %d, work: 1ms, retry: 1s}
until: 1h
bounds: {steps: 100000000, messages: 100000000}
expect: {mutual-exclusion: held}
`, lock, servers, clients))
	require.NoError(t, err)
	p, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	return p
}

// BenchmarkCrowd shows what an acquisition costs as more clients queue for one lock: steps and messages, which are the
// algorithm's own, and time and memory, which are the simulator's. Run it with -benchtime 1x.
func BenchmarkCrowd(b *testing.B) {
	for _, lock := range []struct{ name, servers string }{{"zk-sequential", "zookeeper"}, {"set-nx-lua", "redis"}} {
		for _, clients := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", lock.name, clients), func(b *testing.B) {
				p := crowd(b, clients, lock.name, lock.servers)
				var r harness.Runner
				defer r.Close()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				steps, messages, requests := 0, 0, 0
				for seed := range uint64(b.N) {
					result, err := r.Run(p, seed+1, false) // porcupine has a look at seed 0, however long it is
					require.NoError(b, err)
					require.Len(b, result.History.Beliefs(), clients)
					require.NotEqual(b, checker.Violated, result.Report.Verdicts[checker.MutualExclusion])
					steps, messages, requests = steps+result.Steps, messages+result.Messages, requests+result.History.Requests
				}
				runtime.ReadMemStats(&after)
				each := float64(b.N * clients)
				b.ReportMetric(float64(steps)/each, "steps/acq")
				b.ReportMetric(float64(messages)/each, "messages/acq")
				b.ReportMetric(float64(requests)/each, "requests/acq")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/each/1024, "KiB/acq")
				b.ReportMetric(float64(after.Sys)/(1<<20), "MiB")
			})
		}
	}
}
