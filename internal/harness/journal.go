package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// journal is the recorder of a run, and what it watches of leases: their deadlines, on their holders' clocks, and their
// notices of loss.
type journal struct {
	*record.Recorder
	terms []terms // of acquisitions, by the same index
}

// terms are how a lease ends.
type terms struct {
	deadline *sim.Timer     // nil if none is stated, or it has passed
	notices  []locks.Signal // of its loss
}

func (j *journal) start(o *record.Owner) history.ID {
	j.terms = append(j.terms, terms{})
	return j.Start(o)
}

func (j *journal) infer(o *record.Owner) history.ID {
	j.terms = append(j.terms, terms{})
	return j.Infer(o)
}

func (j *journal) acquired(n *sim.Node, id history.ID, l locks.Lease, more bool) {
	j.Acquired(id, record.Lease{
		Value: l.Value, Token: l.Token, HasDeadline: l.Deadline.Stated(), CanLearn: l.Lost != nil || l.Suspended != nil,
		More: more,
	})
	j.terms[id-1] = terms{notices: workload.Notices(l, j.Acquisition(id).Style)}
	if l.Deadline.Stated() {
		j.watch(n, id, l.Deadline)
	}
}

// watch notes the moment at which the deadline passes on the client's own clock, paused or not.
func (j *journal) watch(n *sim.Node, id history.ID, d locks.Deadline) {
	reading := n.Monotonic()
	if d.On == locks.OnWall {
		reading = n.Wall()
	}
	alarm := deadlineAlarm{j, id}
	if d.At <= reading {
		alarm.Ring()
		return
	}
	timer := n.NewObserver(alarm)
	timer.Arm(d.On == locks.OnWall, d.At)
	j.terms[id-1].deadline = timer
}

type deadlineAlarm struct {
	journal *journal
	id      history.ID
}

// Ring records that the deadline has passed.
func (d deadlineAlarm) Ring() {
	d.journal.DeadlineAt(d.id, d.journal.Now())
	d.journal.terms[d.id-1].deadline = nil
}

// close fills in the deadlines that the run did not reach, as they could be foreseen, and who was told of a loss.
func (j *journal) close() {
	for i := range j.terms {
		t, a := &j.terms[i], &j.Acquisitions[i]
		if t.deadline != nil {
			j.DeadlineAt(a.ID, t.deadline.At())
		}
		if a.Unlocked == trace.Never {
			a.Told = workload.Told(t.notices)
		}
	}
}
