package harness

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// limitsLoad reports whether the scenario bounds the requests that clients send within a second.
func (p *Plan) limitsLoad() bool {
	l := &p.Case.Scenario.Load
	return l.Waiter > 0 || l.Holder > 0
}

// second is the requests of a process in the last second.
type second struct {
	sent []trace.Instant
	load int // the number of the last record of them in world.loads, from 1
}

// countRequest counts a request of an acquisition, or of none, with those of the second before it. A record is of the second with the
// most requests; the next one is of a later second. What a task sends that was started within Lock is within Lock until that returns.
func (p *process) countRequest(id history.ID, asking bool) {
	w, now := p.world, p.world.engine.Now()
	if a := w.Recorder().Acquisition(id); a != nil && a.Returned <= now {
		asking = false
	}
	of := &p.shared.seconds[0]
	if asking {
		of = &p.shared.seconds[1]
	}
	for len(of.sent) > 0 && now.Sub(of.sent[0]) >= time.Second {
		of.sent = of.sent[1:]
	}
	of.sent = append(of.sent, now)
	if of.load == 0 || of.sent[0].Sub(w.loads[of.load-1].From) >= time.Second {
		w.loads = append(w.loads, history.Load{Client: p.client.Name, Waiting: asking})
		of.load = len(w.loads)
	}
	if l := &w.loads[of.load-1]; len(of.sent) > l.Requests {
		l.From, l.Requests = of.sent[0], len(of.sent)
	}
}
