package wasm

import "fmt"

// Opcodes (WebAssembly core specification, 5.4).
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opBr          = 0x0c
	opBrIf        = 0x0d
	opBrTable     = 0x0e
	opCall        = 0x10
	opCallIndir   = 0x11
	opSelectT     = 0x1c
	opLocalGet    = 0x20
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opTableSet    = 0x26
	opLoad        = 0x28
	opStore       = 0x3e
	opMemorySize  = 0x3f
	opMemoryGrow  = 0x40
	opI32Const    = 0x41
	opI64Const    = 0x42
	opF32Const    = 0x43
	opF64Const    = 0x44
	opI64LtS      = 0x53
	opI64Sub      = 0x7d
	opExtend      = 0xc4 // the last of the sign extensions
	opRefNull     = 0xd0
	opRefIsNull   = 0xd1
	opRefFunc     = 0xd2
	opPrefix      = 0xfc

	noResult = 0x40 // the type of a block
)

// operandsOfPrefixed is how many numbers follow each of the instructions behind opPrefix.
var operandsOfPrefixed = [...]int{0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1}

// instruction reads one instruction and returns its opcode.
func instruction(s *scanner) byte {
	op := s.byte()
	switch {
	case op == opBlock, op == opLoop, op == opIf, op == opBr, op == opBrIf, op == opCall, op == opI32Const,
		op == opI64Const, op >= opLocalGet && op <= opTableSet,
		op == opMemorySize, op == opMemoryGrow, op == opRefNull, op == opRefFunc:
		s.skipNumbers(1)
	case op == opCallIndir, op >= opLoad && op <= opStore:
		s.skipNumbers(2)
	case op == opBrTable:
		s.skipNumbers(s.number() + 1)
	case op == opSelectT:
		s.skipNumbers(s.number())
	case op == opF32Const:
		s.take(4)
	case op == opF64Const:
		s.take(8)
	case op == opPrefix:
		n := s.number()
		if n >= len(operandsOfPrefixed) {
			s.err = fmt.Errorf("it has an unknown instruction %#x %d", op, n)
			return op
		}
		s.skipNumbers(operandsOfPrefixed[n])
	case op <= 0x1b, op > opF64Const && op <= opExtend, op == opRefIsNull: // no operands
	default:
		s.err = fmt.Errorf("it has an unknown instruction %#x", op)
	}
	return op
}
