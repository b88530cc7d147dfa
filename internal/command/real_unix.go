//go:build unix

package command

import (
	"fmt"
	"syscall"
	"time"

	"github.com/locksim/locksim/sim"
)

// pace has the simulation's time pass as real time does, for a program that is not given virtual time. It looks at the program
// each tick, stops it while its node is paused, and notes how far the simulation has fallen behind.
type pace struct {
	process *process
	timer   *sim.Timer
	begun   time.Time
	from    int64 // what true time was then
	late    time.Duration
	stopped bool
}

const tick = time.Millisecond

// newPace begins when the program is started.
func newPace(p *process) *pace {
	r := &pace{process: p, begun: time.Now(), from: trueTime(p.task.Node())}
	r.timer = p.task.Node().NewObserver(r)
	r.Ring()
	return r
}

// trueTime is the engine's.
func trueTime(n *sim.Node) int64 { return int64(n.When(false, n.Monotonic())) }

// Ring is called each tick, while the node is paused, too.
func (r *pace) Ring() {
	n := r.process.task.Node()
	due := r.begun.Add(time.Duration(trueTime(n) - r.from))
	time.Sleep(time.Until(due))
	r.late = max(r.late, time.Since(due))
	if paused := n.Paused(); paused != r.stopped && r.process.pid > 0 {
		r.stopped = paused
		signal := map[bool]syscall.Signal{true: syscall.SIGSTOP, false: syscall.SIGCONT}[paused]
		_ = syscall.Kill(-r.process.pid, signal)
	}
	r.process.wake.Fire()
	r.timer.Arm(false, n.Monotonic()+int64(tick))
}

// bound names what a run in real time cannot bear; "" is nothing.
func (r *pace) bound() string {
	n := r.process.task.Node()
	switch now := trueTime(n); {
	case r.late > mostLate:
		return fmt.Sprintf("real time (the machine keeps locksim waiting for %s)", r.late.Round(time.Millisecond))
	case n.Monotonic() != now, n.Wall() != sim.Epoch+now:
		return "real time (the clocks of programs are the machine's, and cannot be wrong)"
	}
	return ""
}

// ahead is by how much the wall clock that the program reads is ahead of its node's.
func (p *process) ahead() time.Duration {
	if p.pace == nil {
		return 0
	}
	return time.Duration(p.pace.begun.UnixNano() - sim.Epoch - p.pace.from)
}
