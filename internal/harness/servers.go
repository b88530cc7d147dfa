package harness

import (
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// What the simulated servers of a backend need of a run: the world is a simulated.World, and a process a simulated.Process.
var (
	_ simulated.World   = (*world)(nil)
	_ simulated.Process = (*process)(nil)
)

// Engine returns the engine of the run.
func (w *world) Engine() *sim.Engine { return w.engine }

// Scenario returns what is played.
func (w *world) Scenario() *scenarios.Scenario { return w.plan.Case.Scenario }

// Lock returns the lock that is played.
func (w *world) Lock() *locks.Algorithm { return &w.plan.Algorithm }

// Locks returns the locks, and their keys on the servers.
func (w *world) Locks() []simulated.Keys { return w.plan.locks }

// Keys returns those of the first lock on its servers.
func (w *world) Keys() []string { return w.plan.locks[0].Keys }

// Clients returns the names of the client processes.
func (w *world) Clients() []string {
	names := make([]string, len(w.plan.clients))
	for i := range w.plan.clients {
		names[i] = w.plan.clients[i].Name
	}
	return names
}

// Recorder returns what observes the run.
func (w *world) Recorder() *record.Recorder { return w.journal.Recorder }

// Spare returns where servers keep what the next run of this runner can use again.
func (w *world) Spare() *any { return w.spare }

// Woken counts a message that tells a client of something that it has not just asked for.
func (w *world) Woken() { w.wakeUps++ }

// World returns the run of the process.
func (p *process) World() simulated.World { return p.world }

// Task returns the task of the engine.
func (p *process) Task() *sim.Task { return p.task }

// Client returns the name of the process.
func (p *process) Client() string { return p.client.Name }

// Home returns the servers that the process is to connect to.
func (p *process) Home() []string { return p.client.Servers }

// Life tells the process from itself before a restart.
func (p *process) Life() string { return p.shared.life }

// Own returns where a client library keeps what the tasks of the process share.
func (p *process) Own() *any { return &p.shared.clients }

// Serve starts a loop that serves the process rather than one of its acquisitions.
func (p *process) Serve(loop func(simulated.Process)) {
	p.task.Go(func(t *sim.Task) { loop(taskOf(p.world, p.client, t, p.shared)) })
}
