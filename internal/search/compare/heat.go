package compare

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// heatRuns is how often each field of a heat map is played.
const heatRuns = 200

// heatMap is a heat map that can be played: what the scene of a field is, by row, column and number of the run.
type heatMap struct {
	Heat
	lock  locks.Algorithm
	mode  history.Fencing
	style history.Style
	about checker.Property
	scene func(row, column, run int) *scene
}

// field is what came of one field.
type field struct{ heat, row, column, violated, inDanger int }

// heat plays the heat maps of the plan's locks.
func (c *comparer) heat() error {
	maps := slices.DeleteFunc(heatMaps(), func(m heatMap) bool { return c.lockOf(m.Lock) < 0 })
	done, of := 0, 0
	for i := range maps {
		of += maps[i].size()
	}
	var plays iter.Seq[func(*harness.Runner) field] = func(yield func(func(*harness.Runner) field) bool) {
		for i := range maps {
			for row := range maps[i].Rows {
				for column := range maps[i].Columns {
					if !yield(func(r *harness.Runner) field { return maps[i].play(r, i, row, column) }) {
						return
					}
				}
			}
		}
	}
	err := search.InOrder(c.ctx, c.plan.Jobs, plays, func(f field) error {
		m := &maps[f.heat]
		m.Violated[f.row][f.column], m.InDanger[f.row][f.column] = f.violated, f.inDanger
		done++
		c.told("drawing heat maps", done, of)
		return nil
	})
	for i := range maps {
		if err == nil {
			c.out.Comparison.Heats = append(c.out.Comparison.Heats, maps[i].Heat)
		}
	}
	return err
}

func (m *heatMap) size() int { return len(m.Rows) * len(m.Columns) }

// blank makes room for the counts.
func (m *heatMap) blank() {
	for range m.Rows {
		m.Violated = append(m.Violated, make([]int, len(m.Columns)))
		m.InDanger = append(m.InDanger, make([]int, len(m.Columns)))
	}
}

// play plays one field.
func (m *heatMap) play(r *harness.Runner, heat, row, column int) field {
	f := field{heat: heat, row: row, column: column}
	for run := range heatRuns {
		s := m.scene(row, column, run)
		s.Styles, s.Resource.Fencing = []history.Style{m.style}, []history.Fencing{m.mode}
		report := &s.play(r, &m.lock, uint64(run)).Report
		violated := report.Verdicts[m.about] == checker.Violated
		if violated {
			f.violated++
		}
		if violated || report.Dangers[m.about] > 0 {
			f.inDanger++
		}
	}
	return f
}

// heatMaps are all that there are.
func heatMaps() []heatMap {
	return slices.Concat(
		pauseHeats("set-nx-lua", history.Unfenced), pauseHeats("set-nx-lua-fenced", history.FencedReadWrite),
		pauseHeats("redlock", history.Unfenced), pauseHeats("redlock-counter-token", history.FencedReadWrite),
		pauseHeats("zk-sequential", history.Unfenced, history.FencedReadWrite),
		driftHeats("redlock", "redlock-no-drift"),
	)
}

func lockNamed(name string) locks.Algorithm {
	lock, ok := locks.Catalogue().Find(name)
	if !ok {
		panic("compare: there is no lock " + name)
	}
	return lock
}

// axis writes values down.
func axis[T any](values []T, write func(T) string) []string {
	var list []string
	for _, v := range values {
		list = append(list, write(v))
	}
	return list
}

func ppm(rate int64) string { return strconv.FormatInt(rate, 10) + "ppm" }

func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
