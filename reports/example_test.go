package reports_test

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// What was observed can be explained wherever it comes from: the lease of a ends while it works, and b acquires the lock.
func ExampleStory() {
	s, err := scenarios.Parse("overrun.yaml", []byte("name: overrun\nlock: {algorithm: set-nx-lua, ttl: 10s}\n"+
		"clients: {a: {work: 12s}, b: {start: 1s}}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := history.Parse(`
		history fencing=none registers=1 authority end=30s
		acquisition id=1 client=a invoked=0s returned=1s outcome=ok unlocked=13s released=13s
		acquisition id=2 client=b invoked=2s returned=11s outcome=ok unlocked=14s released=14s
		grant acquisition=1 client=a from=1s to=11s
		grant acquisition=2 client=b from=11s to=14s ended=unlock
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	run := reports.Run{Case: s.Cases()[0], Lock: "set-nx-lua", History: h, Report: checker.Check(h, checker.Options{})}
	fmt.Println(reports.Story(&run, checker.MutualExclusion))
	// Output:
	// a acquires the lock at 1 s, and its lease expires at 11 s. The service grants the lock to b, but a believes that it holds until 13 s: the lock states no deadline and gives no notice of loss.
}
