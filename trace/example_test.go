package trace_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/trace"
)

// Two runs with the same steps have the same digest.
func Example() {
	var runs [2]trace.Recorder
	for i := range runs {
		r := &runs[i]
		r.Keep = true
		r.Begin()
		r.Add(&trace.Event{At: trace.Instant(2 * time.Millisecond), Step: trace.Step{
			Node: "a", Does: trace.Send, What: "SET", Peer: "redis-1",
		}}, func() string { return "lock" })
	}
	fmt.Println(runs[0].Events()[0].At, runs[0].Events()[0].Step)
	fmt.Println(runs[0].Digest() == runs[1].Digest())
	// Output:
	// 2ms a send SET redis-1
	// true
}
