package history_test

import (
	"fmt"

	"github.com/locksim/locksim/history"
)

// Observations from anywhere can be written as text: here client a acquires the lock twice.
func ExampleParse() {
	h, err := history.Parse(`
		history fencing=none registers=1 end=30s
		acquisition id=1 client=a invoked=0s returned=1s outcome=ok unlocked=16s
		acquisition id=2 client=a invoked=20s returned=21s outcome=ok unlocked=22s
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		fmt.Println(a.Client, "believes that it holds the lock from", a.Returned, "to", a.Unlocked)
	}
	_, err = history.Parse("history fencing=none registers=1 end=30s\nacquisition id=1 client=a returnd=1s")
	fmt.Println(err)
	// Output:
	// a believes that it holds the lock from 1s to 16s
	// a believes that it holds the lock from 21s to 22s
	// 2:27: unknown field "returnd"; did you mean "returned"?; allowed: id, client, task, style, lock, invoked, returned, outcome, said, value, token, deadline, learns, told, unkept, late, lease, uncertainty, unasked, unended, vague, seen, latest, noticed, unlocked, crashed, ended, released, release
}
