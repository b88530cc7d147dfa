package layout

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Scale maps moments to columns. Time runs from left to right and never backwards, but not evenly: a moment at which
// something happens gets the columns that its label needs, and the rest of the width is shared out by duration. So a
// reply after 300 µs and a pause of 12 s are both to be seen. Long stretches in which nothing happens are cut short,
// and the axis says so.
type Scale struct {
	at    []trace.Instant // sorted, distinct
	col   []int           // the column of at[i]
	cut   []bool          // the stretch from at[i] to at[i+1] is cut short
	Width int             // of all panels together
	Panel int             // of one panel
}

// stop is a place on a lane that needs columns of its own.
type stop struct {
	at    trace.Instant
	width int
}

// maxPanels is how often the picture may start again on the left before labels are dropped on one another.
const maxPanels = 4

// newScale lays out the stops of all lanes within [from, to]. Idle says whether nothing at all goes on in a stretch.
func newScale(panel int, from, to trace.Instant, lanes [][]stop, idle func(a, b trace.Instant) bool) *Scale {
	s := &Scale{Panel: panel, at: []trace.Instant{from, to}}
	for _, stops := range lanes {
		for _, p := range stops {
			if p.at >= from && p.at <= to {
				s.at = append(s.at, p.at)
			}
		}
	}
	slices.Sort(s.at)
	s.at = slices.Compact(s.at)
	s.cut = make([]bool, len(s.at))
	s.pack(lanes)
	if panel > Endless/2 { // it is as wide as it has to be
		s.Panel = max(s.Width, Narrowest)
	}
	s.stretch(idle)
	return s
}

// pack gives every moment the leftmost column at which no label covers another.
func (s *Scale) pack(lanes [][]stop) {
	n := len(s.at)
	small := (s.at[n-1] - s.at[0]) / 2000 // moments closer than this may share a column
	s.col = make([]int, n)
	reach := make([]int, n) // where labels further left end
	for i, t := range s.at {
		if i > 0 {
			s.col[i] = max(s.col[i-1], reach[i])
			if t-s.at[i-1] > small {
				s.col[i] = max(s.col[i], s.col[i-1]+1)
			}
		}
		s.keepWhole(i, lanes)
		for _, stops := range lanes {
			k, ok := slices.BinarySearchFunc(stops, t, func(p stop, t trace.Instant) int { return cmp.Compare(p.at, t) })
			if !ok {
				continue
			}
			end := s.col[i] + stops[k].width
			s.Width = max(s.Width, end)
			if k+1 < len(stops) {
				if next, ok := slices.BinarySearch(s.at, stops[k+1].at); ok {
					reach[next] = max(reach[next], end)
				}
			}
		}
	}
	s.Width = max(s.Width, s.col[n-1]+1)
}

// keepWhole moves a moment to the next panel if one of its labels would cross the edge.
func (s *Scale) keepWhole(i int, lanes [][]stop) {
	column := s.col[i] % s.Panel
	for _, stops := range lanes {
		k, ok := slices.BinarySearchFunc(stops, s.at[i], func(p stop, t trace.Instant) int { return cmp.Compare(p.at, t) })
		if ok && column > 0 && column+stops[k].width > s.Panel {
			s.col[i] += s.Panel - column
			return
		}
	}
}

// stretch shares out the columns that are left by the durations between the moments.
func (s *Scale) stretch(idle func(a, b trace.Instant) bool) {
	if s.Width > s.Panel*maxPanels {
		for i := range s.col { // too much for any screen: labels will cover one another
			s.col[i] = s.col[i] * s.Panel * maxPanels / s.Width
		}
		s.Width = s.Panel * maxPanels
		return
	}
	if s.Width > s.Panel {
		s.Width = (s.Width + s.Panel - 1) / s.Panel * s.Panel
		return
	}
	weights, whole := s.weights(idle)
	slack := int64(s.Panel - s.Width)
	s.Width = s.Panel
	if whole == 0 {
		return
	}
	sum := int64(0)
	for i := 1; i < len(s.col); i++ {
		sum += weights[i-1]
		s.col[i] += int(slack * sum / whole)
	}
}

// weights are the durations between the moments, but no idle stretch takes more than a third of the width. They are in
// millionths of the whole, so that products stay small.
func (s *Scale) weights(idle func(a, b trace.Instant) bool) (weights []int64, whole int64) {
	n := len(s.at) - 1
	weights = make([]int64, n)
	unit := max((int64(s.at[n])-int64(s.at[0]))/1_000_000, 1)
	for i := range weights {
		weights[i] = int64(s.at[i+1]-s.at[i]) / unit
		whole += weights[i]
	}
	for i, w := range weights {
		rest := whole - w
		if n > 2 && w > rest && rest > 1 && idle(s.at[i], s.at[i+1]) {
			weights[i], s.cut[i] = rest/2, true
			whole = rest + rest/2
		}
	}
	return weights, whole
}

// Column returns where a moment stands; moments outside of the scale stand at its ends.
func (s *Scale) Column(t trace.Instant) int {
	i, found := slices.BinarySearch(s.at, t)
	switch {
	case found:
		return s.col[i]
	case i == 0:
		return 0
	case i == len(s.at):
		return s.col[i-1]
	}
	columns := int64(s.col[i] - s.col[i-1])
	whole, part := int64(s.at[i]-s.at[i-1]), int64(t-s.at[i-1])
	for whole > 1<<40 { // keep the product within 64 bits
		whole, part = whole>>1, part>>1
	}
	return s.col[i-1] + int(columns*part/whole)
}

// To is the last moment of the scale.
func (s *Scale) To() trace.Instant { return s.at[len(s.at)-1] }

// Moment returns the earliest moment that stands in a column.
func (s *Scale) Moment(col int) trace.Instant {
	i, found := slices.BinarySearch(s.col, col)
	switch {
	case found:
		return s.at[i]
	case i == 0:
		return s.at[0]
	case i == len(s.col):
		return s.at[i-1]
	}
	columns := int64(s.col[i] - s.col[i-1])
	whole := int64(s.at[i] - s.at[i-1])
	part := int64(col - s.col[i-1])
	return s.at[i-1] + trace.Instant(whole/columns*part+(whole%columns*part+columns-1)/columns)
}

// ticks returns round moments far enough apart that their labels do not touch.
func (s *Scale) ticks() []trace.Instant {
	from, to := s.at[0], s.at[len(s.at)-1]
	wanted := max(s.Width/10, 2)
	step := trace.Instant(roundStep(time.Duration(s.drawnInFull()) / time.Duration(wanted)))
	var ticks []trace.Instant
	free := 0
	for t := from - from%step; t <= to; t += step {
		if end := s.cutUntil(t); end > t {
			t = end - 1 - (end-1)%step // the next is the first that is drawn
			continue
		}
		if t < from {
			continue
		}
		if col := s.Column(t); col >= free {
			ticks = append(ticks, t)
			free = col + len([]rune(wording.Brief(t))) + 2
		}
	}
	return ticks
}

// drawnInFull is how much time there is outside of the stretches that are cut short.
func (s *Scale) drawnInFull() trace.Instant {
	sum := trace.Instant(0)
	for i, cut := range s.cut[:len(s.at)-1] {
		if !cut {
			sum += s.at[i+1] - s.at[i]
		}
	}
	return sum
}

// cutUntil returns the end of the stretch that is cut short in which a moment lies; the moment itself if it is drawn.
func (s *Scale) cutUntil(t trace.Instant) trace.Instant {
	i, found := slices.BinarySearch(s.at, t)
	if !found && i > 0 && i < len(s.at) && s.cut[i-1] {
		return s.at[i]
	}
	return t
}

// roundStep is the smallest of 1, 2, 5, 10, 20, 50, … nanoseconds that is not below d, or of as many hours where moments
// are told in hours.
func roundStep(d time.Duration) time.Duration {
	step := time.Duration(1)
	if d >= time.Hour {
		step = time.Hour
	}
	for ; ; step *= 10 {
		for _, k := range []time.Duration{1, 2, 5} {
			if step*k >= d || step >= time.Hour*1000 {
				return step * k
			}
		}
	}
}
