package wasm

import (
	"os"
	"syscall"
)

// base is the memory of a program's first image, as a file that has no name any more. Instances map it and write to
// pages of their own, which are thrown away when an instance is restored: it costs what was written, not what there is.
type base struct {
	memory []byte
	file   *os.File
}

func newBase(memory []byte) (*base, error) {
	file, err := os.CreateTemp("", "locksim-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	if _, err := file.Write(memory); err != nil {
		return nil, err
	}
	return &base{memory, file}, file.Truncate(MemoryLimit)
}

func (b *base) close() error { return b.file.Close() }

// newRegion returns memory that is the base's; of zeros if there is no base yet.
func newRegion(b *base) (*region, error) {
	fd, kind := -1, syscall.MAP_ANON
	if b != nil {
		fd, kind = int(b.file.Fd()), 0
	}
	bytes, err := syscall.Mmap(fd, 0, MemoryLimit, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_NORESERVE|kind)
	return &region{bytes: bytes}, err
}

// rewind makes the memory the base's.
func (r *region) rewind(*base) {
	if err := syscall.Madvise(r.bytes[:r.high], syscall.MADV_DONTNEED); err != nil {
		panic("wasm: a mapping cannot be restored: " + err.Error())
	}
}

// Free unmaps the memory.
func (r *region) Free() { _ = syscall.Munmap(r.bytes) }
