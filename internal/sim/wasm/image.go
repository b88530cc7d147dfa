package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/sim"
)

// page is the grain in which memories are compared and restored.
const page = 4096

// image is the state of a program that has been initialised and not yet run.
type image struct {
	pages     []patch // where its memory differs from the base's
	length    int     // of its memory
	globals   []uint64
	files     []connection // that are open; none before it is connected
	wall      int64        // what its clocks showed last
	monotonic int64
}

// patch is a page of memory.
type patch struct {
	at    int
	bytes []byte
}

// image returns one of the states to begin in.
func (m *Module) image(which int) (*image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.images[which] == nil {
		im, memory, err := m.initialise(which)
		if err != nil {
			return nil, err
		}
		im.pages = difference(m.base.memory, memory)
		m.images[which] = im
	}
	return m.images[which], nil
}

// initialise runs what a program does before it is a client. Its memory is that of a new instance.
func (m *Module) initialise(which int) (*image, []byte, error) {
	random := sim.NewRand(uint64(which), "image")
	i := &Instance{module: m, random: random, boot: clocks{wall: sim.Epoch - random.Int64N(1e9), monotonic: 1e9}}
	ctx := context.WithValue(context.Background(), instanceKey{}, i)
	if err := i.instantiate(ctx, nil); err != nil {
		return nil, nil, err
	}
	defer func() { _ = i.wasm.Close(ctx) }()
	if _, err := i.wasm.ExportedFunction(initExport).Call(ctx); err != nil {
		if i.spent() {
			return nil, nil, errors.New("the program loops forever before it is a client: in an init function, or in the " +
				"initialisation of a variable")
		}
		return nil, nil, fmt.Errorf("before it is a client the program %w", i.failure(err))
	}
	if !i.registered {
		return nil, nil, errors.New("the program calls guest.Register in none of its init functions")
	}
	memory, _ := i.memory.Read(0, i.memory.Size())
	return i.snapshot(), bytes.Clone(memory), nil
}

// snapshot returns the state of the instance, but for its memory and files.
func (i *Instance) snapshot() *image {
	im := &image{length: i.region.length, wall: i.wall(), monotonic: i.monotonic()}
	for _, g := range i.globals {
		im.globals = append(im.globals, g.Get())
	}
	return im
}

// difference returns the pages in which a memory differs from the base's.
func difference(base, memory []byte) (pages []patch) {
	for at := 0; at < len(memory); at += page {
		if now := memory[at : at+page]; at >= len(base) || !bytes.Equal(base[at:at+page], now) {
			pages = append(pages, patch{at, now})
		}
	}
	return pages
}

// instantiate makes an instance that can be restored to what began as the base; nil is none.
func (i *Instance) instantiate(ctx context.Context, b *base) (err error) {
	i.region, err = newRegion(b)
	if err != nil {
		return fmt.Errorf("the memory of a program: %w", err)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	ctx = experimental.WithMemoryAllocator(ctx, i.region)
	i.wasm, err = i.module.runtime.InstantiateModule(ctx, i.module.compiled, config)
	if err != nil {
		return fmt.Errorf("an instance of the program: %w", err)
	}
	i.memory, i.run = i.wasm.Memory(), i.wasm.ExportedFunction(program.RunExport)
	for n := range i.module.globals {
		i.globals = append(i.globals, i.wasm.ExportedGlobal(globalExport+strconv.Itoa(n)).(api.MutableGlobal))
	}
	i.refill()
	return nil
}
