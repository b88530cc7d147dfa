package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
)

// BenchmarkSchedules draws a run in which two clients take turns 500 times, with ten events each: 5,000 in all.
func BenchmarkSchedules(b *testing.B) {
	const turns = 500
	var past strings.Builder
	var events [][]trace.Event
	fmt.Fprintf(&past, "history registers=1 authority end=%ds\n", turns)
	for kind := range 4 {
		for i := range turns {
			who := string(rune('a' + i%2))
			switch kind {
			case 0:
				fmt.Fprintf(&past, "acquisition id=%d client=%s invoked=%ds returned=%d.002s outcome=ok unlocked=%d.8s released=%d.802s "+
					"release=ok\n", i+1, who, i, i, i, i)
			case 1:
				fmt.Fprintf(&past, "grant acquisition=%d client=%s from=%d.001s to=%d.801s ended=unlock\n", i+1, who, i, i)
			case 2:
				fmt.Fprintf(&past, "copy node=redis-1 acquisition=%d client=%s from=%d.001s to=%d.801s expires=%d.001s gone=deleted\n",
					i+1, who, i, i, i+10)
			case 3:
				fmt.Fprintf(&past, "ask acquisition=%d client=%s node=redis-1 at=%d.001s granted\n", i+1, who, i)
			}
		}
	}
	for i := range turns {
		at := trace.Instant(i) * 1e9
		who := string(rune('a' + i%2))
		events = append(events, called(uint64(4*i+1), who, "redis-1", "SET", "acquire", at.Sub(0)),
			called(uint64(4*i+3), who, "redis-1", "EVAL", "release", at.Sub(0)+8e8))
	}
	r := runOf(b, mastered, past.String(), inOrder(events...)...)
	for b.Loop() {
		reports.Schedules([]reports.Run{r}, 150)
	}
}
