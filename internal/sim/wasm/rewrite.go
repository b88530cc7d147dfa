package wasm

import (
	"errors"
	"fmt"
	"strconv"
)

// The sections of a module that are rewritten (WebAssembly core specification, 5.5.2).
const (
	globalSection = 6
	exportSection = 7
	codeSection   = 10
)

// globalExport begins the names under which the globals are exported.
const globalExport = "locksim.global."

// rewrite returns the module with all of its globals exported to the host, so that a snapshot can be restored, and with
// a budget of loops, so that a program that loops forever ends at the same place on every machine. The head of every
// loop decrements the budget; Go's compiler begins every function that calls another with a loop, so that calls count
// too.
func rewrite(code []byte) (out []byte, globals int, err error) {
	if len(code) < 8 || string(code[:4]) != "\x00asm" {
		return nil, 0, errors.New("it is not a WebAssembly module")
	}
	s := scanner{bytes: code, at: 8}
	sections := make(map[byte][]byte)
	for t := s; t.more(); {
		id := t.byte()
		sections[id] = t.take(t.number())
		s.err = t.err
	}
	if s.err != nil {
		return nil, 0, s.err
	}
	for _, id := range []byte{globalSection, exportSection, codeSection} {
		if sections[id] == nil {
			return nil, 0, fmt.Errorf("it has no section %d, which all that Go compiles to WebAssembly have", id)
		}
	}
	global, globals, err := addBudget(sections[globalSection])
	if err != nil {
		return nil, 0, err
	}
	body, err := meter(sections[codeSection], globals-1)
	if err != nil {
		return nil, 0, err
	}
	export, err := exportGlobals(sections[exportSection], globals)
	if err != nil {
		return nil, 0, err
	}
	rewritten := map[byte][]byte{globalSection: global, exportSection: export, codeSection: body}
	out = append(make([]byte, 0, len(code)+len(code)/8), code[:8]...)
	for s.more() {
		id := s.byte()
		section := s.take(s.number())
		if other, ok := rewritten[id]; ok {
			section = other
		}
		out = append(appendNumber(append(out, id), len(section)), section...)
	}
	return out, globals, s.err
}

const (
	typeI64 = 0x7e
	mutable = 1
)

// addBudget adds a variable for the budget behind the module's own. Go's compiler imports none, and all of its own can
// change.
func addBudget(section []byte) (out []byte, globals int, err error) {
	s := scanner{bytes: section}
	globals = s.number()
	rest := s.bytes[s.at:]
	for range globals {
		s.byte()
		if s.byte() != mutable {
			return nil, 0, errors.New("it has a constant among its variables, which Go's compiler makes none of")
		}
		for s.err == nil && instruction(&s) != opEnd {
		}
	}
	if s.err != nil {
		return nil, 0, s.err
	}
	out = append(appendNumber(nil, globals+1), rest...)
	return append(out, typeI64, mutable, opI64Const, 0, opEnd), globals + 1, nil
}

// exportGlobals gives the module's variables names.
func exportGlobals(section []byte, globals int) ([]byte, error) {
	const kindGlobal = 3
	s := scanner{bytes: section}
	n := s.number()
	out := append(appendNumber(nil, n+globals), s.bytes[s.at:]...)
	for i := range globals {
		name := globalExport + strconv.Itoa(i)
		out = append(appendNumber(out, len(name)), name...)
		out = appendNumber(append(out, kindGlobal), i)
	}
	return out, s.err
}

// meter has the head of every loop take one off the budget, and end the program when nothing is left.
func meter(section []byte, budget int) ([]byte, error) {
	index := appendNumber(nil, budget)
	var toll []byte
	toll = append(append(toll, opGlobalGet), index...)
	toll = append(toll, opI64Const, 1, opI64Sub)
	toll = append(append(toll, opGlobalSet), index...)
	toll = append(append(toll, opGlobalGet), index...)
	toll = append(toll, opI64Const, 0, opI64LtS, opIf, noResult, opUnreachable, opEnd)

	s := scanner{bytes: section}
	functions := s.number()
	out := append(make([]byte, 0, len(section)+len(section)/8), appendNumber(nil, functions)...)
	var body []byte
	for range functions {
		f := scanner{bytes: s.take(s.number())}
		for range f.number() { // groups of local variables
			f.skipNumbers(1)
			f.byte()
		}
		body = append(body[:0], f.bytes[:f.at]...)
		for f.more() {
			from := f.at
			op := instruction(&f)
			body = append(body, f.bytes[from:f.at]...)
			if op == opLoop {
				body = append(body, toll...)
			}
		}
		if f.err != nil {
			return nil, f.err
		}
		out = append(appendNumber(out, len(body)), body...)
	}
	return out, s.err
}
