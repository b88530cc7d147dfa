package sim

import (
	"fmt"
	"strings"
)

// Panic is a panic of a client's code, which ends the run.
type Panic struct {
	Node  string
	Value any
	Stack string
}

// Error returns the client whose code panicked, and the value.
func (p *Panic) Error() string {
	return fmt.Sprintf("the code of client %s panicked: %v", p.Node, p.Value)
}

// Unwrap returns the value of the panic, if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// maxFrames is how many calls of a panicking lock are shown.
const maxFrames = 8

// Calls returns the innermost calls of the code that panicked, two lines each: the function, and where in it. It begins with what
// panicked and ends where the workload called the lock: what lies beyond is the simulator's own.
func (p *Panic) Calls() []string {
	// As debug.Stack prints it.
	lines := strings.Split(strings.TrimSpace(p.Stack), "\n")
	if strings.HasPrefix(lines[0], "goroutine ") {
		lines = lines[1:]
	}
	for i, line := range lines { // what stands above the panic only caught it
		if strings.HasPrefix(line, "panic(") {
			lines = lines[min(i+2, len(lines)):]
			break
		}
	}
	var list []string
	for ; len(lines) >= 2 && len(list) < 2*maxFrames; lines = lines[2:] {
		function, place := lines[0], strings.TrimSpace(lines[1])
		if strings.HasPrefix(function, "runtime.") {
			continue // how an index out of range or a nil pointer becomes a panic
		}
		if strings.Contains(function, "/workload.") && len(list) > 0 {
			break
		}
		if i := strings.LastIndex(function, "("); i > 0 {
			function = function[:i] // arguments are addresses
		}
		place, _, _ = strings.Cut(place, " +0x")
		list = append(list, function, "    "+place)
	}
	return list
}
