package wasm

import "github.com/tetratelabs/wazero/experimental"

// machinePage is the grain in which WebAssembly's memories grow.
const machinePage = 64 << 10

// region is the memory of an instance, which can be made what it was. WebAssembly's memories only grow; so what the
// machine believes to be its length may be more than what the program does, after it has been restored, and how much it
// grows counts.
type region struct {
	bytes  []byte // all that it may become
	length int    // as the program believes
	shown  int    // as the machine believes
	high   int    // how much of it may have been written to

	used    bool   // it has been restored since it was made, which has written to all of it
	entries []byte // room to read what the system says of its pages
	mine    []int  // room for those that are its own
}

// Allocate makes the region the memory of an instance.
func (r *region) Allocate(_, _ uint64) experimental.LinearMemory { return r }

// Reallocate grows the memory.
func (r *region) Reallocate(size uint64) []byte {
	length := r.length + int(size) - r.shown
	if length > len(r.bytes) {
		return nil
	}
	r.length, r.shown, r.high = length, length, max(r.high, length)
	return r.bytes[:length]
}

// restore makes it what it was when the image was taken.
func (r *region) restore(b *base, im *image) {
	r.rewind(b)
	r.length, r.high = im.length, im.length
	for _, p := range im.pages {
		copy(r.bytes[p.at:], p.bytes)
	}
}
