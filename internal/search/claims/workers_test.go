package claims_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// BenchmarkWorkers plays scenarios of a promise with one worker and with two, as campaigns do.
func BenchmarkWorkers(b *testing.B) {
	claim := promiseNamed(b, "set-nx-lua-release")
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			tries := func(yield func(func(*harness.Runner) claims.Trial) bool) {
				for n := range uint64(b.N) {
					if !yield(func(r *harness.Runner) claims.Trial { return claim.Try(r, search.Seeded(n), harness.Options{}) }) {
						return
					}
				}
			}
			err := search.InOrder(context.Background(), workers, iter.Seq[func(*harness.Runner) claims.Trial](tries),
				func(claims.Trial) error { return nil })
			require.NoError(b, err)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

func promiseNamed(b *testing.B, name string) *claims.Claim {
	b.Helper()
	promises := claims.Promises()
	for i := range promises {
		if promises[i].Name == name {
			return &promises[i]
		}
	}
	require.Fail(b, "there is no promise of that name", name)
	return nil
}
