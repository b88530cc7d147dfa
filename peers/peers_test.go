package peers

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBothSidesDoTheSameWork(t *testing.T) {
	for _, w := range []work{alone, contended} {
		want := outcome{grants: int64(w.grants())}
		require.Equal(t, want, handwritten(t, w))
		s := simulate(t, w)
		defer s.runner.Close()
		require.Equal(t, want, s.run(t, 1))
	}
}

// TestRedsyncLetsNobodyInTwice is the hand-written alternative as one would write it: rapid draws, a bubble plays.
func TestRedsyncLetsNobodyInTwice(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		w := work{
			clients: rapid.IntRange(2, 3).Draw(d, "clients"), cycles: rapid.IntRange(1, 3).Draw(d, "cycles"),
			hold:    time.Duration(rapid.IntRange(0, 50).Draw(d, "hold")) * time.Millisecond,
			latency: time.Duration(rapid.IntRange(0, 5).Draw(d, "latency")) * time.Millisecond,
			delay:   50 * time.Millisecond, lease: 10 * time.Second,
		}
		if o := handwritten(t, w); o.doubles > 0 || o.grants != int64(w.grants()) {
			d.Fatalf("%+v in %+v", o, w)
		}
	})
}

// TestTheHandwrittenCheckCanFail has sections outlast their leases: then two hold the lock at once.
func TestTheHandwrittenCheckCanFail(t *testing.T) {
	w := contended
	w.lease, w.hold = 50*time.Millisecond, 200*time.Millisecond
	w.cycles = 1
	require.Positive(t, handwritten(t, w).doubles)
}

// BenchmarkLockCycles is one client that locks, holds and unlocks a hundred times.
func BenchmarkLockCycles(b *testing.B) { both(b, alone) }

// BenchmarkScenarioRuns are three clients that do so ten times each, on servers that are new for each run, and a check that
// no two of them hold the lock at once.
func BenchmarkScenarioRuns(b *testing.B) { both(b, contended) }

// both measures a work on both sides.
func both(b *testing.B, w work) {
	b.Run("locksim", func(b *testing.B) {
		s := simulate(b, w)
		defer s.runner.Close()
		seed := uint64(0)
		measure(b, w, func() outcome {
			seed++
			return s.run(b, seed)
		})
	})
	b.Run("handwritten", func(b *testing.B) {
		measure(b, w, func() (o outcome) {
			asTest(b, func(t *testing.T) { o = handwritten(t, w) })
			return o
		})
	})
}

// measure reports how many runs there are in a second, and how many lock cycles: in a second, and in a second of a
// processor's time, which does not depend on how busy the machine is.
func measure(b *testing.B, w work, run func() outcome) {
	want, before := outcome{grants: int64(w.grants())}, processorTime(b)
	for b.Loop() {
		require.Equal(b, want, run())
	}
	used, cycles := processorTime(b)-before, float64(b.N*w.grants())
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(cycles/b.Elapsed().Seconds(), "cycles/s")
	b.ReportMetric(cycles/used.Seconds(), "cycles/cpu-s")
	b.ReportMetric(0, "ns/op") // what an operation is differs
}

// processorTime is what this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// asTest runs a function as a test inside a benchmark: a bubble asks for one. The benchmark's clock stays outside.
func asTest(b *testing.B, f func(*testing.T)) {
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: f}}) {
		b.Fatal("the bubble failed")
	}
}
