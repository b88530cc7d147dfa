package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
)

func TestBoundsOfMemoryAreReportedByTheirNames(t *testing.T) {
	flood := func(w *world) {
		w.client("a", func(task *sim.Task, l *line) {
			for range 300 {
				task.Go(func(task *sim.Task) { task.Sleep(time.Hour) })
			}
			for range 3_000 {
				l.call("GET k", s)
			}
		})
	}
	for name, limits := range map[string]sim.Limits{
		"pending events": {Pending: 200},
		"trace events":   {Trace: 500},
	} {
		w := newWorldWith(t, sim.Config{Limits: limits}, nil)
		w.hangs = append(w.hangs, "a")
		flood(w)
		require.Equal(t, name, w.play().Bound)
		require.LessOrEqual(t, w.Steps(), 1024)
	}
	w := newWorldWith(t, sim.Config{Until: 100 * 3600 * 1e9, Limits: sim.Limits{Pending: 1000, Trace: 1e6, InFlight: 10, Connections: 10}}, nil)
	flood(w)
	require.Empty(t, w.play().Bound, "what is not reached is not reported")
	require.Greater(t, w.Steps(), 1024, "it was looked at")
}

func TestMessagesThatNobodyReadsAreBounded(t *testing.T) {
	for _, limits := range []sim.Limits{{InFlight: 500}, {InFlight: 5_000}} {
		w := newWorldWith(t, sim.Config{Limits: limits}, nil)
		w.faults(sim.Fault{Name: "pause", Trigger: sim.Trigger{When: sim.At, At: 1}, Action: sim.Action{Kind: sim.Pause, Node: "srv"}})
		w.client("a", func(task *sim.Task, l *line) {
			for range 3_000 {
				l.send("mute")
				task.Sleep(ms)
			}
		})
		if limits.InFlight == 500 {
			w.hangs = append(w.hangs, "a")
			require.Equal(t, "messages in flight", w.play().Bound)
		} else {
			require.Empty(t, w.play().Bound)
		}
	}
}

func TestACheckEndsARunAtTheSameEventWheneverItIsPlayed(t *testing.T) {
	for range 2 {
		asked := 0
		w := newWorldWith(t, sim.Config{Check: func() string {
			if asked++; asked == 3 {
				return "enough"
			}
			return ""
		}}, nil)
		poll(w, "a")
		require.Equal(t, "enough", w.play().Bound)
		require.Equal(t, 3*1024, w.Steps())
	}
}
