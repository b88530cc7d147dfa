package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/all/servers"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// world is one run's servers, clients and resource, and what is observed of them.
type world struct {
	plan    *Plan
	seed    uint64
	engine  *sim.Engine
	service simulated.Service // the lock's servers
	spare   *any              // what the servers keep for the next run
	storage *sim.Node
	journal journal
	sent    uint64         // requests to the lock's servers
	turn    uint64         // of the last one that was called for
	loads   []history.Load // requests by second, where the scenario bounds them
	wakeUps int            // messages with which they told clients of something unasked

	stop        func() bool // the runner's Stop
	interrupted bool        // by it
}

func newWorld(r *Runner, p *Plan, c sim.Config) *world {
	s := p.Case.Scenario
	w := &world{plan: p, seed: c.Seed, stop: r.Stop}
	c.Until, c.Latency, c.Limits = trace.Instant(s.End()), s.Network.Latency, limitsOf(s)
	c.Check = w.mustEnd
	w.engine = sim.New(c, &r.spare)
	w.journal.Recorder = record.New(w.engine.Now, record.Options{
		Authority: p.Algorithm.Authority, HasTokens: p.Tokens(), HasPrograms: p.programs, Room: r.last,
	})
	w.spare = r.spareOf(s.Servers.Kind)
	w.service = servers.Build(s.Servers.Backend(), w)
	w.storage = w.engine.AddServer("storage", storage.New(p.Case.Fencing, p.registers(), w.journal.Decided))
	for i := range p.clients {
		w.addClient(&p.clients[i], &r.programs)
	}
	w.setLatencies()
	w.setClocks()
	w.engine.Role = w.role
	w.engine.Command = w.service.Command
	w.engine.Crashed = func(n *sim.Node) { w.journal.Died(n.Name) }
	w.engine.ErrorReply = w.errorReply
	for _, f := range p.faults {
		w.engine.Inject(f)
	}
	return w
}

func (w *world) addClient(c *clientPlan, programs *program.Pool) {
	w.engine.AddClient(c.Name, func(t *sim.Task) {
		p := newProcess(w, c, t)
		of, isProgram := c.algorithm.Program.(program.Program)
		if isProgram && p.beginsConnected() {
			newGuest(p).runConnected(programs, of)
			return
		}
		if t.Node().Life() == 0 { // a restarted process begins at once
			t.Sleep(c.Start)
		}
		if isProgram {
			newGuest(p).run(programs, of)
			return
		}
		if err := workload.RunAll(p, c.builders(), &c.Work); err != nil {
			p.unbuilt(err)
		}
		p.ends()
	})
}

func (w *world) setLatencies() {
	s := w.plan.Case.Scenario
	if s.Resource.Latency != nil {
		w.engine.SetLatency(sim.Link{From: []string{"*"}, To: []string{"storage"}}, s.Resource.Latency)
	}
	for _, l := range s.Network.Links {
		w.engine.SetLatency(l.Link, l.Latency)
	}
}

func (w *world) setClocks() {
	for _, c := range w.plan.Case.Scenario.Clocks {
		if n := w.engine.Node(c.Node); n != nil {
			n.Adjust(c.Offset, c.Rate, sim.WallOnly)
		}
	}
}

// role finds who plays a part: the holder is the client that was last told that it holds and has not stopped since.
func (w *world) role(name string) string {
	if name == "holder" {
		return history.Holder(w.journal.Acquisitions)
	}
	return w.service.Role(name)
}

func (w *world) errorReply(request sim.Payload, text string) sim.Payload {
	if q, ok := request.(*storage.Request); ok {
		return &storage.Answer{Op: q.Op}
	}
	return w.service.ErrorReply(request, text)
}

// history joins what was observed.
func (w *world) history(end sim.Ending) *history.History {
	w.journal.close()
	h := w.plan.Conclude(w.journal.Recorder, w.engine.Faults(), end, false)
	h.Requests, h.WakeUps, h.Loads = int(w.sent), w.wakeUps, w.loads
	return h
}
