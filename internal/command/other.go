//go:build !unix

package command

import (
	"errors"
	"time"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// process does not exist on this system.
type process struct {
	task              *sim.Task
	exit              *program.Exit
	said              []line
	heard, wake, gone sim.Signal
	lost              *sim.Signal
	control           *struct{ in, out []byte }
	hears             bool
	requests          int
}

type waits struct {
	locks.Process
	process *process
}

func supported(string) error {
	return errors.New("programs are run on Unix systems only")
}

func start(*Program, *sim.Task, program.Host, *workload.Assignment, *sim.Rand) (*process, error) {
	return nil, supported("")
}

// Beside does not exist on this system.
type Beside struct{ talk }

// Start fails on this system.
func Start([]string, *workload.Assignment, locks.Process, func(*program.Exit)) (*Beside, error) {
	return nil, supported("")
}

// Open is never called.
func (*Beside) Open(*workload.Assignment) (locks.Builder, error) { return nil, supported("") }

// Done is never called.
func (*Beside) Done() {}

// Lives is never called.
func (*Beside) Lives() {}

// News is never called.
func (*Beside) News() locks.Signal { return nil }

func (p *process) ahead() time.Duration { return 0 }

func (p *process) end()           {}
func (p *process) done()          {}
func (p *process) mustLive()      {}
func (p *process) quit(string)    {}
func (p *process) pump(*sim.Task) {}
func (p *process) silent() bool   { return false }

func (p *process) serve(*workload.Assignment) error { return nil }
