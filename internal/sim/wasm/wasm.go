// Package wasm runs client programs that were compiled to WebAssembly as processes of the engine: their clocks,
// randomness and connections are the simulation's, and so are their pauses and crashes.
//
// [Load] compiles a program; [Module.Instance] makes an instance, which [Instance.Run] runs on a task of the engine.
// Apart from computing, a program can only call its [program.Host], or the system calls in this package (WASI preview 1, as far
// as Go's own runtime and its network poller use them).
package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/locksim/locksim/internal/sim/program"
)

// initExport is the function that Go itself exports.
const initExport = "_initialize"

// Module is a compiled client program. It may be used by several goroutines.
type Module struct {
	digest   string
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	globals  int
	base     *base

	mu     sync.Mutex
	images [program.Images]*image // made when they are first wanted
	// Those of programs with connections, by their keys: what a key stands for is always the same, so that it does not matter which
	// of them are there.
	connected map[string]*image
}

// Load compiles a program. The result is cached in cacheDir, unless that is "". The error says what is wrong with
// the program, for example that it does not import package guest.
func Load(code []byte, cacheDir string) (*Module, error) {
	rewritten, globals, err := rewrite(code)
	if err != nil {
		return nil, fmt.Errorf("the program cannot be run: %w", err)
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("the folder for compiled programs: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	m := &Module{digest: digest(code), globals: globals, runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := m.prepare(ctx, rewritten); err != nil {
		_ = m.runtime.Close(ctx)
		return nil, err
	}
	return m, nil
}

func digest(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:8])
}

// prepare compiles the module, offers it what it imports, and initialises it for the first time.
func (m *Module) prepare(ctx context.Context, code []byte) (err error) {
	if m.compiled, err = m.runtime.CompileModule(ctx, code); err != nil {
		return fmt.Errorf("the program cannot be compiled: %w", err)
	}
	exports := m.compiled.ExportedFunctions()
	switch {
	case exports[initExport] == nil:
		return errors.New("the program is built to have its main function run: it takes -buildmode=c-shared")
	case exports[program.RunExport] == nil:
		return errors.New("the program does not import package guest")
	}
	if err := m.offer(ctx); err != nil {
		return err
	}
	first, memory, err := m.initialise(0)
	if err != nil {
		return err
	}
	if m.base, err = newBase(memory); err != nil {
		return fmt.Errorf("the memory of programs: %w", err)
	}
	m.images[0] = first
	return nil
}

// offer makes the functions that the program imports.
func (m *Module) offer(ctx context.Context) error {
	modules := []string{wasi, ours}
	builders := make(map[string]wazero.HostModuleBuilder, len(modules))
	for _, name := range modules {
		builders[name] = m.runtime.NewHostModuleBuilder(name)
	}
	for _, f := range m.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		builder, ok := builders[module]
		call := calls[module][name]
		switch {
		case !ok, module == ours && call == nil:
			return fmt.Errorf("the program asks for %s.%s, which a process in a simulation does not have", module, name)
		case call == nil:
			call = missing
		}
		builder.NewFunctionBuilder().
			WithGoModuleFunction(hostFunction(call, f.ParamTypes()), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, name := range modules {
		if _, err := builders[name].Instantiate(ctx); err != nil {
			return fmt.Errorf("the program asks for something else than Go's compiler makes it ask for: %w", err)
		}
	}
	return nil
}

// call is what a program's process does for it.
type call func(i *Instance, args []uint64) errno

type instanceKey struct{}

// hostFunction makes a call a function of the host's. A panic, which ends the program, is remembered for the task that
// runs it.
func hostFunction(c call, params []api.ValueType) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		for n, t := range params {
			if t == api.ValueTypeI32 { // the upper half is not said to be zero
				stack[n] = uint64(uint32(stack[n]))
			}
		}
		i := ctx.Value(instanceKey{}).(*Instance)
		defer func() {
			if p := recover(); p != nil {
				i.thrown = p
				panic(p)
			}
		}()
		result := uint64(c(i, stack))
		if len(stack) > 0 {
			stack[0] = result
		}
	}
}

// Digest identifies the program's code.
func (m *Module) Digest() string { return m.digest }

// Close frees the module's resources. None of its instances may be used any more.
func (m *Module) Close() error {
	return errors.Join(m.runtime.Close(context.Background()), m.base.close())
}
