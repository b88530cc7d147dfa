package locktest

import (
	"math/rand/v2"
	"testing"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/search"
)

// Fuzz tests a lock with schedules that the fuzzer of go test makes out of bytes: the first names the promise, each of
// the others decides something. Without -fuzz it plays a few schedules for each promise, and what has been found before.
func Fuzz(f *testing.F, newLock locks.Builder, o Options) {
	f.Helper()
	s, err := examine(newLock, o)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range saved(f.Name()) {
		switch found, err := s.againFrom(file); {
		case err != nil:
			f.Fatal(err)
		case found != nil && s.options.wants(found.Promise):
			f.Fatal(found)
		}
	}
	list := s.promises()
	for i := range list {
		for n := range seedsOfFuzz {
			f.Add(someBytes(byte(i), uint64(n)))
		}
	}
	r := &harness.Runner{}
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
		if known[p.name] == nil { // the fuzzer goes on to make its bytes fewer, which changes nothing
			known[p.name] = newFinding(r, s, b)
		}
		reportFuzzed(t, f.Name(), known[p.name])
	})
}

// What the fuzzer begins with: so many schedules for each promise, of as many bytes as most of them need.
const (
	seedsOfFuzz = 4
	bytesOfFuzz = 200
)

func someBytes(promise byte, n uint64) []byte {
	random := rand.New(rand.NewPCG(uint64(promise), n))
	b := []byte{promise}
	for range bytesOfFuzz {
		b = append(b, byte(random.Uint32()))
	}
	return b
}

func reportFuzzed(t *testing.T, test string, f *Finding) {
	t.Helper()
	file, err := save(test, f)
	if err != nil {
		t.Logf("the scenario could not be saved: %v", err)
	}
	present(t, f, file)
	t.Fatal(f.Headline())
}
