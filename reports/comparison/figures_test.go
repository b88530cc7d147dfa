package comparison

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/search/compare"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		share  float64
		digits int
		how    rounding
		want   string
	}{
		{0, 2, nearest, "0"},
		{1, 2, nearest, "100"},
		{0.07, 2, nearest, "7.0"},
		{0.07, 2, up, "7.0"}, // as it is
		{0.07, 2, down, "7.0"},
		{0.123, 2, nearest, "12"},
		{0.123, 2, up, "13"},
		{0.123, 2, down, "12"},
		{0.127, 2, down, "12"},
		{0.127, 3, down, "12.7"},
		{0.000737499, 2, up, "0.074"},
		{0.0000051, 2, nearest, "0.00051"},
		{0.9996, 2, nearest, "99"}, // not all
		{0.99996, 3, nearest, "99.9"},
		{0.9996, 2, up, "100"},
		{0.0999, 2, up, "10"},
		{0.10001, 2, down, "10"},
	} {
		require.Equal(t, c.want, percent(c.share, c.digits, c.how), "%v", c)
	}
	for n, want := range map[int64]string{
		0: "0", 5: "0.005", 877: "0.877", 4000: "4", 20_500: "20.5", 402_310: "402", 1_234_567: "1,230",
	} {
		require.Equal(t, want, threeDigits(n))
	}
	for n, want := range map[int64]string{0: "0", 1000: "1", 20_500: "20.5", 1001: "1.001"} {
		require.Equal(t, want, thousandths(n))
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, want, count(n))
	}
	for ns, want := range map[int64]string{0: "0 s", 912_400: "912 µs", 2_309_999: "2.31 ms", 9_999_999_999: "10 s"} {
		require.Equal(t, want, duration(ns))
	}
}

// TestPrintedIntervalsAreNeverNarrower holds printed bounds against those that were meant.
func TestPrintedIntervalsAreNeverNarrower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(1e-9, 1).Draw(t, "share")
		digits := rapid.IntRange(1, 4).Draw(t, "digits")
		read := func(how rounding) float64 {
			p, err := strconv.ParseFloat(percent(share, digits, how), 64)
			if err != nil {
				t.Fatal(err)
			}
			return p / 100
		}
		const dust = 1e-12 // of reading a decimal
		l, n, u := read(down), read(nearest), read(up)
		if l > share*(1+dust) || u < share*(1-dust) || n < l*(1-dust) || n > u*(1+dust) {
			t.Fatalf("%v is printed as %v, %v and %v", share, l, n, u)
		}
	})
}

// TestACellIsSaidWithItsWholeInterval holds the ends of printed intervals: outwards is honest, inwards is not.
func TestACellIsSaidWithItsWholeInterval(t *testing.T) {
	c := &compare.Cell{
		Outcome: compare.Violated, Property: resource, Runs: 5000, Violated: 371, InDanger: 1400, Undecided: 2,
		Rate: 0.0742, Least: 0.067091, Most: 0.081812,
	}
	require.Equal(t, "6.7–8.2", bounds(c, 2))
	require.Equal(t, "violated in 371 of 5,000 runs: 7.42 %, interval 6.70–8.19 %; exposed in 1,400 (28.0 %); "+
		"undecided in 2", statement(c))
	c.Outcome, c.Violated, c.Undecided, c.Most = compare.Held, 0, 0, 0.000737499
	require.Equal(t, "never violated in 5,000 runs: below 0.0738 %; exposed in 1,400 (28.0 %)", statement(c))
	c.Outcome, c.InDanger = compare.Vacuous, 0
	require.Equal(t, "never exposed in 5,000 runs: nothing is known of it", statement(c))
}

func TestTheRampRises(t *testing.T) {
	last := 0
	for _, rate := range []float64{0, 0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3} {
		require.Equal(t, min(last, len(ramp)), step(rate), "%v", rate)
		last++
	}
	require.Equal(t, len(ramp), step(1))
}

// TestUnseen holds the bound against figures from tables: for many runs it is about 3.7 in the number of runs.
func TestUnseen(t *testing.T) {
	require.InDelta(t, 0.000737499, unseen(5000, 95), 1e-8)
	require.InDelta(t, 0.0073506, unseen(500, 95), 1e-6)
	require.InDelta(t, 0.0010591, unseen(5000, 99), 1e-6)
	require.InDelta(t, 1.0, unseen(0, 95), 0)
}
