package replay

import (
	"errors"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// journal is the recorder of a run on real servers. Every moment is that at which the stage knew of it, and a client waits
// meanwhile: so the order of moments is the order in which things happened.
type journal struct {
	*record.Recorder
	onWall map[history.ID]bool // the leases whose deadlines are on a wall clock
}

func newJournal(now func() trace.Instant, tokens bool) journal {
	o := record.Options{HasTokens: tokens} // no observer sees what real servers grant
	return journal{record.New(now, o), map[history.ID]bool{}}
}

// acquired records a lease, and when it ends unless its holder's clock steps.
func (j *journal) acquired(r *report, deadline trace.Instant) {
	on := locks.ClockKind(r.On)
	j.Acquired(r.ID, record.Lease{Value: r.Value, Token: r.Token, HasDeadline: on != locks.NoClock, CanLearn: r.CanLearn})
	if on != locks.NoClock {
		j.DeadlineAt(r.ID, deadline)
		j.onWall[r.ID] = on == locks.OnWall
	}
}

// refused records that Lock has returned no lease.
func (j *journal) refused(r *report) {
	x := record.Refusal{Outcome: r.Outcome, Final: r.Final}
	if !r.Others {
		x.Why = errors.New(r.Why)
	}
	j.Refused(r.ID, x)
}

// stepped moves the deadlines of a client whose wall clock jumps.
func (j *journal) stepped(client string, by time.Duration) {
	now := j.Now()
	for i := range j.Acquisitions {
		if a := &j.Acquisitions[i]; a.Client == client && j.onWall[a.ID] && a.Deadline > now {
			j.DeadlineAt(a.ID, max(a.Deadline.Add(-by), now))
		}
	}
}

// asked notes that a server has answered a request for the lock: of the acquisition that the client has called for last.
func (j *journal) asked(client, node string) {
	for i := len(j.Acquisitions) - 1; i >= 0; i-- {
		if a := &j.Acquisitions[i]; a.Client == client {
			j.Truth.Asked(node, sim.Origin{Client: client, Tag: int(a.ID)}, false)
			return
		}
	}
}
