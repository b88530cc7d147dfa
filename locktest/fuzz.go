package locktest

import (
	"errors"
	"testing"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// Fuzz tests a lock with schedules that the fuzzer of go test makes out of bytes: the first names the promise, each of
// the others decides something. Without -fuzz it plays a hundred schedules for each promise, and before them what has been
// found.
func Fuzz(f *testing.F, newLock locks.Builder, o Options) {
	f.Helper()
	s, err := examine(newLock, o)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range saved(f.Name()) {
		switch found, err := s.againFrom(file); {
		case errors.Is(err, ErrNotAsked):
			f.Log(err)
		case err != nil:
			f.Fatal(err)
		case found != nil:
			f.Fatal(found)
		}
	}
	list := s.promises()
	for i := range list {
		for n := range seedsOfFuzz() {
			f.Add(list[i].bytes(byte(i), search.Seeded(s.options.Seed+n)))
		}
	}
	r := &player{}
	f.Cleanup(r.Close)
	known := make(map[Promise]*Finding)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		p := &list[int(data[0])%len(list)]
		b := p.try(r, s, search.FromBytes(data[1:]), &tally{})
		if b == nil {
			return
		}
		if known[p.Name] == nil { // the fuzzer goes on to make its bytes fewer, which changes nothing
			known[p.Name] = newFinding(r, s, b)
		}
		reportFuzzed(t, f.Name(), known[p.Name])
	})
}

// seedsOfFuzz is how many schedules for each promise the fuzzer begins with: the first of those that [Check] plays.
func seedsOfFuzz() uint64 {
	if testing.Short() {
		return 10
	}
	return 100
}

// bytes are what the fuzzer makes the schedule of that a source has drawn.
func (p *pledge) bytes(number byte, src search.Source) []byte {
	w := &writer{source: src, bytes: []byte{number}}
	p.draw(w)
	return w.bytes
}

// writer writes choices down for [search.FromBytes] to make them again.
type writer struct {
	source search.Source
	bytes  []byte
}

// Below passes on what the source chooses.
func (w *writer) Below(n int64) int64 {
	x, size := w.source.Below(n), 0
	for most := uint64(n - 1); most > 0; most >>= 8 {
		size++
	}
	for i := size - 1; i >= 0; i-- {
		w.bytes = append(w.bytes, byte(uint64(x)>>(8*i)))
	}
	return x
}

func reportFuzzed(t *testing.T, test string, f *Finding) {
	t.Helper()
	file, err := save(test, f)
	if err != nil {
		t.Logf("the scenario could not be saved: %v", err)
		file = ""
	}
	present(t, f, file)
	if file != "" {
		t.Logf("saved as %s, which comes first from now on", file)
	}
	t.Fatal(f.Headline())
}
