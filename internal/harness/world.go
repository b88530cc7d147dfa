package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/all/servers"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/storage"
	"github.com/locksim/locksim/sim/wasm"
	"github.com/locksim/locksim/trace"
)

// world is one run's servers, clients and resource, and what is observed of them.
type world struct {
	plan    *Plan
	engine  *sim.Engine
	service simulated.Service // the lock's servers
	spare   *any              // what the servers keep for the next run
	storage *sim.Node
	journal journal
	truth   *record.Truth
	sent    uint64 // requests to the lock's servers
	notes   []history.Note
	loads   []history.Load // requests by second, where the scenario bounds them
	wakeUps int            // messages with which they told clients of something unasked

	interrupted bool // by the runner's Stop
}

func newWorld(r *Runner, p *Plan, seed uint64, keep bool) *world {
	s := p.Case.Scenario
	w := &world{plan: p}
	w.engine = sim.New(sim.Config{
		Seed: seed, Until: trace.Instant(s.End()), Latency: s.Network.Latency, Keep: keep,
		Limits: limitsOf(s), Check: func() string { return w.check(r) },
	}, &r.spare)
	w.journal.init(w.engine, r.last)
	w.truth = record.NewTruth(p.Algorithm.Authority, record.Room{
		Grants: r.last.grants, Copies: r.last.copies, Asks: r.last.asks, Removals: r.last.removals,
	}, w.engine.Now, w.journal.of)
	w.spare = r.spareOf(s.Servers.Kind)
	w.service = servers.Of(s.Servers.Backend()).Build(w)
	w.storage = w.engine.AddServer("storage", storage.New(p.Case.Fencing, s.Resource.Registers, w.journal.applied))
	for i := range p.clients {
		w.addClient(&p.clients[i], &r.programs)
	}
	w.setLatencies()
	w.setClocks()
	w.engine.Role = w.role
	w.engine.Command = w.service.Command
	w.engine.Crashed = w.journal.crashed
	for _, f := range p.faults {
		w.engine.Inject(f, w.errorReply)
	}
	return w
}

func (w *world) addClient(c *clientPlan, programs *wasm.Pool) {
	w.engine.AddClient(c.name, func(t *sim.Task) {
		p := newProcess(w, c, t)
		if t.Node().Life() == 0 { // a restarted process begins at once
			t.Sleep(c.start)
		}
		if module, ok := w.plan.Algorithm.Program.(*wasm.Module); ok {
			newGuest(p).run(programs, module)
			return
		}
		if err := workload.Run(p, c.build, &c.work); err != nil {
			p.unbuilt(err)
		}
		t.Step(trace.Step{Does: trace.Done}, 0, nil, nil)
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
		return history.Holder(w.journal.acquisitions)
	}
	return w.service.Role(name)
}

func (w *world) errorReply(request sim.Payload, text string) sim.Payload {
	if q, ok := request.(*storage.Request); ok {
		return &storage.Answer{Op: q.Op}
	}
	return w.service.ErrorReply(request, text)
}

// note writes down what a reader wants to know of a node.
func (w *world) note(node, text string) {
	w.notes = append(w.notes, history.Note{Node: node, At: w.engine.Now(), Text: text})
}

// history joins what was observed.
func (w *world) history(end sim.Ending) *history.History {
	w.truth.Close(w.plan.Algorithm.Token)
	w.journal.close()
	h := &history.History{
		Fencing: w.plan.Case.Fencing, Registers: w.plan.Case.Scenario.Resource.Registers,
		HasAuthority: w.truth.Judges(), HasTokens: w.plan.Algorithm.Token, HasPrograms: w.plan.Algorithm.Program != nil, Exits: w.journal.ends,
		Notes: w.notes, Requests: int(w.sent), WakeUps: w.wakeUps, End: end.At, Bound: end.Bound, Quiescent: end.Quiescent,
		Acquisitions: w.journal.acquisitions, Waits: w.journal.waits, Accesses: w.journal.accesses,
		Grants: w.truth.Grants, Copies: w.truth.Copies, Asks: w.truth.Asks, Removals: w.truth.Removals,
		Keeps: w.plan.keeps(), Blocks: w.truth.Blocks, Loads: w.loads,
	}
	faults := w.engine.Faults()
	for i, f := range faults {
		if f.Fired && f.Fault.Action.Kind == sim.Pause && f.End == trace.Never {
			h.Waits = endWaits(h.Waits, f.Node, f.Begin)
		}
		if f.Fault.Action.Kind == sim.SameRandom {
			continue
		}
		h.Faults = append(h.Faults, history.Fault{
			Name: f.Fault.Name, Text: w.plan.texts[i], Fired: f.Fired, Begin: f.Begin, End: f.End.Add(f.Fault.Action.Demote),
		})
	}
	if !end.Quiescent && end.Bound == "" {
		h.Cut = w.plan.CutOff(h, faults, end.Working, false)
	}
	h.Outages = w.plan.Outages(faults)
	return h
}

// endWaits ends the waits of a client whose process has been stopped for good: nobody can give it the lock any more.
func endWaits(waits []history.Wait, client string, at trace.Instant) []history.Wait {
	for i := range waits {
		if w := &waits[i]; w.Client == client && w.From <= at && w.To == trace.Never {
			w.To, w.Ended = at, history.Died
		}
	}
	return waits
}
