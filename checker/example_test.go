package checker_test

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// A history is recorded by a run, or written by hand: here client a pauses between its read and its write, its lease
// ends meanwhile, and b reads, writes and is done before a goes on. The resource compares no tokens.
func ExampleCheck() {
	h, err := history.Parse(`
		history fencing=none registers=1 end=30s
		acquisition id=1 client=a invoked=0s returned=1s outcome=ok unlocked=16s
		acquisition id=2 client=b invoked=2s returned=11s outcome=ok unlocked=14s
		access acquisition=1 op=read invoked=2s applied=2s returned=2s accepted
		access acquisition=2 op=read invoked=12s applied=12s returned=12s accepted
		access acquisition=2 op=write invoked=13s applied=13s returned=13s accepted version=1
		access acquisition=1 op=write invoked=15s applied=15s returned=15s accepted version=2
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := checker.Check(h, checker.Options{})
	fmt.Println(checker.MutualExclusion, r.Verdicts[checker.MutualExclusion])
	fmt.Println(checker.Resource, r.Verdicts[checker.Resource])
	for _, v := range r.Violations {
		fmt.Printf("%s: %s of %v\n", v.At, v.Kind, v.Acquisitions)
	}
	// Output:
	// mutual-exclusion violated
	// resource violated
	// 11s: double holder of [1 2]
	// 15s: lost update of [2 1]
}
