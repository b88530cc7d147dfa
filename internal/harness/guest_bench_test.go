package harness_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/sim/wasm"
	"github.com/locksim/locksim/locks"
)

// BenchmarkPrograms: two clients with one section each that run compiled programs: the small one of this package's
// tests on one server, and redsync on five.
func BenchmarkPrograms(b *testing.B) {
	const clients = "clients: {a: {work: 100ms}, b: {start: 10ms, work: 100ms}}\n"
	for _, program := range []struct {
		name, source string
		authority    locks.Authority
		scenario     string
	}{
		{"by-hand", filepath.Join("testdata", "guest"), locks.OneNode, "lock: {algorithm: guest, ttl: 2s}\n"},
		{
			"redsync", filepath.Join("..", "..", "clients", "redsync"), locks.Majority,
			"lock: {algorithm: guest, ttl: 2s}\nservers: {masters: 5}\n",
		},
	} {
		b.Run(program.name, func(b *testing.B) {
			code, err := buildGuest(program.source)
			if err != nil {
				b.Skip(err)
			}
			module, err := wasm.Load(code, compiled())
			require.NoError(b, err)
			defer func() { require.NoError(b, module.Close()) }()
			lock := &locks.Algorithm{Name: "guest", Program: module, Authority: program.authority}
			p := guestPlan(b, lock, program.scenario+clients)
			var r harness.Runner
			defer r.Close()
			for seed := range uint64(100) { // all states to begin in are there after that
				_, err := r.Run(p, seed, false)
				require.NoError(b, err)
			}
			benchmarkPlan(b, &r, p)
		})
	}
}
