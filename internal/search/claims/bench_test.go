package claims_test

import (
	"testing"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// BenchmarkTry draws and plays scenarios of promises, as a campaign does.
func BenchmarkTry(b *testing.B) {
	promises := claims.Promises()
	for _, name := range []string{
		"set-nx-lua-release", "redlock-careful", "zk-sequential-service", "etcd-service", "mysql-get-lock-service",
	} {
		for i := range promises {
			if claim := &promises[i]; claim.Name == name {
				b.Run(name, func(b *testing.B) { try(b, claim) })
			}
		}
	}
}

func try(b *testing.B, claim *claims.Claim) {
	b.Helper()
	b.ReportAllocs()
	var r harness.Runner
	defer r.Close()
	steps, n := 0, uint64(0)
	for b.Loop() {
		trial := claim.Try(&r, search.Seeded(n), harness.Options{})
		steps += trial.Steps
		n++
	}
	b.ReportMetric(float64(steps)/float64(n), "steps/op")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "runs/s")
}
