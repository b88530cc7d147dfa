package svg

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

func axisOf(panel int, stops ...timeline.Stop) *axis {
	last := stops[len(stops)-1]
	return newAxis(timeline.Axis{
		From: stops[0].At, To: last.At, Stops: stops, Panel: panel, Width: (last.Column/panel + 1) * panel,
	}, 1040*Pixel)
}

func TestColumnsOfATextArePlacesOfAPicture(t *testing.T) {
	a := axisOf(100, timeline.Stop{At: 0}, timeline.Stop{At: 10, Column: 25}, timeline.Stop{At: 1000, Column: 50})
	require.Equal(t, 1, a.count)
	require.Equal(t, []Length{0, 500 * Pixel, 1000 * Pixel}, a.place)
	require.Equal(t, 250*Pixel, a.at(5))
	require.Equal(t, 750*Pixel, a.at(505))
	require.Equal(t, 1000*Pixel, a.at(trace.Never))
}

func TestMomentsThatShareAColumnStandOneAfterAnother(t *testing.T) {
	a := axisOf(100,
		timeline.Stop{At: 0}, timeline.Stop{At: 1}, timeline.Stop{At: 100, Column: 1}, timeline.Stop{At: 200, Column: 10})
	require.Equal(t, []Length{0, 50 * Pixel, 100 * Pixel, 1000 * Pixel}, a.place)
}

func TestPanelsAreEquallyFull(t *testing.T) {
	a := axisOf(40, timeline.Stop{At: 0}, timeline.Stop{At: 10, Column: 45})
	require.Equal(t, 1, a.count, "a little more than a panel is one")
	a = axisOf(40, timeline.Stop{At: 0}, timeline.Stop{At: 10, Column: 90})
	require.Equal(t, 2, a.count)
	require.Equal(t, 2*a.panel-lastRoom, a.at(10))
}

func TestWhereTimeHasMoreRoomThanElsewhereTheAxisSaysSo(t *testing.T) {
	a := axisOf(100,
		timeline.Stop{At: 0}, timeline.Stop{At: 1, Column: 10}, timeline.Stop{At: 2, Column: 20},
		timeline.Stop{At: 1000, Column: 100})
	require.Equal(t, [][2]Length{{0, 200 * Pixel}}, a.stretches())
	even := axisOf(100, timeline.Stop{At: 0}, timeline.Stop{At: 100, Column: 10}, timeline.Stop{At: 1000, Column: 100})
	require.Empty(t, even.stretches())
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stops := []timeline.Stop{{}}
		for range rapid.IntRange(1, 40).Draw(t, "stops") {
			last := stops[len(stops)-1]
			stops = append(stops, timeline.Stop{
				At:     last.At + trace.Instant(rapid.Int64Range(1<<20, 1<<52).Draw(t, "lasts")),
				Column: last.Column + rapid.IntRange(0, 30).Draw(t, "columns"),
			})
		}
		stops[len(stops)-1].Column++
		a := axisOf(rapid.IntRange(20, 200).Draw(t, "panel"), stops...)
		at, last := trace.Instant(0), Length(-1)
		for _, s := range stops {
			for _, t2 := range []trace.Instant{(at + s.At) / 2, s.At} {
				place := a.at(t2)
				require.GreaterOrEqual(t, place, last)
				require.Less(t, place, a.panel*Length(a.count))
				last = place
			}
			at = s.At
		}
		place := Length(rapid.IntRange(0, int(a.at(a.To))).Draw(t, "place"))
		near := a.at(a.moment(place)) - place
		require.LessOrEqual(t, max(near, -near), Length(1), "the moment of a place stands there")
	})
}
