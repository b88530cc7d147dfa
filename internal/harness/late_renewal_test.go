package harness_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/locks"
)

// TestALateRenewalIsNoLaterTry has a release arrive after a renewal of the same acquisition that was sent later: it ends nothing that
// anybody holds.
func TestALateRenewalIsNoLaterTry(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		release := func(l locks.Lease) error {
			p.Go(func(p locks.Process) {
				p.Sleep(100 * time.Millisecond)
				_, _ = p.Redis(0).Do(0, "SET", o.Key, l.Value, "PX", "10000")
			})
			p.Go(func(p locks.Process) { _, _ = p.Redis(0).Do(0, "DEL", o.Key) })
			p.Sleep(10 * time.Millisecond)
			_, _ = p.Redis(0).Do(0, "DEL", o.Key)
			p.Sleep(time.Second)
			return nil
		}
		return handmade{try: func() (locks.Lease, error) { return setNX(p, o) }, release: release}
	})
	found := verdicts(t, a, `
network: {latency: 1ms}
clients: {a: {work: 1s}}
faults: [{after: {node: a, does: send, what: DEL}, delay: 120ms}]
`)
	require.Zero(t, found[checker.ReleaseSafety][checker.Violated])
}
