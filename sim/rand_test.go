package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestFirstDrawsOfTheStreams must never change: a run would be another one under the same seed.
func TestFirstDrawsOfTheStreams(t *testing.T) {
	for _, c := range []struct {
		rand *sim.Rand
		want [3]uint64
	}{
		{sim.NewRand(0, ""), [3]uint64{0xbd60c9c75d1576a8, 0xe3a4273126e45e97, 0x3a38abf7c2e3c92b}},
		{sim.NewRand(1, "latency", "a", "redis-1"), [3]uint64{0xb8f3c9216c5ef3a8, 0xa22dd587aaea0c3f, 0xd2956fe01c9e55c5}},
		{sim.NewRand(1, "latency", "redis-1", "a"), [3]uint64{0x93259440eee90eed, 0xb4758945ea7886d4, 0xecfdfcfb048afa5c}},
		{sim.NewRand(2, "latency", "a", "redis-1"), [3]uint64{0x1e44b084edccf6df, 0x217207177bcf1953, 0x8b2623fcbbae422c}},
		{sim.NewRand(1, "order", "redis-1"), [3]uint64{0x8013518354a0a33b, 0x53b09353bc5debcc, 0xa67c59b1e32a3189}},
		{sim.New(sim.Config{Seed: 1}, nil).Rand("order", "redis-1"), [3]uint64{0x8013518354a0a33b, 0x53b09353bc5debcc, 0xa67c59b1e32a3189}},
	} {
		require.Equal(t, c.want, [3]uint64{c.rand.Uint64(), c.rand.Uint64(), c.rand.Uint64()})
	}
}

func TestNamesOfStreamsDoNotRunTogether(t *testing.T) {
	require.NotEqual(t, sim.NewRand(1, "p", "ab", "c").Uint64(), sim.NewRand(1, "p", "a", "bc").Uint64())
	require.NotEqual(t, sim.NewRand(1, "p", "a").Uint64(), sim.NewRand(1, "pa").Uint64())
	require.NotEqual(t, sim.NewRand(1, "p", "a", "").Uint64(), sim.NewRand(1, "p", "a").Uint64())
}

func TestNeighbouringSeedsDrawIndependently(t *testing.T) {
	ones := 0
	for seed := range uint64(1000) {
		if sim.NewRand(seed, "latency", "a", "b").Int64N(1000) < 500 {
			ones++
		}
	}
	require.InDelta(t, 500, ones, 60) // four standard deviations
}

// TestOneMoreDrawInOneStreamMovesNoOther has two links, one of which carries more messages in the second run.
func TestOneMoreDrawInOneStreamMovesNoOther(t *testing.T) {
	times := func(extra int) (b []string) {
		w := newWorldWith(t, sim.Config{Seed: 5, Latency: sim.UniformLatency(0, time.Second)}, nil)
		w.client("a", func(task *sim.Task, l *line) {
			w.Rand("jitter", "a").Uint64()
			for range 3 + extra {
				l.call("SET k", sim.Forever)
			}
		})
		w.client("b", func(task *sim.Task, l *line) {
			for range 3 {
				b = append(b, l.call("SET k", sim.Forever), w.Now().String())
			}
		})
		w.play()
		return b
	}
	require.Equal(t, times(0), times(4))
}

func TestQuantilesLieBetweenTheirNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := rapid.SliceOfNDistinct(rapid.Int64Range(0, million), 1, 6, rapid.ID).Draw(t, "shares")
		l := make(sim.Latency, len(shares))
		for i, share := range sorted(shares) {
			l[i].Share = share
			l[i].Delay = time.Duration(rapid.Int64Range(0, 1<<62/6).Draw(t, "delay"))
			if i > 0 {
				l[i].Delay += l[i-1].Delay
			}
		}
		previous := time.Duration(0)
		for _, share := range sorted(rapid.SliceOfN(rapid.Int64Range(0, million), 1, 20).Draw(t, "drawn")) {
			d := l.Quantile(share)
			require.GreaterOrEqual(t, d, previous, "quantiles rise")
			previous = d
			low, high := l[0].Delay, l[len(l)-1].Delay
			for _, q := range l {
				if q.Share <= share {
					low = q.Delay
				}
				if q.Share >= share {
					high = min(high, q.Delay)
				}
			}
			require.GreaterOrEqual(t, d, low)
			require.LessOrEqual(t, d, max(high, low))
		}
	})
}

func sorted(shares []int64) []int64 {
	slices.Sort(shares)
	return shares
}
func TestQuantilesOfTheLAN(t *testing.T) {
	lan := sim.LAN()
	for share, want := range map[int64]time.Duration{
		0:       100 * time.Microsecond,
		250_000: 200 * time.Microsecond,
		500_000: 300 * time.Microsecond,
		900_000: ms,
		990_000: 5 * ms,
		995_000: 7500 * time.Microsecond,
		million: 10 * ms,
	} {
		require.Equal(t, want, lan.Quantile(share), share)
	}
}

func TestUniformLatencyIsUniform(t *testing.T) {
	l := sim.UniformLatency(10*ms, 20*ms)
	require.Equal(t, 10*ms, l.Quantile(0))
	require.Equal(t, 12500*time.Microsecond, l.Quantile(250_000))
	require.Equal(t, 20*ms, l.Quantile(million))
}

func TestTableThatBeginsLateIsNotExtrapolated(t *testing.T) {
	l := sim.Latency{{Share: 500_000, Delay: ms}, {Share: million, Delay: 2 * ms}}
	require.Equal(t, ms, l.Quantile(0))
	require.Equal(t, ms, l.Quantile(500_000))
	require.Equal(t, 1500*time.Microsecond, l.Quantile(750_000))
}

// TestARedrawKeepsWhatCameBefore has a client whose messages take times that are drawn.
func TestARedrawKeepsWhatCameBefore(t *testing.T) {
	times := func(o *sim.Redraw, seed uint64) (at []string, staged uint64) {
		w := newWorldWith(t, sim.Config{Seed: seed, Latency: sim.UniformLatency(0, time.Second), Redraw: o}, nil)
		w.client("a", func(task *sim.Task, l *line) {
			for range 8 {
				l.call("SET k", sim.Forever)
				task.Sleep(time.Millisecond) // nothing that waits is lost
				at = append(at, w.Now().String())
			}
			staged = w.StagedRand("jitter", "a").Uint64()
		})
		w.Run()
		return at, staged
	}
	was, wasStaged := times(nil, 5)
	moment, err := time.ParseDuration(was[3])
	require.NoError(t, err)
	other, staged := times(&sim.Redraw{After: trace.Instant(moment), Seed: 6}, 5)
	require.Equal(t, was[:4], other[:4])
	require.Len(t, other, 8)
	require.NotEqual(t, was[4], other[4], "the answer to what was sent at that moment is drawn later")
	require.Equal(t, wasStaged, staged)

	never, _ := times(&sim.Redraw{After: trace.Instant(time.Hour), Seed: 6}, 5)
	require.Equal(t, was, never)
	again, _ := times(&sim.Redraw{After: trace.Instant(moment), Seed: 6}, 5)
	require.Equal(t, other, again)
}
