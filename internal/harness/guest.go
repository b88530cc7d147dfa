package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// guest is a client process that runs a guest program. Its process carries out the program's calls of the workload, and
// the program's messages become requests of the process's current acquisition.
type guest struct {
	process *process
	beside  *process // its task carries out an access, while the program goes on
	output  record.Output
	silent  silent // what is inferred, if it says nothing

	connecting bool  // in a preparation
	refused    error // why that has failed
	simulated.Front
}

// newGuest gives a process a program to run.
func newGuest(p *process) *guest {
	beside := &process{world: p.world, client: p.client, shared: p.shared, based: p.based}
	return &guest{process: p, beside: beside, Front: p.world.service.(simulated.Front)} // Compile refuses others
}

// run runs the program, until its work is done or it ends itself.
func (g *guest) run(programs *program.Pool, of program.Program) {
	instance := g.take(programs, of)
	defer programs.Give(of, instance)
	if err := instance.Restore(int(g.process.stream("image").Int64N(program.Images))); err != nil {
		panic(err)
	}
	g.play(instance)
}

// runConnected does the same with the connections that the program has opened in a preparation. They are there from the beginning of the
// run on, and idle until the client starts.
func (g *guest) runConnected(programs *program.Pool, of program.Program) {
	p := g.process
	instance := g.take(programs, of).(program.Connecting)
	defer programs.Give(of, instance)
	if !instance.RestoreConnected(p.world.plan.snapshotKey(p.client, p.client.state(p.world.seed))) {
		panic("harness: the snapshot of a connected program is missing")
	}
	instance.Adopt(p.task, g)
	p.task.Sleep(p.client.Start)
	g.play(instance)
}

func (g *guest) take(programs *program.Pool, of program.Program) program.Instance {
	instance, err := programs.Take(of)
	if err != nil {
		panic(err)
	}
	return instance
}

func (g *guest) play(instance program.Instance) {
	p := g.process
	err := instance.Run(p.task, g, p.stream("program"))
	var exit *program.Exit
	switch {
	case err == nil:
		p.ends()
	case errors.As(err, &exit):
		g.exits(exit)
	default:
		panic(err)
	}
}

// exits is the end of a process by its program: it runs nothing more, and nobody starts it again. Its connections are
// closed with it, as by an operating system.
func (g *guest) exits(exit *program.Exit) {
	p := g.process
	if exit.Told() {
		g.forgetLastWords()
	}
	p.task.Step(trace.Step{Does: trace.Done, What: exit.Kind()}, 0, func() {
		p.world.journal.Exited(history.Exit{
			Client: p.client.Name, Kind: exit.Kind(), Text: exit.What(), Output: exit.Stderr(),
		})
	}, exit.What)
}

// forgetLastWords drops the notes with what Go's runtime has said of why it ends the program, which is told with its end.
func (g *guest) forgetLastWords() {
	h := g.process.world.journal.History
	before, last := "", len(h.Notes)
	for i := range h.Notes {
		if line, wrote := g.wrote(&h.Notes[i]); wrote {
			if program.AreLastWords(line, before) {
				last = i
			}
			before = line
		}
	}
	kept := h.Notes[:last]
	for i := range h.Notes[last:] {
		n := h.Notes[last+i]
		if _, wrote := g.wrote(&n); !wrote {
			kept = append(kept, n)
		}
	}
	h.Notes = kept
}

// wrote returns the line that the program has written, if a note is of one.
func (g *guest) wrote(n *history.Note) (line string, ok bool) {
	line, ok = strings.CutPrefix(n.Text, Writes)
	return line, ok && n.Node == g.process.client.Name
}

// Unborn says that the programs of all clients ended themselves before they requested the lock, though no fault had
// occurred: they cannot set it up, and the run says nothing about it.
type Unborn struct{ history.Exit }

// Error says how the first of them ended, and includes its output.
func (u *Unborn) Error() string {
	return fmt.Sprintf("the program of client %s %s, before it asks for the lock for the first time\n%s", u.Client, u.Text, u.Output)
}

// unborn returns the first exit if no client lived to request the lock; nil if one did, or a fault may have prevented
// it.
func (w *world) unborn() *Unborn {
	h := w.journal.History
	if len(h.Exits) == 0 || len(h.Acquisitions) > 0 || len(w.plan.Case.Scenario.Clocks) > 0 {
		return nil
	}
	if slices.ContainsFunc(w.engine.Faults(), func(f sim.FaultReport) bool { return f.Fired && f.Begin <= h.Exits[0].At }) {
		return nil
	}
	return &Unborn{h.Exits[0]}
}

// Interrupted reports whether the run is to end at once.
func (g *guest) Interrupted() bool { return g.process.world.stopped() }

// Call carries out a request of the program's workload; an empty request asks for its assignment.
func (g *guest) Call(request []byte) []byte {
	if len(request) == 0 {
		return g.assignment().Frame()
	}
	if err, failed := workload.FailureIn(request); failed {
		g.unopened(err)
		return nil
	}
	return workload.Answer(g.process, request)
}

// CannotSetUp begins the note with the error for which a program could not set up its lock.
const CannotSetUp = "cannot set up its lock: "

// unopened notes that the program could not set up its lock. It wanted the lock, and does not get it: nobody is to take a program
// that never asks for one that is never in danger.
func (g *guest) unopened(why error) {
	if g.connecting {
		g.refuse(why)
		return
	}
	p := g.process
	p.task.Step(trace.Step{Does: trace.Refused}, 0, func() {
		p.world.journal.Refused(p.world.journal.start(&p.owner), record.Refusal{Outcome: history.Failed, Final: true})
		p.world.journal.Note(p.client.Name, CannotSetUp+why.Error())
	}, why.Error)
}

// Ask carries out an access to the resource.
func (g *guest) Ask(t *sim.Task, request []byte) []byte {
	g.beside.task = t
	return workload.Answer(g.beside, request)
}

func (g *guest) assignment() *workload.Assignment {
	c := g.process.client
	e := g.entrance(c.Servers)
	if g.connecting { // for one snapshot, whatever the lock
		return &workload.Assignment{Servers: e.Addresses, Timeout: c.Options.Timeout}
	}
	a := workload.Assign(c.Name, &c.Options, &c.Work)
	a.Servers, a.Sentinel, a.Cluster = e.Addresses, e.Sentinel, e.Cluster
	return &a
}

// Writes begins a note with a line that a program has written.
const Writes = record.Writes

// Said records the lines that a program writes.
func (g *guest) Said(text []byte) {
	p := g.process
	g.output.Take(text, func(line string) { p.world.journal.Note(p.client.Name, line) })
}

// Stamp sets the origin and the purpose of a request.
func (g *guest) Stamp(request sim.Payload) {
	if g.connecting {
		g.mayConnect(request)
	}
	g.Front.Stamp(request, g.process.Origin())
}

// entrance is where the program finds the servers with these names, in that order; all if there are no names.
func (g *guest) entrance(names []string) simulated.Entrance {
	e := g.Entrance(g.process.client.algorithm)
	if len(names) == 0 {
		return e
	}
	var some []string
	for _, name := range names {
		some = append(some, e.Addresses[slices.IndexFunc(e.Nodes, func(n *sim.Node) bool { return n.Name == name })])
	}
	e.Addresses = some
	return e
}

// Resolve returns the server at an address: one that the program was given, or has been told by servers.
func (g *guest) Resolve(address string) (*sim.Node, wire.Conversation) {
	for _, e := range []simulated.Entrance{g.entrance(nil), g.Front.Told()} {
		if i := slices.Index(e.Addresses, address); i >= 0 {
			return e.Nodes[i], g.Talk(g.process.task.Node())
		}
	}
	return nil, nil
}

// Told lists the addresses that servers may tell the program of.
func (g *guest) Told() []string { return g.Front.Told().Addresses }

// refusePrograms refuses what a client program cannot be asked to do.
func (p *Plan) refusePrograms(a *locks.Algorithm, l *scenarios.Lock, at string) error {
	s, name := p.Case.Scenario, a.Name
	if _, known := a.Program.(program.Program); !known {
		return s.Errorf(at+".algorithm", "the program of the lock %s is of a kind that cannot be run here", name)
	}
	if !s.Servers.Facts().Serves {
		return s.Errorf("servers.kind", "client programs cannot speak to the simulated %s", s.Servers.Facts().Title)
	}
	if l.Renew > 0 && !a.Renews && !a.Extends {
		return s.Errorf(at+".renew", "the lock %s is not known to prolong its leases: its client says so by //locksim:lock extends", name)
	}
	i := slices.IndexFunc(s.Clients, func(c scenarios.Client) bool { return c.Tasks > 1 })
	if i >= 0 {
		return s.Errorf("clients."+s.Clients[i].Name+".tasks",
			"the lock %s is a client program, whose tasks cannot be told apart from outside: want 1 task", name)
	}
	return nil
}
