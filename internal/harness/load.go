package harness

import (
	"time"

	"github.com/locksim/locksim/history"
)

// limitsLoad reports whether the scenario bounds the requests that clients send within a second.
func (p *Plan) limitsLoad() bool {
	l := &p.Case.Scenario.Load
	return l.Waiter > 0 || l.Holder > 0
}

// countRequest counts a request of the process among those of a second, which begins with the first of them.
func (p *process) countRequest(asking bool) {
	w, now := p.world, p.world.engine.Now()
	i := &p.shared.loads[0]
	if asking {
		i = &p.shared.loads[1]
	}
	if *i == 0 || now.Sub(w.loads[*i-1].From) >= time.Second {
		w.loads = append(w.loads, history.Load{Client: p.client.Name, Waiting: asking, From: now})
		*i = len(w.loads)
	}
	w.loads[*i-1].Requests++
}
