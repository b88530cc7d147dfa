package live_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/locks"
)

// A program that works while it holds a lock on the Redis server of this machine.
func Example() {
	process, err := live.Open(live.Config{Redis: []string{"127.0.0.1:6379"}, Owner: "nightly-report-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = process.Close() }()
	algorithm, _ := locks.Catalogue().Find("set-nx-lua")
	lock, err := algorithm.New(locks.Options{Key: "nightly-report", TTL: time.Minute})(process)
	if err != nil {
		fmt.Println(err)
		return
	}
	lease, err := lock.Acquire(10 * time.Second)
	if err != nil {
		fmt.Println(err) // another client holds it, or the server does not answer
		return
	}
	process.Block(func() { fmt.Println("write the report") })
	if err := lock.Release(lease); err != nil {
		fmt.Println(err)
	}
}
