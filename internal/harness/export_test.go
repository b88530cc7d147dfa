package harness

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// shortly is the delay of a fault that code of a simulated process injects.
const shortly = time.Millisecond

// Inject injects a fault into the world of a simulated process, and returns when connected clients and servers
// may have noticed it.
func Inject(p locks.Process, a sim.Action, lasts time.Duration) {
	w := p.(*process).world
	w.plan.texts = append(w.plan.texts, a.String())
	w.engine.Inject(sim.Fault{
		Trigger: sim.Trigger{At: time.Duration(w.engine.Now()) + shortly}, Action: a, For: lasts,
	})
	p.Sleep(5 * shortly)
}
