package sim_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A process that sleeps for a second is paused for ten meanwhile: it wakes late, and takes no real time.
func ExampleEngine() {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Instant(time.Minute)}, nil)
	e.AddClient("a", func(t *sim.Task) {
		t.Sleep(time.Second)
		fmt.Println("a wakes at", e.Now())
	})
	e.Inject(sim.Fault{
		Trigger: sim.Trigger{When: sim.At, At: 500 * time.Millisecond},
		Action:  sim.Action{Kind: sim.Pause, Node: "a"},
		For:     10 * time.Second,
	})
	e.Run()
	// Output:
	// a wakes at 10.5s
}
