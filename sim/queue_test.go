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

// keeper is a client that waits forever, so that a run continues as long as there are events.
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
				e.After(time.Duration(d), func() {
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

func TestQueueOfSegmentsKeepsOrderInLittleMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q sim.Queue
		model := []uint64{}
		most := 0
		for next := range uint64(200) {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				q.Push(next)
				model = append(model, next)
			case 3:
				q.PushFront(next)
				model = append([]uint64{next}, model...)
			default:
				if len(model) > 0 {
					require.Equal(t, model[0], q.Pop())
					model = model[1:]
				}
			}
			most = max(most, len(model))
			require.Equal(t, model, q.Messages())
			require.LessOrEqual(t, q.Capacity(), 2*most+8)
		}
	})
}

func TestQueueThatIsNeverEmptyDoesNotGrow(t *testing.T) {
	var q sim.Queue
	q.Push(0)
	for i := range uint64(10_000) {
		q.Push(i + 1)
		require.Equal(t, i, q.Pop())
	}
	require.LessOrEqual(t, q.Capacity(), 8)
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
