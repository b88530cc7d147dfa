package harness

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// shortly is when a fault happens that code of a simulated process asks for.
const shortly = time.Millisecond

// Befall has a fault happen to what a simulated process lives with, and returns when whoever
// is connected to that may have noticed.
func Befall(p locks.Process, a sim.Action, lasts time.Duration) {
	w := p.(*process).world
	w.plan.texts = append(w.plan.texts, a.String())
	w.engine.Inject(sim.Fault{
		Trigger: sim.Trigger{At: time.Duration(w.engine.Now()) + shortly}, Action: a, For: lasts,
	}, w.errorReply)
	p.Sleep(5 * shortly)
}
