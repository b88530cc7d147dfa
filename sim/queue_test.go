package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// keeper is a client that waits for ever, so that a run goes on as long as there are events.
func keeper(e *sim.Engine) {
	e.AddClient("keeper", func(t *sim.Task) { t.Wait(sim.Forever) })
}

func TestEqualDeadlinesFireInOrderOfScheduling(t *testing.T) {
	type entry struct {
		at    trace.Instant
		order int // of scheduling
	}
	rapid.Check(t, func(t *rapid.T) {
		e := sim.New(sim.Config{Until: trace.Never}, nil)
		keeper(e)
		var scheduled, fired []entry
		var add func(budget int)
		add = func(budget int) {
			for _, d := range rapid.SliceOfN(rapid.Int64Range(0, 5), 0, budget).Draw(t, "delays") {
				it := entry{e.Now() + trace.Instant(d), len(scheduled)}
				scheduled = append(scheduled, it)
				e.After(trace.Instant(d), func() {
					require.Equal(t, it.at, e.Now())
					fired = append(fired, it)
					add(min(budget/4, 100-len(scheduled))) // events schedule events
				})
			}
		}
		add(40)
		require.True(t, e.Run().Quiescent)
		slices.SortStableFunc(scheduled, func(a, b entry) int { return int(a.at - b.at) })
		require.Equal(t, scheduled, fired)
	})
}

func TestTasksThatBecomeReadyAtOnceRunInThatOrder(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.AddClient(name, func(task *sim.Task) {
			for range 2 {
				task.Sleep(time.Second)
				w.note("%v", task)
			}
		})
	}
	w.expect("1s a", "1s b", "1s c", "2s a", "2s b", "2s c")
}
