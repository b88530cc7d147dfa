package program

import (
	"fmt"
	"slices"
	"strings"
)

// Exit describes how a program ended before its work was done.
type Exit struct {
	Code   uint32 // its exit code; 2 after a panic
	Reason string // why the machine ended it; "" if it ended itself
	Output string // its output, or the end of a long one
}

// Error says how the program ended, and includes its last output.
func (e *Exit) Error() string { return strings.TrimSpace(e.What() + "\n" + e.Stderr()) }

// Kind identifies exits that have the same origin: the place of the panic, or the exit code.
func (e *Exit) Kind() string {
	message, place := e.failure()
	fatal, isFatal := strings.CutPrefix(message, fatalHead)
	switch {
	case e.Reason != "":
		return e.Reason
	case isFatal:
		return fatal
	case message == "":
		return fmt.Sprintf("exit with status %d", e.Code)
	case place == "":
		return "panic"
	}
	return "panic in " + place
}

// What returns text that continues a sentence about the program: "panics: …", or "exits with status 3".
func (e *Exit) What() string {
	message, _ := e.failure()
	fatal, isFatal := strings.CutPrefix(message, fatalHead)
	switch {
	case e.Reason != "":
		return "is ended by the machine: " + e.Reason
	case fatal == "out of memory":
		return fmt.Sprintf("runs out of memory: it may have %d MB", MemoryLimit>>20)
	case isFatal:
		return "fails: " + fatal
	case message == "":
		return fmt.Sprintf("exits with status %d", e.Code)
	}
	return "panics: " + strings.TrimPrefix(message, panicHead)
}

// The beginnings of the lines in which Go's runtime says why it ends a program (printpanics and throw in
// runtime/panic.go). If memory is short, another line precedes them (mallocinit and persistentalloc in
// runtime/malloc.go).
const (
	panicHead  = "panic: "
	fatalHead  = "fatal error: "
	memoryHead = "runtime: out of memory"
)

// AreLastWords reports whether a line, which follows the line before, is the first one in which Go's runtime says why
// it ends a program.
func AreLastWords(line, before string) bool {
	return strings.HasPrefix(line, panicHead) || strings.HasPrefix(line, memoryHead) ||
		strings.HasPrefix(line, fatalHead) && !strings.HasPrefix(before, memoryHead)
}

// Told reports whether Go's runtime said why it ended the program.
func (e *Exit) Told() bool {
	message, _ := e.failure()
	return message != ""
}

// failure returns the line with which Go's runtime told of a panic or worse, "" if the program ended without, and the
// function of the program's in which that was, "" if it is not known.
func (e *Exit) failure() (message, place string) {
	_, last := e.output()
	for i, line := range last {
		if message == "" && (strings.HasPrefix(line, panicHead) || strings.HasPrefix(line, fatalHead)) {
			message = line
		}
		if isCall(line) && i > 0 && message != "" {
			return message, line[:strings.LastIndexByte(line, '(')]
		}
	}
	return message, ""
}

// output is what the program wrote, in lines: what it had to say, and what Go's runtime said last of why it ended it. Of
// its traces that is the first one, without the calls by which the simulation came to the program.
func (e *Exit) output() (said, last []string) {
	said = strings.Split(strings.TrimSpace(e.Output), "\n")
	if e.Code != 2 { // the runtime's; os.Exit may have it, too
		return said, nil
	}
	at, before := len(said), ""
	for i, line := range said { // of several the last one, which is not recovered from
		if AreLastWords(line, before) {
			at = i
		}
		before = line
	}
	traced, hidden := false, false
	for _, line := range said[at:] {
		isHead := strings.HasPrefix(line, "goroutine ")
		if isHead && traced {
			break
		}
		traced = traced || isHead
		if hidden = traced && (isHidden(line) || hidden && isPlace(line)); !hidden {
			last = append(last, line)
		}
	}
	for len(last) > 0 && last[len(last)-1] == "" {
		last = last[:len(last)-1]
	}
	return said[:at], last
}

// isCall reports whether a line of a trace names a function; the line below it is its place.
func isCall(line string) bool { return strings.HasSuffix(line, ")") && !isPlace(line) }

func isPlace(line string) bool { return strings.HasPrefix(line, "\t") }

// isHidden reports whether a line of a trace names a function of Go's runtime, or one by which a program speaks to a
// simulation.
func isHidden(line string) bool {
	line = strings.TrimPrefix(line, "created by ")
	return slices.ContainsFunc([]string{
		"panic(", "runtime.", "internal/runtime/", RunExport + "(",
		"github.com/locksim/locksim/guest.", "github.com/locksim/locksim/internal/workload.",
	}, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}

// mostLines is how much of a program's output is shown, in lines.
const mostLines = 20

// Stderr returns the end of the program's output; of a stack trace only the program's own calls.
func (e *Exit) Stderr() string {
	said, last := e.output()
	last = last[:min(len(last), mostLines)] // it begins with what matters
	said = said[max(len(said)-(mostLines-len(last)), 0):]
	text := strings.Join(slices.Concat(said, last), "\n")
	return strings.TrimSpace(strings.ReplaceAll(text, "\t", "    "))
}
