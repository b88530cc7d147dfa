//go:build unix

package harness_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/sim/wasm"
	"github.com/locksim/locksim/locks"
)

// BenchmarkPrograms: two clients with one section each that run compiled programs: the small one of this package's tests and
// redislock on one server, redsync on five; with connections at their start or without, or one client with many sections.
func BenchmarkPrograms(b *testing.B) {
	const (
		cold      = "clients: {a: {work: 100ms}, b: {start: 10ms, work: 100ms}}\n"
		connected = "clients: {a: {work: 100ms, connected: true}, b: {start: 10ms, work: 100ms, connected: true}}\n"
		often     = "clients: {a: {work: 1ms, sections: 100, connected: true}}\n"
		one       = "lock: {algorithm: guest, ttl: 2s}\n"
		five      = one + "servers: {masters: 5}\n"
	)
	for _, program := range []struct {
		name, folder string
		authority    locks.Authority
		scenarios    map[string]string
	}{
		{"by-hand", filepath.Join("testdata", "guest"), locks.OneNode, map[string]string{"cold": one + cold}},
		{"redislock", client("redislock"), locks.OneNode, map[string]string{
			"cold": one + cold, "connected": one + connected, "sections=100": one + often,
		}},
		{"redsync", client("redsync"), locks.Majority, map[string]string{
			"cold": five + cold, "connected": five + connected, "sections=100": five + often,
		}},
	} {
		for name, text := range program.scenarios {
			b.Run(program.name+"/"+name, func(b *testing.B) { benchmarkProgram(b, program.folder, program.authority, text) })
		}
	}
}

func client(name string) string { return filepath.Join("..", "..", "clients", name) }

func benchmarkProgram(b *testing.B, folder string, authority locks.Authority, text string) {
	code, err := buildGuest(folder)
	if err != nil {
		b.Skip(err)
	}
	module, err := wasm.Load(code, compiled())
	require.NoError(b, err)
	defer func() { require.NoError(b, module.Close()) }()
	p := guestPlan(b, &locks.Algorithm{Name: "guest", Program: module, Authority: authority, Connects: true}, text)
	var r harness.Runner
	defer r.Close()
	for seed := range uint64(100) { // all states to begin in are there after that
		_, err := r.Run(p, seed, false)
		require.NoError(b, err)
	}
	before := processorTime(b)
	benchmarkPlan(b, &r, p)
	b.ReportMetric(float64(b.N)/(processorTime(b)-before).Seconds(), "runs/cpu-s")
}

// processorTime is what this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
