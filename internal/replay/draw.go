package replay

import (
	"math/rand/v2"
	"time"

	"github.com/locksim/locksim/sim"
)

// draw takes a delay from a distribution: between two entries, delays lie on a straight line.
func draw(l sim.Latency) time.Duration {
	share := rand.Int64N(1_000_000)
	for i := 1; i < len(l); i++ {
		if share <= l[i].Share {
			low, high := l[i-1], l[i]
			return low.Delay + (high.Delay-low.Delay)*time.Duration(share-low.Share)/time.Duration(high.Share-low.Share)
		}
	}
	return l[len(l)-1].Delay
}
