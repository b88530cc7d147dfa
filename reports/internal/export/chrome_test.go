package export_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/export"
	"github.com/locksim/locksim/reports/internal/timeline"
)

// traceEvent is an event as a viewer reads it.
type traceEvent struct {
	Name, Cat, Ph, ID, Bp, S string
	At                       json.Number `json:"ts"`
	Dur                      json.Number
	Pid, Tid                 int
	Args                     map[string]any
}

type traceFile struct {
	DisplayTimeUnit string
	OtherData       map[string]string
	TraceEvents     []traceEvent
}

func traceOf(t *testing.T, s *timeline.Schedule) traceFile {
	t.Helper()
	var f traceFile
	require.NoError(t, json.Unmarshal([]byte(written(t, export.Chrome, s)), &f))
	return f
}

// nanos reads a time, which is in microseconds, without a float.
func nanos(t *testing.T, n json.Number) int64 {
	t.Helper()
	var whole, part int64
	_, err := fmt.Sscanf(n.String(), "%d.%03d", &whole, &part)
	require.NoError(t, err, n.String())
	return whole*1000 + part
}

type row struct{ pid, tid int }

type stretch struct{ from, to int64 }

func TestATraceIsOneThatViewersTake(t *testing.T) {
	everySchedule(t, func(t *testing.T, s *timeline.Schedule) {
		f := traceOf(t, s)
		require.Equal(t, "ms", f.DisplayTimeUnit)
		named, last := map[row]bool{}, int64(0)
		slices, flows := map[row][]stretch{}, map[string]string{}
		for _, e := range f.TraceEvents {
			at := row{e.Pid, e.Tid}
			require.NotEmpty(t, e.Name)
			require.Positive(t, e.Pid)
			if e.Ph == "M" {
				named[at] = true
				continue
			}
			ts := nanos(t, e.At)
			require.GreaterOrEqual(t, ts, last, "events stand in order")
			last = ts
			require.True(t, named[at], "%+v is on a track without a name", e)
			switch e.Ph {
			case "X":
				to := ts + nanos(t, e.Dur)
				require.Greater(t, to, ts)
				for _, other := range slices[at] {
					require.LessOrEqual(t, other.to, ts, "%+v overlaps what is before it on its track", e)
				}
				slices[at] = append(slices[at], stretch{ts, to})
			case "s", "f":
				flows[e.ID] += e.Ph
				around := slices[at][len(slices[at])-1]
				require.Equal(t, ts, around.from, "%+v is in no slice", e)
				require.Equal(t, e.Ph == "f", e.Bp == "e")
			case "i":
				require.Contains(t, "tpg", e.S)
			case "C":
				require.Contains(t, e.Args, "value")
			default:
				t.Errorf("an unknown phase: %+v", e)
			}
		}
		for id, ends := range flows {
			require.Equal(t, "sf", ends, "flow %s", id)
		}
	})
}

func TestATraceShowsWhatHappened(t *testing.T) {
	f := traceOf(t, load(t, fencing))
	processes, counts := map[int]string{}, map[string]int{}
	named := map[string]bool{}
	for _, e := range f.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" {
			name := fmt.Sprint(processes[e.Pid], e.Args["name"])
			require.False(t, named[name], "one row is enough: %s", name)
			named[name] = true
		}
		if e.Ph == "M" && e.Name == "process_name" {
			processes[e.Pid] = e.Args["name"].(string)
			continue
		}
		counts[processes[e.Pid]+": "+e.Ph+" "+e.Name]++
	}
	for _, what := range []string{
		"a (fencing none): X believes that it holds the lock",
		"a (fencing none): X is granted the lock", "a (fencing none): X no longer granted", "a (fencing none): X paused 15s",
		"redis-1 (fencing none): X keeps the entry of a", "redis-1 (fencing none): X keeps the entry of b",
		"the run (fencing none): X 1.0019s", "the run (fencing none): i lost update", "a (fencing fenced-write): X paused 15s",
	} {
		require.Equal(t, 1, counts[what], "%s in %v", what, counts)
	}
	require.Equal(t, 25, counts["redis-1 (fencing none): C time to live left, ms"], "down to nothing, and a tenth of the way")
	require.Equal(t, 3, counts["the run (fencing none): C max token"], "twice it grows, and once more at the end")
	require.Zero(t, counts["the run (fencing fenced-write): i lost update"])
	require.NotContains(t, processes, "a (fencing fenced-read-write)", "all of it went as in another run")
}

func TestAMessageThatNeverArrivesIsNoFlow(t *testing.T) {
	s := load(t, fencing)
	flows := func() int {
		n := 0
		for _, e := range traceOf(t, s).TraceEvents {
			if e.Ph == "s" || e.Ph == "f" {
				n++
			}
		}
		return n
	}
	before := flows()
	s.Runs[0].Messages[0].Received = 1<<63 - 1
	require.Equal(t, before-2, flows())
	require.Contains(t, written(t, export.Chrome, s), "never arrives at redis-1")
}

func TestATraceTakesHostileText(t *testing.T) {
	const text = "</script><script>alert(1)</script>\"\\\n\x00\u2028"
	out := written(t, export.Chrome, hostile(t, text))
	require.True(t, json.Valid([]byte(out)))
	require.NotContains(t, out, "<script")
}

func TestTheSameScheduleGivesTheSameBytes(t *testing.T) {
	for _, write := range []func(io.Writer, *timeline.Schedule) error{export.Chrome, export.Mermaid} {
		once := written(t, write, load(t, fencing))
		again := written(t, write, load(t, fencing))
		require.Equal(t, once, again)
	}
}
