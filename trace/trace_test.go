package trace_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/trace"
)

func TestStepsAreReadAsTheyAreWritten(t *testing.T) {
	for _, name := range trace.DoesNames() {
		does, ok := trace.ParseDoes(name)
		require.True(t, ok, name)
		require.Equal(t, name, does.String())
	}
	_, ok := trace.ParseDoes("none")
	require.False(t, ok, "none is no step that a scenario can name")
}

func TestNeverIsNotPassed(t *testing.T) {
	require.Equal(t, trace.Never, trace.Never.Add(1))
	require.Equal(t, trace.Never, trace.Instant(1).Add(1<<63-1))
	require.Equal(t, trace.Instant(3), trace.Instant(1).Add(2))
	require.Equal(t, "never", trace.Never.String())
	require.Equal(t, "1.5s", trace.Instant(1_500_000_000).String())
}

func TestDigestIsTheSameOnEveryMachine(t *testing.T) {
	var d trace.Digest
	d.Uint64(1)
	d.String("lock")
	d.String("a string of more than eight bytes")
	require.Equal(t, uint64(0xc8dd2b17075f9ad9), d.Sum(), "digests are compared between machines")
}

func TestDigestSeesOrderLengthAndEveryByte(t *testing.T) {
	sum := func(words ...string) uint64 {
		var d trace.Digest
		for _, w := range words {
			d.String(w)
		}
		return d.Sum()
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, -1).Draw(t, "text")
		i := rapid.IntRange(0, len(text)-1).Draw(t, "byte")
		other := []byte(text)
		other[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		require.NotEqual(t, sum(text), sum(string(other)))
		require.NotEqual(t, sum(text), sum(text, ""))
		require.NotEqual(t, sum(text[:i], text[i:]), sum(text))
		require.NotEqual(t, sum(text, "x"), sum("x", text+"y"))
	})
}

func TestDigestSpreadsAChangeOverAllBits(t *testing.T) {
	flipped := 0
	const rounds = 4096
	for x := range uint64(rounds) {
		var a, b trace.Digest
		a.Uint64(x)
		b.Uint64(x ^ 1<<(x%64))
		flipped += bits.OnesCount64(a.Sum() ^ b.Sum())
	}
	require.InDelta(t, 32, float64(flipped)/rounds, 1)
}

func TestRecorderDigestsAlikeWhetherItKeepsOrNot(t *testing.T) {
	var kept, dropped trace.Recorder
	kept.Keep = true
	for i := range trace.Instant(10) {
		e := &trace.Event{At: i, Step: trace.Step{Node: "a", Does: trace.Send, What: "SET", Peer: "redis-1"}, Msg: uint64(i), Sum: 7}
		kept.Add(e, func() string { return "SET lock" })
		dropped.Add(e, func() string { t.Fatal("nobody needs the text"); return "" })
	}
	require.Equal(t, kept.Digest(), dropped.Digest())
	require.Empty(t, dropped.Events())
	require.Len(t, kept.Events(), 10)
	require.Equal(t, uint64(10), kept.Events()[9].Seq)
	require.Equal(t, "a send SET redis-1", kept.Events()[0].String())
}

func TestIntentsAndLooksAreKeptBesideTheDigest(t *testing.T) {
	send := trace.Step{Node: "a", Does: trace.Send, What: "SET", Peer: "redis-1"}
	record := func(keep, besides bool) *trace.Recorder {
		r := &trace.Recorder{Keep: keep}
		if besides {
			r.Look("b", true)
			r.Begin() // what came before is forgotten
			r.Intend(3, &send)
			r.Look("a", false)
		}
		r.Add(&trace.Event{At: 3, Step: send}, nil)
		if besides {
			r.Intend(4, &send)
		}
		return r
	}
	kept := record(true, true)
	require.Equal(t, []trace.Intent{{At: 3, After: 0, Step: send}, {At: 4, After: 1, Step: send}}, kept.Intents())
	require.Equal(t, []trace.Look{{Node: "a", Place: 1}}, kept.Looks())
	require.Equal(t, record(true, false).Digest(), kept.Digest())
	dropped := record(false, true)
	require.Equal(t, kept.Digest(), dropped.Digest())
	require.Empty(t, dropped.Intents())
	require.Empty(t, dropped.Looks())
}
