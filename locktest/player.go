package locktest

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/harness"
)

// stuckAfter is how long one run may take in real time, of which time in which this process or its machine is suspended is no part.
// Runs take milliseconds, so that nothing hangs on it, even on a busy machine, unless a lock's code never comes back to the simulator,
// which cannot interrupt it.
var stuckAfter = 30 * time.Second

// looks is in how many parts that time is waited for: a suspended process sees one part pass, however long it is suspended.
const looks = 10

// errStuck is of a lock whose code never comes back.
var errStuck = errors.New("the lock's code does not come back to the simulator")

// player plays runs one after another, and gives up those that do not come back. The zero value is ready.
type player struct {
	runner *harness.Runner
}

// do does what is a matter of some runs, one unless it is said. The error is an errStuck: what work would have changed
// must not be looked at then, since it may be changed yet.
func (p *player) do(runs int, phase string, work func(r *harness.Runner)) error {
	if p.runner == nil {
		p.runner = &harness.Runner{}
	}
	r, done := p.runner, make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		work(r)
	}()
	limit := time.Duration(runs) * stuckAfter
	part := time.NewTicker(limit / looks)
	defer part.Stop()
	for range looks {
		select {
		case thrown := <-done:
			if thrown != nil {
				panic(thrown)
			}
			return nil
		case <-part.C:
		}
	}
	p.runner = nil // the other one is not free
	return fmt.Errorf("%w: %s took more than %v of real time. Does it loop without a call of its Process, or wait for "+
		"something else than Sleep, Wait and requests? Nothing can stop it, so its goroutine is left behind",
		errStuck, phase, limit)
}

// Close frees what is kept.
func (p *player) Close() {
	if p.runner != nil {
		p.runner.Close()
	}
}
