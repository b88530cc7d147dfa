package redis

import (
	"context" //tidy:ok gopher-lua takes no other bound; nothing here waits
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// maxScriptSteps bounds the Lua instructions of one script, and the steps in which it looks
// for patterns. Redis has no such bound: it answers BUSY to everybody else until the script
// ends, or is ended by SCRIPT KILL.
const maxScriptSteps = 1_000_000

var errScriptSteps = fmt.Errorf("script exceeded maxScriptSteps (%d)", maxScriptSteps)

// budget ends a script that loops forever. gopher-lua asks Done before each instruction, so the bound is a
// count and not a time.
type budget struct {
	context.Context
	over context.Context // done from the start
	left int
}

func newBudget() *budget {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	return &budget{Context: context.Background(), over: over}
}

// Done counts an instruction.
func (b *budget) Done() <-chan struct{} { //tidy:ok never waited for: it is closed or nil
	b.left--
	if b.left < 0 {
		return b.over.Done()
	}
	return nil
}

// Err names the bound.
func (b *budget) Err() error { return errScriptSteps }

// canLoop reports whether a function can run forever: it jumps back, or defines functions that it could call.
// Most lock scripts cannot, and run without being counted.
func canLoop(proto *lua.FunctionProto) bool {
	if len(proto.FunctionPrototypes) > 0 {
		return true
	}
	const middle = 1<<17 - 1 // a jump's distance is stored with this offset (opcode.go, opGetArgSbx)
	for _, inst := range proto.Code {
		switch int(inst >> 26) {
		case lua.OP_FORLOOP, lua.OP_TFORLOOP:
			return true
		case lua.OP_JMP:
			if int(inst&(1<<18-1)) < middle {
				return true
			}
		}
	}
	return false
}
