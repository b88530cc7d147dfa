package workload

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
)

// op is what an Env far away is asked to do.
type op uint8

const (
	opWall op = iota
	opMonotonic
	opStart
	opAcquired
	opRefused
	opCheck
	opLost
	opRelease
	opReleased
	opAccess
	opStays
	opFailed
	opRan
)

// Remote is an Env whose steps are taken elsewhere: by [Answer], at the other end of a transport of frames.
// Blocking calls are those of the process in which it runs.
type Remote struct {
	locks.Process // for Sleep, Wait and NewSignal; its clocks are not asked
	// Call transports a request and its answer. The whole process waits for it.
	Call func(request []byte) (answer []byte)
	// Ask does the same while the rest of the process continues.
	Ask func(request []byte) (answer []byte)

	looking   bool // within a step: what the clocks showed in it
	wall      locks.Wall
	monotonic locks.Monotonic
}

var _ Env = (*Remote)(nil)

func request(o op, numbers ...uint64) frame {
	f := frame{byte(o)}
	for _, n := range numbers {
		f.number(n)
	}
	return f
}

// Wall reads the wall clock.
func (r *Remote) Wall() locks.Wall {
	if r.looking {
		return r.wall
	}
	answer := frame(r.Call(request(opWall)))
	return locks.Wall(answer.takeSigned())
}

// Monotonic reads the monotonic clock.
func (r *Remote) Monotonic() locks.Monotonic {
	if r.looking {
		return r.monotonic
	}
	answer := frame(r.Call(request(opMonotonic)))
	return locks.Monotonic(answer.takeSigned())
}

// Takes is for tasks on this side only.
func (r *Remote) Takes(int, bool) { panic("workload: a process elsewhere takes one lock") }

// Start reports that Lock is about to be called.
func (r *Remote) Start() history.ID {
	answer := frame(r.Call(request(opStart)))
	return history.ID(answer.takeNumber())
}

// Acquired reports that Lock has returned with a lease.
func (r *Remote) Acquired(id history.ID, l locks.Lease) {
	f := request(opAcquired, uint64(id))
	f.lease(l)
	f.flag(l.Lost != nil)
	f.flag(l.Suspended != nil)
	r.Call(f)
}

// Refused reports that Lock has returned without a lease.
func (r *Remote) Refused(id history.ID, o history.Outcome, why error, final bool) {
	f := request(opRefused, uint64(id), uint64(o))
	f.flag(final)
	f.flag(errors.Is(why, locks.ErrNotAcquired))
	f.text(why.Error())
	r.Call(f)
}

// Check makes the application check whether it still holds the lock; during it the clocks show that step's readings.
func (r *Remote) Check(id history.ID, look func()) {
	answer := frame(r.Call(request(opCheck, uint64(id))))
	r.looking, r.wall, r.monotonic = true, locks.Wall(answer.takeSigned()), locks.Monotonic(answer.takeSigned())
	look()
	r.looking = false
}

// Lost reports that the application has learnt that it no longer holds the lock.
func (r *Remote) Lost(id history.ID) { r.Call(request(opLost, uint64(id))) }

// Release reports that Unlock is about to be called.
func (r *Remote) Release(id history.ID) { r.Call(request(opRelease, uint64(id))) }

// Released reports that Unlock has returned.
func (r *Remote) Released(id history.ID, o history.Outcome) {
	r.Call(request(opReleased, uint64(id), uint64(o)))
}

// Stays reports that the process has done its work and stays up.
func (r *Remote) Stays() { r.Call(request(opStays)) }

// Ran returns for how long the process has run.
func (r *Remote) Ran() time.Duration {
	answer := frame(r.Call(request(opRan)))
	return answer.takeDuration()
}

// Access accesses a register of the resource.
func (r *Remote) Access(id history.ID, op history.Op, register int, l locks.Lease, _ ...Held) (accepted bool, err error) {
	f := request(opAccess, uint64(id), uint64(op), uint64(register))
	f.lease(l)
	answer := frame(r.Ask(f))
	accepted = answer.takeFlag()
	done, text := answer.takeFlag(), answer.takeText()
	switch {
	case text == "":
		return accepted, nil
	case done:
		return accepted, fmt.Errorf("%s: %w", text, locks.ErrUnknown)
	default:
		return accepted, fmt.Errorf("%s: %w", text, locks.ErrNotDone)
	}
}

// Guarded is for locks on this side only.
func (r *Remote) Guarded(history.ID, history.Op, int, locks.Lease, locks.Guard) (bool, error) {
	panic("workload: a lock elsewhere guards no data here")
}

// Spawn is for tasks on this side only.
func (r *Remote) Spawn(func(Env)) locks.Signal {
	panic("workload: the tasks of a process elsewhere cannot be told apart here")
}

// lease writes what the other side has to know of one.
func (f *frame) lease(l locks.Lease) {
	f.text(l.Value)
	f.number(l.Token)
	f.number(uint64(l.Deadline.On))
	f.signed(l.Deadline.At)
}

func (f *frame) takeLease() locks.Lease {
	return locks.Lease{
		Value: f.takeText(), Token: f.takeNumber(),
		Deadline: locks.Deadline{On: locks.ClockKind(f.takeNumber()), At: f.takeSigned()},
	}
}

// Answer makes an Env carry out a request of a Remote, and returns the answer to it.
func Answer(env Env, request []byte) []byte {
	f, a := frame(request[1:]), frame{}
	switch op(request[0]) {
	case opWall:
		a.signed(int64(env.Wall()))
	case opMonotonic:
		a.signed(int64(env.Monotonic()))
	case opStart:
		a.number(uint64(env.Start()))
	case opAcquired:
		id, l := history.ID(f.takeNumber()), f.takeLease()
		if f.takeFlag() {
			l.Lost = env.NewSignal()
		}
		if f.takeFlag() {
			l.Suspended = env.NewSignal()
		}
		env.Acquired(id, l)
	case opRefused:
		answerRefused(env, f)
	case opCheck:
		env.Check(history.ID(f.takeNumber()), func() {
			a.signed(int64(env.Wall()))
			a.signed(int64(env.Monotonic()))
		})
	case opLost:
		env.Lost(history.ID(f.takeNumber()))
	case opRelease:
		env.Release(history.ID(f.takeNumber()))
	case opReleased:
		env.Released(history.ID(f.takeNumber()), history.Outcome(f.takeNumber()))
	case opStays:
		env.Stays()
	case opRan:
		a.signed(int64(env.Ran()))
	case opAccess:
		id, o, register := history.ID(f.takeNumber()), history.Op(f.takeNumber()), int(f.takeNumber())
		accepted, err := env.Access(id, o, register, f.takeLease())
		a.flag(accepted)
		a.flag(errors.Is(err, locks.ErrUnknown))
		a.text(textOf(err))
	default:
		panic(fmt.Sprintf("workload: there is no request %d", request[0]))
	}
	return a
}

func answerRefused(env Env, f frame) {
	id, o, final := history.ID(f.takeNumber()), history.Outcome(f.takeNumber()), f.takeFlag()
	env.Refused(id, o, &refusal{others: f.takeFlag(), text: f.takeText()}, final)
}

// refusal is why a lock was not acquired elsewhere.
type refusal struct {
	others bool // somebody else has it
	text   string
}

// Error returns the text of the lock's error.
func (r *refusal) Error() string { return r.text }

// Is reports whether the error is locks.ErrNotAcquired.
func (r *refusal) Is(target error) bool { return r.others && target == locks.ErrNotAcquired }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Failure returns the request that tells the other side that the workload has ended because a lock could not be built.
func Failure(err error) []byte {
	f := request(opFailed)
	f.text(err.Error())
	return f
}

// FailureIn returns why a lock could not be built, if the request was made by Failure.
func FailureIn(request []byte) (why error, told bool) {
	if op(request[0]) != opFailed {
		return nil, false
	}
	f := frame(request[1:])
	return errors.New(f.takeText()), true
}
