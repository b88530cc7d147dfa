package replay

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// journal writes down what clients report and what the resource decides. Every moment is that at which the stage knew of it,
// and a client waits meanwhile: so the order of moments is the order in which things happened.
type journal struct {
	acquisitions []history.Acquisition
	clocks       []locks.ClockKind // of the deadlines, by the same index
	waits        []history.Wait
	waiting      map[owner]int // index of the wait that is going on
	accesses     []history.Access
	versions     uint64 // the last version that was written
	asks         []history.Ask
	notes        []history.Note
}

// owner is a task of a client.
type owner struct {
	client string
	task   int
}

func newJournal() journal { return journal{waiting: map[owner]int{}} }

func (j *journal) start(o owner, style history.Style, now trace.Instant) history.ID {
	if _, ok := j.waiting[o]; !ok {
		j.waiting[o] = len(j.waits)
		j.waits = append(j.waits, history.Wait{Client: o.client, Task: o.task, From: now, To: trace.Never})
	}
	id := history.ID(len(j.acquisitions) + 1)
	j.acquisitions = append(j.acquisitions, history.Acquisition{
		ID: id, Client: o.client, Task: o.task, Style: style, Invoked: now, Returned: trace.Never, Deadline: trace.Never,
		Noticed: trace.Never, Unlocked: trace.Never, Crashed: trace.Never, Released: trace.Never,
	})
	j.clocks = append(j.clocks, locks.NoClock)
	return id
}

func (j *journal) of(id history.ID) *history.Acquisition { return &j.acquisitions[id-1] }

// acquired notes a lease; deadline is when it ends, unless the holder's clock steps.
func (j *journal) acquired(r *report, deadline, now trace.Instant) {
	a := j.of(r.ID)
	a.Returned, a.Outcome, a.Value, a.Token, a.CanLearn = now, history.OK, r.Value, r.Token, r.CanLearn
	if on := locks.ClockKind(r.On); on != locks.NoClock {
		a.HasDeadline, a.Deadline = true, deadline
		j.clocks[r.ID-1] = on
	}
	j.endWait(owner{a.Client, a.Task}, history.GotIt, now)
}

// stepped moves the deadlines of a client whose wall clock jumps.
func (j *journal) stepped(client string, by time.Duration, now trace.Instant) {
	for i := range j.acquisitions {
		if a := &j.acquisitions[i]; a.Client == client && j.clocks[i] == locks.OnWall && a.Deadline > now {
			a.Deadline = max(a.Deadline.Add(-by), now)
		}
	}
}

func (j *journal) refused(r *report, now trace.Instant) {
	a := j.of(r.ID)
	a.Returned, a.Outcome = now, r.Outcome
	if !r.Final {
		return
	}
	j.endWait(owner{a.Client, a.Task}, history.GaveUp, now)
	if !r.Others {
		j.notes = append(j.notes, history.Note{Node: a.Client, At: now, Text: "is refused: " + r.Why})
	}
}

func (j *journal) endWait(o owner, how history.WaitEnd, now trace.Instant) {
	if i, ok := j.waiting[o]; ok {
		j.waits[i].To, j.waits[i].Ended = now, how
		delete(j.waiting, o)
	}
}

// died notes that a client's process has ended before its time.
func (j *journal) died(client string, now trace.Instant) {
	for i := range j.acquisitions {
		a := &j.acquisitions[i]
		under := a.Outcome == history.OK || a.Outcome == history.Pending
		if a.Client == client && a.Crashed == trace.Never && under && (a.Returned == trace.Never || a.Unlocked == trace.Never) {
			a.Crashed = now
		}
	}
	j.leave(client, now)
}

// leave ends the waits of a client whose process is dead, or was stopped for good.
func (j *journal) leave(client string, now trace.Instant) {
	for i := range j.waits {
		if w := &j.waits[i]; w.Client == client && w.To == trace.Never {
			w.To, w.Ended = now, history.Died
			delete(j.waiting, owner{client, w.Task})
		}
	}
}

// asking returns the acquisition that a client has called for last; 0 if none.
func (j *journal) asking(client string) history.ID {
	for i := len(j.acquisitions) - 1; i >= 0; i-- {
		if j.acquisitions[i].Client == client {
			return history.ID(i + 1)
		}
	}
	return 0
}

// asked notes that a server has answered a request for the lock.
func (j *journal) asked(client, node string, now trace.Instant) {
	if id := j.asking(client); id != 0 {
		j.asks = append(j.asks, history.Ask{Acquisition: id, Client: client, Node: node, At: now})
	}
}

// invoked notes an access that is about to be sent, and returns its number, from 1.
func (j *journal) invoked(client string, r *report, now trace.Instant) int {
	a := history.Access{
		Acquisition: r.ID, Client: client, Op: r.Op, Register: r.Register, Token: r.Token,
		Invoked: now, Applied: trace.Never, Returned: trace.Never,
	}
	if r.Op == history.Write {
		j.versions++
		a.Version = j.versions
	}
	j.accesses = append(j.accesses, a)
	return len(j.accesses)
}

func (j *journal) access(number int) *history.Access { return &j.accesses[number-1] }

// applied notes what the resource has decided.
func (j *journal) applied(number int, accepted bool, version, maxToken uint64, now trace.Instant) {
	a := j.access(number)
	a.Applied, a.Accepted, a.MaxToken = now, accepted, maxToken
	if a.Op != history.Write {
		a.Version = version
	}
}
