package main

import "strings"

// maxFrames is how many calls of a panicking lock are shown.
const maxFrames = 8

// frames returns the innermost calls of a stack as debug.Stack prints it, two lines each: the function, and where in it.
// It begins with what panicked and ends where the workload called the lock: what lies beyond is the simulator's own.
func frames(stack string) []string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
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
