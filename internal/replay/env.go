package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

// env is what a task of the workload runs in, in a client process. Its steps keep the process's turn, as steps of a
// simulation do: nothing else of the process happens meanwhile.
type env struct {
	*live.Process
	client  *client
	task    int
	based   []uint64                      // versions read in this section, by register
	notices map[history.ID][]locks.Signal // of the loss of what Lock has returned
}

var _ workload.Env = (*env)(nil)

// step reports a step of the task, and returns when it may go on.
func (e *env) step(r report) order {
	r.Task = e.task
	if now, err := real.Now(); err == nil {
		r.At = now
	}
	return e.client.ask(r)
}

// Start reports that Lock is about to be called.
func (e *env) Start() history.ID { return e.step(report{Kind: start}).ID }

// Acquired reports that Lock has returned with a lease.
func (e *env) Acquired(id history.ID, l locks.Lease) {
	clear(e.based)
	if e.notices == nil {
		e.notices = map[history.ID][]locks.Signal{}
	}
	e.notices[id] = workload.Notices(l, e.client.part.Work.Style)
	r := report{
		Kind: acquired, ID: id, Value: l.Value, Token: l.Token, On: int(l.Deadline.On),
		CanLearn: l.Lost != nil || l.Suspended != nil,
	}
	switch l.Deadline.On {
	case locks.OnMonotonic:
		r.Left = e.TrueTime(time.Duration(l.Deadline.At - int64(e.Monotonic())))
	case locks.OnWall:
		r.Left = e.TrueTime(time.Duration(l.Deadline.At - int64(e.Wall())))
	case locks.NoClock:
	}
	e.step(r)
}

// Refused reports that Lock has returned without a lease.
func (e *env) Refused(id history.ID, o history.Outcome, why error, final bool) {
	e.step(report{
		Kind: refused, ID: id, Outcome: o, Why: why.Error(), Others: errors.Is(why, locks.ErrNotAcquired), Final: final,
	})
}

// Check makes the application check whether it still holds the lock.
func (e *env) Check(id history.ID, look func()) {
	e.step(report{Kind: check, ID: id})
	look()
	e.step(report{Kind: checked, ID: id})
}

// Lost reports that the application has learnt that it no longer holds the lock.
func (e *env) Lost(id history.ID) { e.step(report{Kind: lost, ID: id}) }

// Release reports that Unlock is about to be called.
func (e *env) Release(id history.ID) {
	e.step(report{Kind: release, ID: id, Told: workload.Told(e.notices[id])})
}

// Released reports that Unlock has returned.
func (e *env) Released(id history.ID, o history.Outcome) {
	e.step(report{Kind: released, ID: id, Outcome: o})
}

// Takes is for tasks that take several locks, which are not staged.
func (e *env) Takes(int, bool) {}

// Ran is for work that keeps the processor busy, which is not staged.
func (e *env) Ran() time.Duration { return 0 }

// Stays reports that the process has done its work. It runs until the stage ends it.
func (e *env) Stays() { e.step(report{Kind: done}) }

// Access accesses a register of the resource, which is part of the stage.
func (e *env) Access(id history.ID, op history.Op, register int, l locks.Lease, _ ...workload.Held) (bool, error) {
	var o order
	e.Block(func() {
		o = e.step(report{
			Kind: access, ID: id, Op: op, Register: register, Token: l.Token, Value: l.Value, Based: e.based[register],
		})
	})
	switch o.Failed {
	case history.Unknown:
		return false, fmt.Errorf("%w: %w", locks.ErrUnknown, errNoAnswer)
	case history.Failed:
		return false, fmt.Errorf("%w: %w", locks.ErrNotDone, errNoAnswer)
	default:
	}
	e.read(op, register, o.Version)
	return o.Accepted, nil
}

func (e *env) read(op history.Op, register int, version uint64) {
	if op == history.Read {
		e.based[register] = version
	}
}

// Guarded makes the lock access a register on its own servers.
func (e *env) Guarded(id history.ID, op history.Op, register int, l locks.Lease, g locks.Guard) (bool, error) {
	o := e.step(report{Kind: guarded, ID: id, Op: op, Register: register, Token: l.Token})
	version, err := uint64(0), error(nil)
	if op == history.Read {
		version, err = g.Read(l, register)
	} else {
		err = g.Write(l, register, e.based[register], o.Version)
	}
	unknown := err != nil && !errors.Is(err, locks.ErrNotHeld)
	e.step(report{Kind: settled, ID: id, Access: o.Access, Accepted: err == nil, Unknown: unknown, Version: version})
	if unknown {
		return false, err
	}
	e.read(op, register, version)
	return err == nil, nil
}

// Spawn runs f as another task of the workload.
func (e *env) Spawn(f func(workload.Env)) locks.Signal {
	return e.Go(func(p locks.Process) { f(p.(*env)) })
}

// Go runs fn as another task.
func (e *env) Go(fn func(locks.Process)) locks.Signal {
	e.client.mu.Lock()
	e.client.tasks++
	task := e.client.tasks
	e.client.mu.Unlock()
	return e.Process.Go(func(p locks.Process) {
		fn(&env{Process: p.(*live.Process), client: e.client, task: task, based: make([]uint64, len(e.based))})
	})
}

// Sleep blocks for d.
func (e *env) Sleep(d time.Duration) { e.Wait(d) }

// wait is Wait. If the process's program ends meanwhile, it does not return.
func (e *env) wait(d time.Duration, signals []locks.Signal) int {
	of := e.client.program
	if of == nil {
		return e.Process.Wait(d, signals...)
	}
	for due := time.Now().Add(d); ; d = min(d, time.Until(due)) {
		of.Lives()
		news := of.News()
		switch which := e.Process.Wait(d, append(slices.Clip(signals), news)...); {
		case which < len(signals): // also none
			return which
		case d < locks.Forever && !time.Now().Before(due):
			return -1
		}
	}
}

// Wait blocks until a signal fires or d has passed, and reports it if that took longer than d.
func (e *env) Wait(d time.Duration, signals ...locks.Signal) int {
	if d == locks.Forever {
		return e.wait(d, signals)
	}
	before, err := real.Now()
	which := e.wait(d, signals)
	after, _ := real.Now()
	due := before + e.TrueTime(d)
	if which < 0 && err == nil && after-due > e.client.part.Patience {
		_ = e.client.to.say(report{Kind: late, Task: e.task, From: due, At: after})
	}
	return which
}
