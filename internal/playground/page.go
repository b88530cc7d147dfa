//go:build !js

package playground

import (
	"encoding/json"
	"io"

	"github.com/locksim/locksim/reports"
)

// Opens is the scenario with which a playground opens if none is asked for: the argument that began it all.
const Opens = "fencing-33-34"

// WritePage writes the page, which opens with a scenario's text. It loads the engine from beside it, see reports.Playground. If
// documented, it leads to manual/index.html.
func WritePage(w io.Writer, text, variant string, documented bool) error {
	var e Engine
	defer e.runner.Close()
	a, err := e.play(&Request{Do: "play", Text: text, Variant: variant})
	if err != nil {
		return err
	}
	schedules := a.Schedules
	a.Schedules = nil
	answer, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return reports.Playground(w, schedules, reports.Opening{Text: text, Variant: a.Variant, Answer: answer, Documented: documented})
}
