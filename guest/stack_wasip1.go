package guest

import (
	"runtime"
	"sync"
)

// deepen has goroutines begin with 16 KiB of stack from now on. Those of a library would otherwise begin with 2 and grow
// three times each, which was a quarter of the time of a run. Go's runtime begins them with what those have on average
// that are there when garbage is collected (gcComputeStartingStackSize in runtime/stack.go).
func deepen() {
	const goroutines = 32
	var deep, collected, gone sync.WaitGroup
	deep.Add(goroutines)
	collected.Add(1)
	for range goroutines {
		gone.Go(func() {
			descend(11, func() {
				deep.Done()
				collected.Wait()
			})
		})
	}
	deep.Wait()
	runtime.GC()
	collected.Done()
	gone.Wait()
}

// descend calls f with the given number of KiB of stack already in use.
//
//go:noinline
func descend(kib int, f func()) byte {
	var frame [1024]byte
	if kib == 0 {
		f()
	} else {
		frame[kib] = descend(kib-1, f)
	}
	return frame[kib] // keeps it on the stack
}
