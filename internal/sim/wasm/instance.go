package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/api"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/sim"
)

// loops is how often the head of a loop may be passed before the program waits again: about a second of endless
// looping.
const loops = 1 << 27

// Instance is one program with its memory.
type Instance struct {
	module  *Module
	wasm    api.Module
	memory  api.Memory
	region  *region
	run     api.Function
	globals []api.MutableGlobal // the last is the budget of loops

	task       *sim.Task // nil during the initialisation
	host       program.Host
	random     *sim.Rand
	boot       clocks // during the initialisation what its clocks show; later what they showed at its end
	files      []file // from firstFile
	wake       sim.Signal
	output     []byte // what it has written to its standard output and error
	thrown     any    // the panic that has ended it
	registered bool
	prepared   *image       // by Connect, without memory and files
	connecting bool         // in a preparation
	before     []connection // to be adopted
	ends       []int64      // scratch: when what it waits for is over
	events     []byte       // scratch: what has happened
}

// clocks is what the clocks of a process show.
type clocks struct{ wall, monotonic int64 }

// Instance makes an instance, which must be restored before it is run.
func (m *Module) Instance() (program.Instance, error) {
	i := &Instance{module: m}
	return i, i.instantiate(context.Background(), m.base)
}

// Restore resets the instance to an initialised state in which it has not run yet. Which is the number of that
// state, below [program.Images].
func (i *Instance) Restore(which int) error {
	im, err := i.module.image(which)
	if err == nil {
		i.restore(im)
	}
	return err
}

func (i *Instance) restore(im *image) {
	if lacks := im.length - i.region.shown; lacks > 0 { // the machine has to know of it
		i.memory.Grow(uint32(lacks / machinePage))
	}
	i.region.restore(i.module.base, im)
	for n, g := range i.globals {
		g.Set(im.globals[n])
	}
	clear(i.files)
	i.files, i.output, i.thrown = i.files[:0], i.output[:0], nil
	i.wake = sim.Signal{} // for which a killed task may have waited, and nobody does before the program waits itself
	i.boot = clocks{im.wall, im.monotonic}
	i.before = im.files
}

// Run runs the client in a task until it ends. The error is an *[program.Exit] if the program ended itself, by a panic or
// otherwise.
func (i *Instance) Run(t *sim.Task, h program.Host, random *sim.Rand) error {
	return i.play(i.run, t, h, random)
}

// play calls a function of the program in a task.
func (i *Instance) play(f api.Function, t *sim.Task, h program.Host, random *sim.Rand) error {
	i.task, i.host, i.random = t, h, random
	i.refill()
	_, err := f.Call(context.WithValue(context.Background(), instanceKey{}, i))
	if err == nil {
		return nil
	}
	if _, exits := i.thrown.(exiting); i.thrown != nil && !exits {
		panic(i.thrown) // the task has been killed, or the engine has found a mistake
	}
	if i.spent() {
		t.Exceed(program.LoopBound)
	}
	return i.failure(err)
}

// Close frees the instance.
func (i *Instance) Close() { _ = i.wasm.Close(context.Background()) }

func (i *Instance) budget() api.MutableGlobal { return i.globals[len(i.globals)-1] }

// refill gives the program as many loops as it may make before it waits again.
func (i *Instance) refill() { i.budget().Set(loops) }

// spent reports whether it has made them.
func (i *Instance) spent() bool { return int64(i.budget().Get()) < 0 }
