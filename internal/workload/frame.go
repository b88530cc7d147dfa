package workload

import (
	"encoding/binary"
	"time"
)

// frame is what an Env far away is asked, or what it answers: values one after another.
type frame []byte

func (f *frame) number(n uint64) { *f = binary.AppendUvarint(*f, n) }
func (f *frame) signed(n int64)  { *f = binary.AppendVarint(*f, n) }

func (f *frame) flag(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	f.number(n)
}

func (f *frame) text(s string) {
	f.number(uint64(len(s)))
	*f = append(*f, s...)
}

// The readers below take from the front of a frame what the writers above have put there. Only our own code writes
// frames: what is cut short is a mistake of ours.

func (f *frame) takeNumber() uint64 {
	n, size := binary.Uvarint(*f)
	f.skip(size)
	return n
}

func (f *frame) takeSigned() int64 {
	n, size := binary.Varint(*f)
	f.skip(size)
	return n
}

func (f *frame) takeFlag() bool              { return f.takeNumber() != 0 }
func (f *frame) takeDuration() time.Duration { return time.Duration(f.takeSigned()) }

func (f *frame) takeText() string {
	n := int(f.takeNumber())
	if n > len(*f) {
		panic("workload: a frame is cut short")
	}
	s := string((*f)[:n])
	*f = (*f)[n:]
	return s
}

func (f *frame) skip(size int) {
	if size <= 0 {
		panic("workload: a frame is cut short")
	}
	*f = (*f)[size:]
}
