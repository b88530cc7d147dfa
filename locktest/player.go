package locktest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/locksim/locksim/internal/harness"
)

// stuckAfter is how long the simulator may not hear of a lock's code in real time, of which time in which this process or its machine is
// suspended is no part: it cannot interrupt code that never comes back. Runs take milliseconds. One with many steps takes longer, and is
// ended by the bound on them: that it goes on is heard now and then.
var stuckAfter = 30 * time.Second

// looks is in how many parts that time is waited for: a suspended process sees one part pass, however long it is suspended.
const looks = 10

// errStuck is of a lock whose code never comes back.
var errStuck = errors.New("the lock's code does not come back to the simulator")

// player plays runs one after another, and gives up those that do not come back. The zero value is ready.
type player struct {
	runner *harness.Runner
	heard  atomic.Int64 // how often a long run has been heard of
}

// do does what is a matter of some runs, one unless it is said. The error is an errStuck: what work would have changed
// must not be looked at then, since it may be changed yet.
func (p *player) do(runs int, phase string, work func(r *harness.Runner)) error {
	if p.runner == nil {
		p.runner = &harness.Runner{Stop: func() bool { p.heard.Add(1); return false }}
	}
	r, done := p.runner, make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		work(r)
	}()
	limit := time.Duration(runs) * stuckAfter
	part := time.NewTicker(limit / looks)
	defer part.Stop()
	heard := p.heard.Load()
	for left := looks; left > 0; left-- {
		select {
		case thrown := <-done:
			if thrown != nil {
				panic(thrown)
			}
			return nil
		case <-part.C:
			if now := p.heard.Load(); now != heard {
				heard, left = now, looks
			}
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
