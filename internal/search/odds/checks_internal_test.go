package odds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/profile"
)

// TestProbabilitiesOfStrataSumToOne also compares those of a common cause with how often draws hit so many servers.
func TestProbabilitiesOfStrataSumToOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h := &Hazard{Nodes: make([]string, 1+r.IntN(6)), Rate: math.Exp(-15 * r.Float64())}
		within := time.Duration(r.Int64N(int64(20 * time.Second)))
		if h.Together = r.IntN(2) == 0; h.Together {
			h.Spread, h.Of = time.Duration(r.Int64N(int64(30*time.Second))), 1+r.IntN(len(h.Nodes))
			h.Rate = min(h.Rate, 1/(h.Spread+within+1).Seconds())
		}
		sum := 0.0
		for n := range h.most() + 1 {
			sum += h.probability(n, within)
		}
		require.InDelta(t, 1, sum, 1e-9, "%+v within %v", h, within)
	}
	h := &Hazard{Nodes: make([]string, 5), Together: true, Of: 5, Spread: 10 * time.Second, Rate: 1e-3}
	const runs, within = 200_000, 4 * time.Second
	var counts [6]int
	for range runs {
		begin, n := r.Float64()*14-10, 0
		for range 5 {
			if at := begin + 10*r.Float64(); 0 <= at && at < within.Seconds() {
				n++
			}
		}
		counts[n]++
	}
	for n, count := range counts {
		require.InDelta(t, h.hits(n, within)/14, float64(count)/runs, 0.006, "%d", n)
	}
}

// TestWeightsThatDoNotBalanceAreAnError plants draws that never reach the rarest thousandth of a tail, and draws that reach it too often.
func TestWeightsThatDoNotBalanceAreAnError(t *testing.T) {
	for _, x := range []struct {
		name  string
		ratio func(u, weight float64) (float64, bool) // false: not drawn
		fails bool
	}{
		{"as it should be", func(_, weight float64) (float64, bool) { return weight, true }, false},
		{"the tail is not reached", func(u, weight float64) (float64, bool) { return weight, u > 0.1 }, true},
		{"the weights are forgotten", func(u, weight float64) (float64, bool) { return 1 + weight/2, true }, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			e := &estimator{parts: []*part{{}}}
			for range 20_000 {
				list, weight := rarities(r, 1)
				if ratio, drawn := x.ratio(list[0], weight); drawn {
					e.parts[0].samples = append(e.parts[0].samples, sample{draw: &draw{ratio: ratio}})
				}
			}
			require.Equal(t, x.fails, e.balanced() != nil, fmt.Sprint(e.balanced()))
		})
	}
}

// TestRaritiesReachEveryPartOfATail estimates probabilities that no plain draw would see.
func TestRaritiesReachEveryPartOfATail(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 3, 100} {
		for _, p := range []float64{0.5, 1e-3, 1e-6, 1e-9} {
			const runs = 40_000
			sum := 0.0
			for range runs {
				list, weight := rarities(r, n)
				require.LessOrEqual(t, weight, 2.0)
				for _, u := range list { // the expected number of lengths so rare is n·p
					if u <= p {
						sum += weight / runs
					}
				}
			}
			require.InEpsilon(t, float64(n)*p, sum, 0.25, "%d lengths, %g", n, p)
		}
	}
}

func TestStudentIsWhatTablesSay(t *testing.T) {
	for freedom, want := range map[int]float64{10: 2.228, 30: 2.042, 1000: 1.962} {
		require.InDelta(t, want, student(0.95, freedom), 0.02, "%d", freedom)
	}
	require.InDelta(t, 1.96, normal(0.95), 1e-3)
	require.InDelta(t, 2.576, normal(0.99), 1e-3)
}

func TestScaledLawsAreLonger(t *testing.T) {
	l := scaled{profile.Exponential(time.Second), 2}
	require.InDelta(t, profile.Exponential(2*time.Second).Tail(3*time.Second), l.Tail(3*time.Second), 1e-9)
	require.Equal(t, 2*profile.Exponential(time.Second).Above(0.01), l.Above(0.01))
}
