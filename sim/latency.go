package sim

import (
	"math/bits"
	"time"
)

// Latency is a distribution of one-way delays in integers, so that every machine draws the same delays: a table
// of quantiles between which delays are interpolated. One entry is a constant, two are a uniform distribution.
//
// Invariant: shares and delays rise from entry to entry, and no delay is negative.
type Latency []Quantile

// Quantile says that a share of Share millionths of all delays is not longer than Delay.
type Quantile struct {
	Share int64 // from 0 (the shortest) to 1,000,000 (the longest)
	Delay time.Duration
}

const million = 1_000_000

// Constant is the distribution of a delay that never varies.
func Constant(d time.Duration) Latency { return Latency{{Share: 0, Delay: d}} }

// UniformLatency is the distribution of a delay that is equally likely anywhere between two bounds.
func UniformLatency(shortest, longest time.Duration) Latency {
	return Latency{{Share: 0, Delay: shortest}, {Share: million, Delay: longest}}
}

// LAN is the default: a median of 0.3 ms, one in a hundred above 5 ms.
func LAN() Latency {
	return Latency{
		{0, 100 * time.Microsecond}, {500_000, 300 * time.Microsecond}, {900_000, time.Millisecond},
		{990_000, 5 * time.Millisecond}, {million, 10 * time.Millisecond},
	}
}

// draw picks a delay. A constant needs no random number.
func (l Latency) draw(r *Rand) time.Duration {
	if len(l) == 1 {
		return l[0].Delay
	}
	return l.quantile(r.Int64N(million + 1))
}

// quantile returns the delay that a share of the delays does not exceed.
func (l Latency) quantile(share int64) time.Duration {
	if share <= l[0].Share {
		return l[0].Delay
	}
	for i := 1; i < len(l); i++ {
		if low, high := l[i-1], l[i]; share <= high.Share {
			return low.Delay + proportion(high.Delay-low.Delay, share-low.Share, high.Share-low.Share)
		}
	}
	return l[len(l)-1].Delay
}

// proportion returns floor(d * part / whole) for 0 <= part <= whole, however long d is.
func proportion(d time.Duration, part, whole int64) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return time.Duration(q)
}
