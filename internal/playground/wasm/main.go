//go:build js && wasm

// Command wasm is the engine as a page has it: in a worker, as the function locksim, from a request to an answer, both JSON.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/locksim/locksim/internal/playground"
)

// A run leaves little, so that garbage is collected seldom, when there are some 100 MB of it; and before that it would take more memory
// than a page should have.
const (
	sweeps     = 2000
	mostMemory = 512 << 20
)

func main() {
	debug.SetGCPercent(sweeps)
	debug.SetMemoryLimit(mostMemory)
	engine := playground.Engine{Progress: func(runs int) { js.Global().Call("progress", runs) }}
	js.Global().Set("locksim", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(engine.Answer([]byte(args[0].String())))
	}))
	js.Global().Call("ready")
	select {}
}
