package program

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// trace is what Go's runtime writes of a panic, with the calls by which the program was come to.
const trace = `panic: no reply

goroutine 7 [running]:
panic({0x1b860, 0x4d3e5})
	runtime/panic.go:860 +0x3
main.(*lock).ask(...)
	example.test/mine/main.go:45
main.open.func1({0x59038, 0x482000})
	example.test/mine/main.go:38 +0x30
github.com/locksim/locksim/guest.(*lock).Acquire(0x2ca150, 0x0)
	github.com/locksim/locksim/guest/lock.go:51 +0x11
created by github.com/locksim/locksim/internal/workload.Run in goroutine 1
	github.com/locksim/locksim/internal/workload/workload.go:20 +0x4

goroutine 8 [select]:
main.keep()
	example.test/mine/main.go:99
`

// told is what is shown of it.
const told = `panic: no reply

goroutine 7 [running]:
main.(*lock).ask(...)
    example.test/mine/main.go:45
main.open.func1({0x59038, 0x482000})
    example.test/mine/main.go:38 +0x30`

func TestAnExitSaysWhereItComesFromAndHow(t *testing.T) {
	long := strings.Repeat("all is well\n", 30)
	for _, c := range []struct {
		exit               Exit
		kind, what, stderr string
	}{
		{Exit{Code: 2, Output: trace}, "panic in main.(*lock).ask", "panics: no reply", told},
		{Exit{Code: 2, Output: "hello\n" + trace}, "panic in main.(*lock).ask", "panics: no reply", "hello\n" + told},
		{Exit{Code: 2, Output: long + trace}, "panic in main.(*lock).ask", "panics: no reply", long[:13*12] + told},
		{Exit{Code: 2, Output: "panic: an earlier one\n" + trace}, "panic in main.(*lock).ask", "panics: no reply",
			"panic: an earlier one\n" + told},
		{Exit{Code: 2, Output: "panic: nobody's\n"}, "panic", "panics: nobody's", "panic: nobody's"},
		{Exit{Code: 2, Output: "runtime: out of memory: so much\nfatal error: out of memory\n"}, "out of memory",
			"runs out of memory: it may have 128 MB", "runtime: out of memory: so much\nfatal error: out of memory"},
		{Exit{Code: 2, Output: "fatal error: concurrent map writes\n"}, "concurrent map writes", "fails: concurrent map writes",
			"fatal error: concurrent map writes"},
		{Exit{Code: 3, Output: "panic: recovered from\n"}, "exit with status 3", "exits with status 3", "panic: recovered from"},
		{Exit{Code: 2, Output: "usage\n"}, "exit with status 2", "exits with status 2", "usage"},
		{Exit{Code: 0, Output: long}, "exit with status 0", "exits with status 0", strings.TrimSpace(long[:20*12])},
		{Exit{Reason: "wasm error: stack overflow"}, "wasm error: stack overflow",
			"is ended by the machine: wasm error: stack overflow", ""},
	} {
		require.Equal(t, c.kind, c.exit.Kind())
		require.Equal(t, c.what, c.exit.What())
		require.Equal(t, c.stderr, c.exit.Stderr(), c.exit.Output)
		require.Equal(t, strings.TrimSpace(c.what+"\n"+c.stderr), c.exit.Error())
	}
}
