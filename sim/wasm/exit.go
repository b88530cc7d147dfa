package wasm

import (
	"fmt"
	"strings"
)

// exiting is the panic by which a program ends that calls for its end.
type exiting struct{ code uint32 }

// Exit says that a program has ended before its work was done, and how.
type Exit struct {
	Code   uint32 // its exit code; 2 after a panic
	Reason string // why the machine has ended it; "" if it has done so itself
	Output string // what it had written, or the end of that if it was much
}

// Error shows the exit code and the output.
func (e *Exit) Error() string {
	how := e.Reason
	if how == "" {
		how = fmt.Sprintf("exit status %d", e.Code)
	}
	return strings.TrimSpace(how + "\n" + e.Output)
}

// aborted is how a program of Go's ends after it has shown its panic, when it is built to be part of another.
const aborted = "wasm error: unreachable"

// failure says how the program has ended when the machine was told, or has found, that it cannot go on.
func (i *Instance) failure(err error) *Exit {
	e := &Exit{Output: string(i.output)}
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
