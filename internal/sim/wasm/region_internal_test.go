package wasm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/program"
)

// After a restore the memory equals the image, regardless of the writes before.
func TestMemoryIsRestoredAfterAnyWrites(t *testing.T) { requireRestored(t, randomBase(t)) }

func randomBase(t *testing.T) *base {
	random := rand.New(rand.NewPCG(1, 2))
	first := make([]byte, 5*machinePage)
	for i := range first {
		first[i] = byte(random.Uint32())
	}
	b, err := newBase(first)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.close()) })
	return b
}

func requireRestored(t *testing.T, b *base) {
	t.Helper()
	r, err := newRegion(b)
	require.NoError(t, err)
	defer r.Free()
	im := &image{length: len(b.memory) + machinePage, pages: []patch{{3 * page, bytes.Repeat([]byte{7}, page)}}}
	want := make([]byte, program.MemoryLimit/2)
	copy(want, b.memory)
	copy(want[3*page:], im.pages[0].bytes)
	random, length := rand.New(rand.NewPCG(3, 4)), len(b.memory)
	for _, size := range []int{len(want), length, 2 * length, len(want), machinePage, 3 * length, 0} {
		r.high = max(r.high, size)
		for at := 0; at < size; at += 1 + random.IntN(2*page) {
			r.bytes[at]++
		}
		r.restore(b, im)
		require.Equal(t, im.length, r.length)
		require.True(t, bytes.Equal(want, r.bytes[:len(want)]), "after %d bytes", size)
	}
}
