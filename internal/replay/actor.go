package replay

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/trace"
)

// actor is the stage's end of a client process.
type actor struct {
	*node
	plan harness.Client
	part part
	dir  string // where its program is started
	output
	to    *line
	ready int // number of the report with which it says so; 0 before
	gone  bool
	route *route       // to the resource
	gates [2]real.Gate // of requests to it, and of its answers

	owners map[int]*record.Owner // the tasks of its process that have asked for the lock, by the process's own numbers
	tasks  int                   // of processes before it
}

// output is what an actor's program writes, as notes. Nobody who writes waits for the stage.
type output struct {
	mu    sync.Mutex
	text  record.Output
	notes []wrote
}

type wrote struct {
	at   time.Duration // on the clock that all processes share
	text string
}

// Write notes the lines that are whole.
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, err := real.Now()
	o.text.Take(text, func(line string) { o.notes = append(o.notes, wrote{at, line}) })
	return len(text), err
}

// noteOutput adds what programs have written to the notes of a history.
func (s *stage) noteOutput(h *history.History) {
	for _, a := range s.actors {
		a.mu.Lock()
		for _, n := range a.notes {
			h.Notes = append(h.Notes, history.Note{Node: a.name, At: s.instant(n.at), Text: n.text})
		}
		a.mu.Unlock()
	}
	slices.SortStableFunc(h.Notes, func(x, y history.Note) int { return cmp.Compare(x.At, y.At) })
}

// owner returns a task of the process; its number goes on from those of the processes before.
func (a *actor) owner(task int) *record.Owner {
	o := a.owners[task]
	if o == nil {
		o = &record.Owner{Client: a.name, Task: a.tasks + task, Style: a.plan.Work.Style}
		a.owners[task] = o
	}
	return o
}

// begins forgets the tasks of the process before.
func (a *actor) begins() {
	for _, o := range a.owners {
		a.tasks = max(a.tasks, o.Task+1)
	}
	a.owners = map[int]*record.Owner{}
}

// launch starts the process of an actor.
func (s *stage) launch(a *actor) error {
	in, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	reports, out, err := os.Pipe()
	if err != nil {
		_, _ = in.Close(), orders.Close()
		return err
	}
	process := real.Program{Name: a.plan.Name, Args: s.program, Env: clientEnv(), In: in, Out: out}
	if a.part.Command != nil {
		process.Group, process.Dir, process.Err = true, a.dir, &a.output
	}
	child, err := s.host.Start(process)
	_, _ = in.Close(), out.Close()
	if err != nil {
		_, _ = orders.Close(), reports.Close()
		return err
	}
	s.mu.Lock()
	a.child, a.to, a.ready = child, newLine(orders), 0
	a.begins()
	s.mu.Unlock()
	s.alive.Go(func() {
		_ = hear(reports, func(r report) { s.alive.Go(func() { s.take(a, child, &r) }) })
		_, _ = orders.Close(), reports.Close()
		select {
		case <-child.Ended(): // what it wrote last is in its log only then
		case <-time.After(time.Second): // it has closed its output, and goes on
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.child == child && !a.down && !a.gone && s.ctx.Err() == nil {
			s.journal.Exited(history.Exit{
				Client: a.name, Kind: "end of the process", Text: "ends by itself", Output: child.Log(),
			})
			s.fail(&ended{a.plan.Name, child.Log()})
		}
	})
	return a.to.say(a.part)
}

// take deals with a report: it is a step of the client, on which faults may act, and goes into the history.
func (s *stage) take(a *actor, from *real.Child, r *report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.child != from || a.down {
		return
	}
	answer := order{Number: r.Number}
	switch r.Kind {
	case late:
		s.overslept(a, r)
		return
	case exited:
		s.exited(a, r)
		return
	case ready:
		a.ready = r.Number
		s.changed()
		if a.life > 0 {
			s.answer(a, from, answer) // a restarted process begins at once
		}
		return
	case access:
		answer = s.access(a, r)
	case guarded:
		if !s.stepOf(a, trace.Access, r.Op.String(), func() { answer.Access, answer.Version = s.invoked(a, r) }) {
			return
		}
	case settled:
		if !r.Unknown {
			s.journal.Settled(r.Access, r.Accepted, r.Version)
			s.journal.Answered(r.Access)
		}
	default:
		if !s.report(a, r, &answer) {
			return
		}
	}
	s.answer(a, from, answer)
}

// exited records that the program of a client has ended by itself before its work was done, and ends what it has left.
func (s *stage) exited(a *actor, r *report) {
	if a.gone {
		return
	}
	first := a.ready == 0 && a.life == 0
	s.stepOf(a, trace.Done, "", func() {
		a.gone = true
		if err := a.kill(); err != nil {
			s.fail(err)
		}
		x := program.Exit{Code: r.Code, Reason: r.Why, Output: a.child.Log()}
		exit := history.Exit{Client: a.name, Kind: x.Kind(), Text: x.What(), Output: x.Stderr()}
		s.journal.Exited(exit)
		if first {
			s.fail(fmt.Errorf("%w\non real servers a program has to say ready, as the SDKs do: see docs/languages.md", &harness.Unborn{Exit: exit}))
		}
	})
	s.changed()
}

// report deals with the reports that are steps of the client alone; false if the client did not live to take the step.
func (s *stage) report(a *actor, r *report, answer *order) bool {
	switch r.Kind {
	case start:
		return s.stepOf(a, trace.Start, "", func() { answer.ID = s.journal.Start(a.owner(r.Task)) })
	case acquired:
		return s.stepOf(a, trace.Acquired, "", func() { s.journal.acquired(r, s.instant(r.At+r.Left)) })
	case refused:
		return s.stepOf(a, trace.Refused, "", func() { s.journal.refused(r) })
	case check:
		s.before(trace.Step{Node: a.name, Does: trace.Check}, &message{})
		return s.running(a.node)
	case checked:
		s.took(trace.Step{Node: a.name, Does: trace.Check}, &message{})
		return true
	case lost:
		return s.stepOf(a, trace.Lost, "", func() { s.journal.Noticed(r.ID) })
	case release:
		return s.stepOf(a, trace.Release, "", func() { s.journal.Unlocked(r.ID, r.Told) })
	case released:
		return s.stepOf(a, trace.Released, "", func() { s.journal.Released(r.ID, r.Outcome) })
	case done:
		a.gone = true
		if r.Why != "" {
			s.journal.Note(a.name, "has no lock: "+r.Why)
		}
		s.changed()
		return s.stepOf(a, trace.Done, "", func() { s.journal.Ended(a.name) })
	default:
		return true
	}
}

// stepOf is a step of a client: faults act before it, it is taken when the process is not paused, faults act after it.
func (s *stage) stepOf(a *actor, does trace.Does, what string, take func()) bool {
	step := trace.Step{Node: a.name, Does: does, What: what}
	s.before(step, &message{})
	if !s.running(a.node) {
		return false
	}
	take()
	s.took(step, &message{})
	return true
}

func (s *stage) answer(a *actor, to *real.Child, o order) {
	if a.child == to && !a.down {
		_ = a.to.say(o) // of one that is dead nobody reads
	}
}

// invoked records an access that is about to be sent, and numbers it.
func (s *stage) invoked(a *actor, r *report) (number int, version uint64) {
	return s.journal.Invoked(history.Access{
		Acquisition: r.ID, Client: a.name, Op: r.Op, Register: r.Register, Token: r.Token,
	})
}

// access carries an access to the resource and back.
func (s *stage) access(a *actor, r *report) order {
	answer := order{Number: r.Number, Failed: history.Unknown}
	number, version, life := 0, uint64(0), a.life
	if !s.stepOf(a, trace.Access, r.Op.String(), func() { number, version = s.invoked(a, r) }) {
		return answer
	}
	s.inFlight++
	defer func() {
		s.inFlight--
		s.changed()
	}()
	request := &storage.Request{
		Op: r.Op, Register: r.Register, Token: r.Token, Holder: r.Value, Based: r.Based,
		Version: version, Access: number,
	}
	what, _ := request.What()
	m := &message{route: a.route}
	if !s.sends(a.node, what, "", resourceNode, m) || !s.travel(a, 0) || !s.arrives(resourceNode, what, "", a.name, m) {
		return answer
	}
	decided := s.resource.Execute(nil, request).(*storage.Answer)
	back := &message{route: a.route, reply: true, answers: m.number}
	s.replies(resourceNode, what, "", a.name, back)
	if !s.travel(a, 1) || a.life != life || !s.receives(a.node, what, "", resourceNode, back) {
		return answer
	}
	s.journal.Answered(number)
	return order{Number: r.Number, Accepted: decided.Accepted, Version: decided.Version}
}

// travel has what is sent to the resource, or from it, be on its way. It gives the lock away meanwhile.
func (s *stage) travel(a *actor, direction int) bool {
	latency := s.latency(a.name, resourceNode)
	s.mu.Unlock()
	ok := a.gates[direction].Pass(s.ctx.Done())
	if latency != nil {
		time.Sleep(latency())
	}
	s.mu.Lock()
	return ok
}

// sends is a client's sending a message; false if it did not live to, or the message is lost.
func (s *stage) sends(n *node, what, alt, peer string, m *message) bool {
	step := trace.Step{Node: n.name, Does: trace.Send, What: what, Alt: alt, Peer: peer}
	s.before(step, m)
	if m.lost || !s.running(n) {
		return false
	}
	s.delayed(m)
	if !s.running(n) {
		return false
	}
	s.took(step, m)
	s.delayed(m)
	return !m.lost
}

// arrives is a request's arriving at a server, up to its execution; false if it is not to be executed.
func (s *stage) arrives(server, what, alt, peer string, m *message) bool {
	for _, does := range [...]trace.Does{trace.Receive, trace.Execute} {
		step := trace.Step{Node: server, Does: does, What: what, Alt: alt, Peer: peer}
		s.before(step, m)
		s.delayed(m)
		if n := s.nodes[server]; m.lost || n != nil && n.down {
			return false
		}
		if does == trace.Receive {
			s.took(step, m)
		}
	}
	return true
}

// replies is a server's having executed a request, and answering it; false if the answer is lost.
func (s *stage) replies(server, what, alt, peer string, m *message) bool {
	s.took(trace.Step{Node: server, Does: trace.Execute, What: what, Alt: alt, Peer: peer}, m)
	step := trace.Step{Node: server, Does: trace.Reply, What: what, Alt: alt, Peer: peer}
	s.before(step, m)
	s.delayed(m)
	if m.lost {
		return false
	}
	s.took(step, m)
	s.delayed(m)
	return !m.lost
}

// receives is a client's taking an answer; false if it does not live to.
func (s *stage) receives(n *node, what, alt, peer string, m *message) bool {
	step := trace.Step{Node: n.name, Does: trace.Receive, What: what, Alt: alt, Peer: peer}
	s.before(step, m)
	s.delayed(m)
	if m.lost || !s.running(n) {
		return false
	}
	s.took(step, m)
	return true
}

// delayed has a message wait for as long as faults say.
func (s *stage) delayed(m *message) {
	if m.delay != nil {
		wait := m.delay
		m.delay = nil
		wait()
	}
}
