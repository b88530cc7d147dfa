package redis_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
)

// A lock is taken for ten seconds, and its time runs out.
func ExampleStore() {
	s := redis.NewStore()
	alice := s.NewPeer()
	now := int64(1_000 * time.Second)

	fmt.Printf("%q\n", s.Execute(now, alice, []string{"SET", "lock", "alice", "NX", "PX", "10000"}))
	for _, c := range s.Changes() {
		fmt.Println(c.Op, c.Key, c.Value, "until", time.Duration(c.Deadline))
	}
	deadline, _ := s.NextExpiry()
	s.Advance(deadline)
	for _, c := range s.Changes() {
		fmt.Println(c.Op, c.Key, c.Before)
	}
	fmt.Printf("%q\n", s.Execute(deadline, alice, []string{"EVAL", redis.CompareAndDelete, "1", "lock", "alice"}))
	// Output:
	// "+OK\r\n"
	// set lock alice until 16m50s
	// expired lock alice
	// ":0\r\n"
}
