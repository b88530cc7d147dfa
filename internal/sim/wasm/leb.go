package wasm

import "errors"

var errCutShort = errors.New("the module is cut short")

// scanner reads a part of a module. After an error it reads nothing more.
type scanner struct {
	bytes []byte
	at    int
	err   error
}

func (s *scanner) more() bool { return s.err == nil && s.at < len(s.bytes) }

// take reads n bytes.
func (s *scanner) take(n int) []byte {
	if s.err != nil || n < 0 || n > len(s.bytes)-s.at {
		s.err = errCutShort
		return nil
	}
	s.at += n
	return s.bytes[s.at-n : s.at]
}

func (s *scanner) byte() byte {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an unsigned LEB128 number.
func (s *scanner) number() int {
	n := 0
	for shift := 0; shift < 35; shift += 7 {
		b := s.byte()
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	s.err = errCutShort
	return 0
}

// skipNumbers skips LEB128 numbers of any width and sign.
func (s *scanner) skipNumbers(n int) {
	for ; n > 0; n-- {
		for s.byte() >= 0x80 {
		}
	}
}

func appendNumber(dst []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}
