package zookeeper_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// BenchmarkSequentialLock plays the lock recipe with three servers and three clients that hold it once for 50 ms,
// within 15 virtual seconds.
func BenchmarkSequentialLock(b *testing.B) {
	var spare sim.Spare
	steps := 0
	for seed := range b.N {
		w := &world{t: b, Engine: sim.New(sim.Config{Seed: uint64(seed), Until: trace.Instant(15 * s)}, &spare)}
		w.zk = zookeeper.New(w.Engine, zookeeper.Config{})
		for i, name := range []string{"a", "b", "c"} {
			w.client(name, func(k *keeper) {
				k.open(i+1, 10*s)
				k.call(create("/lock"))
				k.lockOnce(50*ms, func(int) {})
				k.must(ask(zookeeper.CloseSession, ""))
			})
		}
		w.play()
		steps += w.Steps()
	}
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// lockOnce is the recipe: the lowest sequence number holds, everybody else watches the one before.
func (k *keeper) lockOnce(hold time.Duration, holds func(by int)) (own string) {
	own = k.must(create("/lock/n-", "ephemeral", "sequential")).Path
	for {
		k.events = nil
		names := k.must(ask(zookeeper.GetChildren, "/lock")).Children
		i := slices.Index(names, own[len("/lock/"):])
		if i == len(names)-1 {
			break
		}
		if k.call(ask(zookeeper.Exists, "/lock/"+names[i+1], true)).Err == zookeeper.OK {
			k.pingWhile(func() bool { return len(k.events) == 0 })
		}
	}
	holds(1)
	k.task.Sleep(hold)
	holds(-1)
	k.must(del(own, -1))
	return own
}

func TestClientsTakeTheLockOneByOneInTheOrderOfTheirNodes(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{Servers: 5})
	var queued, held []string
	holders := 0
	for i := range 12 {
		w.client(fmt.Sprintf("c%d", i), func(k *keeper) {
			k.open(i%5+1, 10*s)
			k.call(create("/lock"))
			held = append(held, k.lockOnce(50*ms, func(by int) {
				holders += by
				require.LessOrEqual(t, holders, 1)
			}))
		})
	}
	w.play()
	for _, txn := range w.committed {
		if txn.Request != nil && txn.Request.Sequential {
			queued = append(queued, txn.Changes[0].Path)
		}
	}
	require.Equal(t, queued, held)
}

// pingWhile keeps the session alive while something holds.
func (k *keeper) pingWhile(holds func() bool) {
	for holds() && !k.closed {
		k.change = sim.Signal{}
		if k.task.Wait(k.timeout/3, &k.change) < 0 {
			k.must(ask(zookeeper.Ping, ""))
		}
	}
}
