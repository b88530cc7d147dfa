//go:build !js

package reports

import (
	"io"

	"github.com/locksim/locksim/reports/internal/page"
)

// Page writes schedules as one interactive HTML file, which needs no network.
func Page(w io.Writer, schedules []Schedule) error { return page.Write(w, schedules) }

// Opening is what a playground opens with.
type Opening = page.Opening

// Playground writes the page in which a scenario can be changed. It loads worker.js, see [PlaygroundWorker], from beside it, and that
// the engine: wasm_exec.js and locksim.wasm.
func Playground(w io.Writer, schedules []Schedule, o Opening) error {
	return page.Play(w, schedules, o)
}

// PlaygroundWorker is the script worker.js of a playground.
func PlaygroundWorker() []byte { return page.Worker() }
