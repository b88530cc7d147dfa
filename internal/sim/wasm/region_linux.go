package wasm

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"github.com/locksim/locksim/internal/sim/program"
)

// base is the memory of a program's first image, as a file that has no name any more. Instances map it and write to
// pages of their own.
type base struct {
	memory  []byte
	file    *os.File
	pagemap *os.File // which says which pages are an instance's own; nil if this system does not tell
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
	if err := file.Truncate(program.MemoryLimit); err != nil {
		return nil, err
	}
	b := &base{memory: memory, file: file}
	if pagemap, err := os.Open("/proc/self/pagemap"); err == nil {
		return b, b.trust(pagemap)
	}
	return b, nil
}

// trust relies on what tells which pages are an instance's own if it tells of one that has been written to: not everything
// that calls itself Linux does, and a page that is not told of would not be restored.
func (b *base) trust(pagemap *os.File) error {
	r, err := newRegion(b)
	if err != nil {
		return err
	}
	defer r.Free()
	const written = 1
	r.high = (written + 1) * os.Getpagesize()
	r.bytes[written*os.Getpagesize()]++
	b.pagemap = pagemap
	if own, told := r.own(b); !told || !slices.Contains(own, written) {
		b.pagemap = nil
		return pagemap.Close()
	}
	return nil
}

func (b *base) close() error {
	if b.pagemap != nil {
		_ = b.pagemap.Close()
	}
	return b.file.Close()
}

// newRegion returns memory that is the base's; of zeros if there is no base yet.
func newRegion(b *base) (*region, error) {
	fd, kind := -1, syscall.MAP_ANON
	if b != nil {
		fd, kind = int(b.file.Fd()), 0
	}
	bytes, err := syscall.Mmap(fd, 0, program.MemoryLimit, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_NORESERVE|kind)
	return &region{bytes: bytes}, err
}

// mostOwn is how many bytes of pages of its own an instance may keep. A program that has written to more gives them back.
const mostOwn = 16 << 20

// rewind restores the memory to the base's content. Pages that were written to are private to the instance: they are
// overwritten and stay mapped, since the next run will write to most of them again, and a page fault while a program
// runs takes ten times as long as a copy of the page.
func (r *region) rewind(b *base) {
	own, told := r.own(b)
	if !r.used || !told || len(own)*os.Getpagesize() > mostOwn {
		if err := syscall.Madvise(r.bytes[:r.high], syscall.MADV_DONTNEED); err != nil {
			panic("wasm: a mapping cannot be restored: " + err.Error())
		}
		r.used = true
		return
	}
	for _, page := range own {
		at := page * os.Getpagesize()
		now := r.bytes[at : at+os.Getpagesize()]
		clear(now[copy(now, b.memory[min(at, len(b.memory)):]):])
	}
}

// An entry of pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst).
const (
	pageEntry   = 8
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61
)

// own lists the pages that are the instance's own; false if this system does not tell.
func (r *region) own(b *base) ([]int, bool) {
	if b.pagemap == nil {
		return nil, false
	}
	pages := (r.high + os.Getpagesize() - 1) / os.Getpagesize()
	if cap(r.entries) < pages*pageEntry {
		r.entries = make([]byte, pages*pageEntry)
	}
	entries := r.entries[:pages*pageEntry]
	first := int64(uintptr(unsafe.Pointer(unsafe.SliceData(r.bytes)))) / int64(os.Getpagesize())
	if n, err := b.pagemap.ReadAt(entries, first*pageEntry); err != nil || n < len(entries) {
		return nil, false
	}
	r.mine = r.mine[:0]
	for page := range pages {
		e := binary.NativeEndian.Uint64(entries[page*pageEntry:])
		if e&(pagePresent|pageSwapped) != 0 && e&pageOfFile == 0 {
			r.mine = append(r.mine, page)
		}
	}
	return r.mine, true
}

// Free unmaps the memory.
func (r *region) Free() { _ = syscall.Munmap(r.bytes) }
