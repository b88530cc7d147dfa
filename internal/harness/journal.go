package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/storage"
	"github.com/locksim/locksim/trace"
)

// journal writes down, in true time, what the clients say and what the resource decides.
type journal struct {
	engine       *sim.Engine
	acquisitions []history.Acquisition
	deadlines    []*sim.Timer // of acquisitions, by the same index; nil where no deadline is stated
	notices      []notices    // likewise
	waits        []history.Wait
	accesses     []history.Access
	ends         []history.Exit
	versions     uint64 // the last version that was written
}

func (j *journal) init(e *sim.Engine, room sizes) {
	*j = journal{
		engine:       e,
		acquisitions: make([]history.Acquisition, 0, room.acquisitions),
		deadlines:    make([]*sim.Timer, 0, room.acquisitions),
		notices:      make([]notices, 0, room.acquisitions),
		waits:        make([]history.Wait, 0, room.waits),
		accesses:     make([]history.Access, 0, room.accesses),
	}
}

// start numbers an acquisition that is about to be asked for.
func (j *journal) start(p *process) history.ID {
	if p.wait < 0 {
		p.wait = len(j.waits)
		j.waits = append(j.waits, history.Wait{
			Client: p.client.name, Task: p.task.Index(), From: j.engine.Now(), To: trace.Never,
		})
	}
	id := history.ID(len(j.acquisitions) + 1)
	j.acquisitions = append(j.acquisitions, history.Acquisition{
		ID: id, Client: p.client.name, Task: p.task.Index(), Style: p.client.work.Style,
		Invoked: j.engine.Now(), Returned: trace.Never, Deadline: trace.Never, Noticed: trace.Never,
		Unlocked: trace.Never, Crashed: trace.Never, Released: trace.Never,
	})
	j.deadlines = append(j.deadlines, nil)
	j.notices = append(j.notices, notices{})
	return id
}

func (j *journal) of(id history.ID) *history.Acquisition { return &j.acquisitions[id-1] }

func (j *journal) acquired(p *process, id history.ID, l locks.Lease) {
	a := j.of(id)
	a.Returned, a.Outcome = j.engine.Now(), history.OK
	a.Value, a.Token = l.Value, l.Token
	a.CanLearn = l.Lost != nil || l.Suspended != nil
	j.notices[id-1] = notices{l.Lost, l.Suspended}
	if l.Deadline.Stated() {
		a.HasDeadline = true
		j.watch(p.task.Node(), id, l.Deadline)
	}
	j.endWait(p, history.GotIt)
}

// notices are the signals by which a lease says that it is lost, or may be.
type notices struct{ lost, suspended locks.Signal }

// given reports whether one of them is there.
func (n notices) given() bool {
	return n.lost != nil && n.lost.Fired() || n.suspended != nil && n.suspended.Fired()
}

// unlocked records that Unlock is called, and whether the holder could know of a loss by then. A repeated call after an
// error adds nothing.
func (j *journal) unlocked(id history.ID) {
	if a := j.of(id); a.Unlocked == trace.Never {
		a.Unlocked, a.Told = j.engine.Now(), j.notices[id-1].given()
	}
}

// watch notes the moment at which the deadline passes on the client's own clock, paused or not.
func (j *journal) watch(n *sim.Node, id history.ID, d locks.Deadline) {
	reading := n.Monotonic()
	if d.On == locks.OnWall {
		reading = n.Wall()
	}
	if d.At <= reading {
		j.of(id).Deadline = j.engine.Now()
		return
	}
	timer := n.NewObserver(deadlineAlarm{j, id})
	timer.Arm(d.On == locks.OnWall, d.At)
	j.deadlines[id-1] = timer
}

type deadlineAlarm struct {
	journal *journal
	id      history.ID
}

// Ring records that the deadline has passed.
func (d deadlineAlarm) Ring() {
	d.journal.of(d.id).Deadline = d.journal.engine.Now()
	d.journal.deadlines[d.id-1] = nil
}

func (j *journal) refused(p *process, id history.ID, o history.Outcome, final bool) {
	a := j.of(id)
	a.Returned, a.Outcome = j.engine.Now(), o
	if final {
		j.endWait(p, history.GaveUp)
	}
}

func (j *journal) endWait(p *process, how history.WaitEnd) {
	w := &j.waits[p.wait]
	w.To, w.Ended = j.engine.Now(), how
	p.wait = -1
}

// crashed notes that a client's process has died.
func (j *journal) crashed(n *sim.Node) {
	now := j.engine.Now()
	for i := range j.acquisitions {
		a := &j.acquisitions[i]
		if a.Client == n.Name && a.Crashed == trace.Never && (a.Returned == trace.Never || a.Unlocked == trace.Never) {
			if a.Outcome == history.OK || a.Outcome == history.Pending {
				a.Crashed = now
			}
		}
	}
	for i := range j.waits {
		if w := &j.waits[i]; w.Client == n.Name && w.To == trace.Never {
			w.To, w.Ended = now, history.Died
		}
	}
}

// exits notes that a client's program has ended its process.
func (j *journal) exits(n *sim.Node, e history.Exit) {
	j.ends = append(j.ends, e)
	j.crashed(n)
}

// invoked notes an access that is about to be sent.
func (j *journal) invoked(a history.Access) int {
	a.Invoked, a.Applied, a.Returned = j.engine.Now(), trace.Never, trace.Never
	if a.Op == history.Write {
		j.versions++
		a.Version = j.versions
	}
	j.accesses = append(j.accesses, a)
	return len(j.accesses) - 1
}

// applied notes what the resource decided.
func (j *journal) applied(r *storage.Request, a *storage.Answer) {
	access := &j.accesses[r.Access]
	access.Applied, access.Accepted, access.MaxToken = j.engine.Now(), a.Accepted, a.MaxToken
	if r.Op != history.Write {
		access.Version = a.Version
	}
}

// settled notes what the lock's own servers decided on an access, which is numbered from 1. A version counts for reads.
func (j *journal) settled(access int, accepted bool, version uint64) {
	a := &j.accesses[access-1]
	a.Applied, a.Accepted = j.engine.Now(), accepted
	if a.Op != history.Write {
		a.Version = version
	}
}

// written notes what the lock's own servers made of the write of a version in the end, of which its answer told nothing.
func (j *journal) written(version uint64, accepted bool) {
	for i := range j.accesses {
		if a := &j.accesses[i]; a.Op == history.Write && a.Version == version {
			j.settled(i+1, accepted, version)
		}
	}
}

// close fills in the deadlines that the run did not reach, as they could be foreseen, and who was told of a loss.
func (j *journal) close() {
	for i, timer := range j.deadlines {
		if timer != nil {
			j.acquisitions[i].Deadline = timer.At()
		}
		if a := &j.acquisitions[i]; a.Unlocked == trace.Never {
			a.Told = j.notices[i].given()
		}
	}
}
