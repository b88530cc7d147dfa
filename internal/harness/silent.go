package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// silent is what is inferred of a program that does not say what it does with its lock: it accesses the resource while it believes to
// hold the lock, so that it holds it at least from the first access of a critical section until it has the answer to the last.
// A section is accesses between which its client was granted nothing, and had not ended by itself what it was granted. An access
// that belongs to no grant is a section of its own: nothing tells what its client believes before and after.
type silent struct {
	holds   history.ID // the acquisition of the section that goes on; 0 if there is none
	asks    history.ID // the acquisition of requests for the lock since then; 0 if there was none
	looked  int        // how many grants were looked at
	granted bool       // one of them, since the last access, was of this client
}

// Asks is called before a program that has said nothing sends a request to one of the lock's servers.
func (g *guest) Asks(t *sim.Task, request sim.Payload) {
	g.Front.Stamp(request, sim.Origin{})
	switch _, purpose := request.What(); purpose {
	case "", trace.ToLook, trace.ToRenew, trace.ToRelease: // they concern what it has
		return
	}
	if s := &g.silent; s.asks == 0 && (s.holds == 0 || g.over(s.holds)) {
		s.asks = g.infer(t)
	}
}

// Asked reports whether a program that says nothing has asked for the lock, or accessed the resource.
func (g *guest) Asked() bool { return g.silent.asks != 0 || g.silent.holds != 0 }

// Access carries out an access to the resource, and returns the register's version, as far as the client knows it.
func (g *guest) Access(op history.Op, register int, l locks.Lease) (accepted bool, version uint64, err error) {
	s, p := &g.silent, g.process
	g.lookAtGrants()
	if s.granted || s.asks != 0 || s.holds == 0 || !p.world.journal.Truth.Held(s.holds) || g.hasReleased(s.holds) {
		if s.asks == 0 {
			s.asks = g.infer(p.task)
		}
		s.holds, s.asks, s.granted = s.asks, 0, false
		p.Acquired(s.holds, l)
	}
	id := s.holds
	accepted, err = p.Access(id, op, register, l)
	p.world.journal.Seen(id)
	return accepted, p.based[register], err
}

// GivingUp begins the note of a program that says nothing and has ended with a status that says that it could not do its work.
const GivingUp = "gives up: "

// GivesUp records that a program that says nothing could not do its work: the status of its end, and the last line of its output.
func (g *guest) GivesUp(why string) {
	j, client := &g.process.world.journal, g.process.client.Name
	last := ""
	for i := range j.Notes {
		if line, wrote := g.wrote(&j.Notes[i]); wrote {
			last = ": " + line
		}
	}
	g.process.task.Step(trace.Step{Does: trace.Refused}, 0, func() { j.Note(client, GivingUp+why+last) }, func() string { return why })
}

// infer begins an acquisition of which the program says nothing.
func (g *guest) infer(t *sim.Task) (id history.ID) {
	p := g.process
	t.Step(trace.Step{Does: trace.Start, What: p.owner.Lock}, 0, func() { id = p.world.journal.infer(&p.owner) }, nil)
	p.phase, p.asking = id, true
	return id
}

// lookAtGrants looks whether the client was granted the lock since the last look.
func (g *guest) lookAtGrants() {
	grants := g.process.world.journal.Grants
	for ; g.silent.looked < len(grants); g.silent.looked++ {
		if grants[g.silent.looked].Client == g.process.client.Name {
			g.silent.granted = true
		}
	}
}

// over reports whether an acquisition holds nothing by what it was granted.
func (g *guest) over(id history.ID) bool {
	j := &g.process.world.journal
	last := j.Truth.LastGrant(id)
	return last < 0 || j.Grants[last].To <= j.Now()
}

// hasReleased reports whether the client has ended itself what an acquisition was granted.
func (g *guest) hasReleased(id history.ID) bool {
	j := &g.process.world.journal
	last := j.Truth.LastGrant(id)
	return last >= 0 && j.Grants[last].Ended == history.ByUnlock
}
