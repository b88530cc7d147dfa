package wasm

import (
	"strings"

	"github.com/locksim/locksim/internal/sim/program"
)

// exiting is the panic by which a program ends that calls for its end.
type exiting struct{ code uint32 }

// aborted is how a program of Go's ends after it has shown its panic, when it is built to be part of another.
const aborted = "wasm error: unreachable"

// failure says how the program has ended when the machine was told, or has found, that it cannot go on.
func (i *Instance) failure(err error) *program.Exit {
	e := &program.Exit{Output: string(i.output)}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	exit, exits := i.thrown.(exiting)
	switch {
	case exits:
		e.Code = exit.code
	case reason == aborted && e.Output != "":
		e.Code = 2
	default:
		e.Reason = reason
	}
	return e
}
