package harness

import (
	"cmp"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// Facts that a history and the checker need in addition to the observations: the lock's promises.

// checks are the checker's options for a run of the plan.
func (p *Plan) checks(seed uint64) checker.Options {
	s := p.Case.Scenario
	return checker.Options{
		ProgressWithin: s.Progress, Lease: cmp.Or(s.Lock.TTL, defaultLease),
		Load:   checker.Load{Waiter: s.Load.Waiter, Holder: s.Load.Holder},
		Sample: seed%sampled == 0,
	}
}

// defaultLease is the life of a lease where a scenario states none (package scenarios).
const defaultLease = 10 * time.Second

// keeps reports whether the lock keeps what it holds by itself.
func (p *Plan) keeps() bool {
	a := &p.Algorithm
	return a.Keeps || a.Renews || a.Extends && p.Case.Scenario.Lock.Renew > 0
}

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
		w.loads = append(w.loads, history.Load{Client: p.client.name, Waiting: asking, From: now})
		*i = len(w.loads)
	}
	w.loads[*i-1].Requests++
}
