//go:build !linux

package wasm

import (
	"bytes"

	"github.com/locksim/locksim/internal/sim/program"
)

// base is the memory of a program's first image.
type base struct{ memory []byte }

func newBase(memory []byte) (*base, error) { return &base{memory}, nil }

func (b *base) close() error { return nil }

func newRegion(*base) (*region, error) { return &region{bytes: make([]byte, program.MemoryLimit)}, nil }

// rewind makes the memory the base's, page by page where it differs.
func (r *region) rewind(b *base) {
	zero := make([]byte, page)
	for at := 0; at < r.high; at += page {
		was := zero
		if at < len(b.memory) {
			was = b.memory[at : at+page]
		}
		if now := r.bytes[at : at+page]; !bytes.Equal(was, now) {
			copy(now, was)
		}
	}
}

// Free leaves the memory to the garbage collector.
func (r *region) Free() { r.bytes = nil }
