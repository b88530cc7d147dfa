package sim_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// BenchmarkEngine measures bare steps: two processes that sleep in turns.
func BenchmarkEngine(b *testing.B) {
	b.ReportAllocs()
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	for _, name := range []string{"a", "b"} {
		e.AddClient(name, func(t *sim.Task) {
			for range b.N / 2 {
				t.Sleep(time.Millisecond)
			}
		})
	}
	b.ResetTimer()
	e.Run()
	b.ReportMetric(float64(e.Steps())/b.Elapsed().Seconds(), "steps/s")
}
