package harness_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// hopeful is a lock of one's own: it asks whether the key is there, and then sets it.
type hopeful struct{ p locks.Process }

func (l hopeful) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; l.p.Sleep(100 * time.Millisecond) {
		there, err := l.p.Redis(0).Do(0, "EXISTS", "lock")
		if err != nil {
			return locks.Lease{}, err
		}
		if there.Int == 0 {
			_, err := l.p.Redis(0).Do(0, "SET", "lock", "1", "PX", "10000")
			return locks.Lease{}, err
		}
		if l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

func (l hopeful) Release(locks.Lease) error {
	_, err := l.p.Redis(0).Do(0, "DEL", "lock")
	return err
}

// A lock of one's own is put in the place of the one that a scenario names. Here nothing goes wrong at all, and two
// clients hold it.
func ExampleCompile() {
	lock := locks.Algorithm{
		Name:      "hopeful",
		Authority: locks.OneNode, // the client that makes the key on the first server has been granted the lock
		New: func(locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) { return hopeful{p}, nil }
		},
	}
	s, err := scenarios.Parse("two-clients.yaml", []byte(`
name: two-clients
title: Two clients ask at the same time
story: Both find no key, and both set it.
lock: {algorithm: hopeful}
servers: {kind: redis}
clients:
  a: {work: 1s}
  b: {work: 1s}
network: {latency: 1ms}
expect: {mutual-exclusion: violated}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, harness.Options{Instead: &lock})
		if err != nil {
			fmt.Println(err)
			return
		}
		var r harness.Runner
		defer r.Close()
		result, err := r.Run(plan, 1, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(checker.MutualExclusion, "is", result.Report.Verdicts[checker.MutualExclusion])
	}
	// Output:
	// mutual-exclusion is violated
}
