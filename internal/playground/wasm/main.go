//go:build js && wasm

// Command wasm is the engine as a page has it: in a worker, as the function locksim, from a request to an answer, both JSON.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/locksim/locksim/internal/playground"
)

// sweeps is how much garbage is collected at once, see cmd/locksim: a run leaves little.
const sweeps = 400

func main() {
	debug.SetGCPercent(sweeps)
	var engine playground.Engine
	js.Global().Set("locksim", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(engine.Answer([]byte(args[0].String())))
	}))
	js.Global().Call("ready")
	select {}
}
