// Package workload is the work of a client: it acquires the lock, accesses the protected resource, and releases
// the lock, in a given style. Call [Run] in a client process.
//
// The same code runs in simulation and against real servers: it depends on its [Env] only.
package workload

import (
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
)

// Plan is the work of each task of a client.
type Plan struct {
	Style     history.Style
	Fencing   history.Fencing // under check-then-write a write is preceded by the gateway's check
	Tasks     int             // tasks of the process that do all of this concurrently
	Sections  int             // how many critical sections each of them executes
	Enters    int             // how often a task enters the lock for a critical section, and leaves it again; 1 if 0
	Wait      time.Duration   // how long one Acquire may wait
	Again     time.Duration   // pause before another Acquire after a failed one; 0 means that there is no other
	Unlock    time.Duration   // pause before another Unlock after a failed one; 0 means that there is no other
	Late      time.Duration   // the lease is renewed so much later than it should be; for those who renew it, see package guest
	Forgets   bool            // the resource is accessed without the lease's token and value
	Passes    time.Duration   // a job writes, with the lease's token, so long after Unlock; 0: the holder writes
	Between   time.Duration   // pause between two of several locks
	Think     time.Duration   // pause between critical sections
	Read      time.Duration   // when the registers are read, from the start of the critical section
	Write     time.Duration   // when they are written, likewise
	Work      time.Duration   // length of a critical section
	Busy      bool            // the work keeps the processor busy: a pause of the process makes it last longer
	Hangs     bool            // the critical section never ends
	Stays     bool            // the process stays up when its tasks have finished
	Registers int             // of each resource
	Resources []int           // the resource that each of several locks guards; each its own if empty
	Guarded   bool            // the registers live on the lock's own servers
	_         struct{}
}

// Env is the environment of a task of the workload. Each call is a step of the client, which may trigger
// faults, and is recorded in the history in true time.
type Env interface {
	locks.Process
	// Takes reports of a task that takes several locks that the next Start is about one of them, by its place among those that it
	// takes, from 0; more says that it takes others before it works.
	Takes(lock int, more bool)
	// Start reports that Lock is about to be called, and numbers the acquisition.
	Start() history.ID
	// Acquired reports that Lock has returned to the application with a lease.
	Acquired(id history.ID, l locks.Lease)
	// Refused reports that Lock has returned without a lease, and the error. Final says that the task does not try again.
	Refused(id history.ID, o history.Outcome, why error, final bool)
	// Check makes the application check whether it still holds the lock; look is called within the step.
	Check(id history.ID, look func())
	// Lost reports that the application has learnt that it no longer holds the lock.
	Lost(id history.ID)
	// Release reports that Unlock is about to be called.
	Release(id history.ID)
	// Released reports that Unlock has returned.
	Released(id history.ID, o history.Outcome)
	// Access accesses a register of the resource, from 0, that the acquisition's lock protects, and shows the lease of that lock and those
	// of others that guard the same resource. It returns whether the access was accepted; ErrUnknown if no answer came.
	Access(id history.ID, op history.Op, register int, l locks.Lease, with ...Held) (accepted bool, err error)
	// Guarded is Access to a resource on the lock's own servers, by means of the lock.
	Guarded(id history.ID, op history.Op, register int, l locks.Lease, g locks.Guard) (accepted bool, err error)
	// Ran returns for how long the process has run, pauses left out; only differences mean anything.
	Ran() time.Duration
	// Spawn runs f as another task of the process.
	Spawn(f func(Env)) locks.Signal
	// Stays reports that the process has done its work and stays up, with its connections and sessions.
	Stays()
}

// Held is a lock that a task holds.
type Held struct {
	ID    history.ID
	Lease locks.Lease
}

// Run executes the plan in all of its tasks, and returns when all have ended, or never if the process is to
// stay up. Each task builds a lock of its own, since a lock's handle belongs to one task.
func Run(env Env, build locks.Builder, p *Plan) error { return RunAll(env, []locks.Builder{build}, p) }

// RunAll is Run for tasks that take several locks for a critical section, one after the other, and release them in the opposite
// order. A task that does not get one of them releases those that it has, and begins again with the first if it tries again:
// that is how libraries take several locks as one (Redisson's RedissonMultiLock).
func RunAll(env Env, build []locks.Builder, p *Plan) error {
	others := make([]locks.Signal, 0, max(p.Tasks-1, 0))
	errs := make([]error, max(p.Tasks, 1))
	for i := 1; i < p.Tasks; i++ {
		others = append(others, env.Spawn(func(env Env) { errs[i] = runTask(env, build, p) }))
	}
	errs[0] = runTask(env, build, p)
	for _, end := range others {
		env.Wait(locks.Forever, end)
	}
	err := errors.Join(errs...)
	if p.Stays && err == nil {
		env.Stays()
		env.Wait(locks.Forever)
	}
	return err
}

func runTask(env Env, build []locks.Builder, p *Plan) error {
	taken := make([]locks.Lock, len(build))
	for i := range build {
		lock, err := build[i](env)
		if err != nil {
			return err
		}
		taken[i] = lock
	}
	for i := range p.Sections {
		if i > 0 && p.Think > 0 {
			env.Sleep(p.Think)
		}
		section(env, taken, p)
	}
	return nil
}

// section acquires the locks, works under them, and releases them.
func section(env Env, taken []locks.Lock, p *Plan) {
	holds := acquire(env, taken, p)
	if len(holds) == 0 {
		return
	}
	h := newHolder(env, p, holds)
	enterAgain(env, taken, p, p.Enters, func() { h.work() })
	for i := range slices.Backward(holds) {
		one := &holds[i]
		if release(env, one) != nil && p.Unlock > 0 {
			env.Sleep(p.Unlock)
			_ = release(env, one)
		}
	}
	if h.handed {
		env.Sleep(p.Passes)
		h.job()
	}
}

// hold is one of the locks that a task holds.
type hold struct {
	lock   locks.Lock
	id     history.ID
	lease  locks.Lease
	more   []*hold                   // later ones that guard the same resource
	second bool                      // it is one of these
	verify func(l locks.Lease) error // nil if its style does not ask, or cannot
	guard  locks.Guard               // nil if the resource stands by itself
}

// release calls Unlock and returns what it said.
func release(env Env, h *hold) error {
	env.Release(h.id)
	err := h.lock.Release(h.lease)
	env.Released(h.id, released(err))
	return err
}

// enterAgain enters locks that are held already as often as the plan says, does what is to be done inside, and leaves
// again. If it does not get in, nothing is done.
func enterAgain(env Env, taken []locks.Lock, p *Plan, enters int, inside func()) {
	if enters <= 1 {
		inside()
		return
	}
	holds := acquire(env, taken, p)
	if len(holds) == 0 {
		return
	}
	enterAgain(env, taken, p, enters-1, inside)
	for i := range slices.Backward(holds) {
		_ = release(env, &holds[i])
	}
}

// acquire asks until it has all locks, or will not ask again; then it returns none.
func acquire(env Env, taken []locks.Lock, p *Plan) []hold {
	for {
		holds := make([]hold, 0, len(taken))
		for i, lock := range taken {
			if i > 0 && p.Between > 0 {
				env.Sleep(p.Between)
			}
			if len(taken) > 1 {
				env.Takes(i, i < len(taken)-1)
			}
			id := env.Start()
			lease, err := lock.Acquire(p.Wait)
			if err != nil {
				env.Refused(id, outcomeOf(err), err, p.Again == 0)
				break
			}
			env.Acquired(id, lease)
			holds = append(holds, hold{lock: lock, id: id, lease: lease})
		}
		if len(holds) == len(taken) {
			return holds
		}
		for i := range slices.Backward(holds) {
			_ = release(env, &holds[i])
		}
		if p.Again == 0 {
			return nil
		}
		env.Sleep(p.Again)
	}
}

func outcomeOf(err error) history.Outcome {
	switch {
	case err == nil:
		return history.OK
	case errors.Is(err, locks.ErrUnknown):
		return history.Unknown
	default:
		return history.Failed
	}
}

// released tells a release of what the servers knew nothing of from one that was not carried out.
func released(err error) history.Outcome {
	o := outcomeOf(err)
	if o == history.Failed && !errors.Is(err, locks.ErrNotHeld) {
		return history.Refused
	}
	return o
}

// holder is a task within its critical section.
type holder struct {
	env     Env
	plan    *Plan
	holds   []hold
	notices []locks.Signal // those at which its style stops
	of      []history.ID   // the acquisition of each notice
	spent   time.Duration  // how much of the section is over
	handed  bool           // the writes are left to a job
	deaf    bool           // it is that job
}

// Notices lists what tells a holder that it has lost its lease. A careful one also takes the interruption of its connection for
// that; to others it says nothing.
func Notices(l locks.Lease, s history.Style) []locks.Signal {
	var list []locks.Signal
	if l.Lost != nil {
		list = append(list, l.Lost)
	}
	if l.Suspended != nil && s == history.Careful {
		list = append(list, l.Suspended)
	}
	return list
}

// Told reports whether one of the notices is there.
func Told(notices []locks.Signal) bool { return slices.ContainsFunc(notices, locks.Signal.Fired) }

func newHolder(env Env, p *Plan, holds []hold) holder {
	h := holder{env: env, plan: p, holds: holds}
	h.join()
	for i := range holds {
		one := &holds[i]
		if p.Style >= history.Attentive {
			for _, notice := range Notices(one.lease, p.Style) {
				h.notices, h.of = append(h.notices, notice), append(h.of, one.id)
			}
		}
		if p.Guarded {
			one.guard = one.lock.(locks.Guard)
		}
		if v, ok := one.lock.(locks.Verifier); ok && p.Style == history.Careful {
			one.verify = v.Verify
		}
	}
	return h
}

// join finds the locks that guard the same resource, which is accessed once for all of them.
func (h *holder) join() {
	of := h.plan.Resources
	for i := range h.holds {
		for k := i + 1; k < len(of) && !h.holds[i].second; k++ {
			if of[k] == of[i] {
				h.holds[i].more, h.holds[k].second = append(h.holds[i].more, &h.holds[k]), true
			}
		}
	}
}

// work reads, works and writes, until it is done, or refused, or knows that it no longer holds.
func (h *holder) work() {
	p := h.plan
	if !h.until(p.Read) || !h.readAll() || !h.until(p.Write) || !h.write() {
		return
	}
	if p.Hangs {
		h.until(locks.Forever)
		return
	}
	h.until(p.Work)
}

// readAll reads the registers of all locks, in the order in which it has taken them.
func (h *holder) readAll() bool {
	for i := range h.holds {
		if h.holds[i].second {
			continue
		}
		for register := range h.plan.Registers {
			if !h.access(&h.holds[i], history.Read, register) {
				return false
			}
		}
	}
	return true
}

// write writes, or leaves that to a job.
func (h *holder) write() bool {
	if h.plan.Passes == 0 {
		return h.writeAll()
	}
	if lost := h.lost(); lost != 0 {
		h.env.Lost(lost)
		return false
	}
	h.handed = true
	return true
}

// job writes what the holder has left to it. It has the holder's token, and does not ask whether the lock is still held.
func (h *holder) job() {
	h.deaf = true
	h.writeAll()
}

func (h *holder) writeAll() bool {
	for i := range h.holds {
		if h.holds[i].second {
			continue
		}
		for register := range h.plan.Registers {
			if h.plan.Fencing == history.CheckThenWrite && !h.access(&h.holds[i], history.Check, register) {
				return false
			}
			if !h.access(&h.holds[i], history.Write, register) {
				return false
			}
		}
	}
	return true
}

// until works until that much of the section is over; false if a notice of loss came first.
func (h *holder) until(moment time.Duration) bool {
	d := moment - h.spent
	if d <= 0 {
		return true
	}
	if moment != locks.Forever {
		h.spent = moment
	}
	for d > 0 {
		began := time.Duration(0)
		if h.plan.Busy {
			began = h.env.Ran()
		}
		if which := h.env.Wait(d, h.notices...); which >= 0 {
			h.env.Lost(h.of[which])
			return false
		}
		if !h.plan.Busy || d == locks.Forever {
			break
		}
		d -= h.env.Ran() - began
	}
	return true
}

// access turns to the resource of one of its locks if the client's style finds that it still holds all; false if the section is
// over.
func (h *holder) access(by *hold, op history.Op, register int) bool {
	if lost := h.lost(); lost != 0 {
		h.env.Lost(lost)
		return false
	}
	if by.guard != nil {
		accepted, err := h.env.Guarded(by.id, op, register, by.lease, by.guard)
		return accepted && err == nil
	}
	var with []Held
	for _, other := range by.more {
		with = append(with, Held{other.id, h.shown(other)})
	}
	accepted, err := h.env.Access(by.id, op, register, h.shown(by), with...)
	return accepted && err == nil
}

// shown is what the resource sees of a lease.
func (h *holder) shown(by *hold) locks.Lease {
	l := by.lease
	if h.plan.Forgets {
		l.Token, l.Value = 0, ""
	}
	return l
}

// lost is what the client's style has it look at: notices that have arrived, then what the servers say, then the
// deadline, which may have passed while it asked. It returns the first acquisition that it finds lost; 0 if it finds none.
func (h *holder) lost() history.ID {
	if h.deaf {
		return 0
	}
	for i, notice := range h.notices {
		if notice.Fired() {
			return h.of[i]
		}
	}
	if h.plan.Style != history.Careful {
		return 0
	}
	for i := range h.holds {
		if one := &h.holds[i]; one.verify != nil && one.verify(one.lease) != nil {
			return one.id
		}
	}
	for i := range h.holds {
		one, passed := &h.holds[i], false
		h.env.Check(one.id, func() { passed = one.lease.Deadline.Passed(h.env) })
		if passed {
			return one.id
		}
	}
	return 0
}
