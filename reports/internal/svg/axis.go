package svg

import (
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// axis is the scale of a schedule in tenths of pixels. A picture that has several panels goes on in the next one, from
// the left; places are counted as if all panels stood beside one another.
type axis struct {
	timeline.Axis
	place []Length // of each stop
	panel Length   // how wide a panel is
	count int      // of panels
}

// lastRoom is the room behind the last moment of a picture: labels of a text that stand there have room elsewhere.
const lastRoom = 40 * Pixel

// newAxis lays the columns of an axis out on panels of a width. There are no more panels than in a text, and they are
// equally full: what would be alone on the last one goes to those before it.
func newAxis(from timeline.Axis, panel Length) *axis {
	a := &axis{Axis: from, panel: panel, count: 1}
	used := max(from.Stops[len(from.Stops)-1].Column, 1)
	if full := max(from.Panel, 1) * 5 / 4; used > full {
		a.count = (used + full - 1) / full
	}
	room := panel*Length(a.count) - lastRoom
	for i := 0; i < len(a.Stops); {
		next := i + 1
		for next < len(a.Stops) && a.Stops[next].Column == a.Stops[i].Column {
			next++
		}
		// Moments that share a column of letters stand one after another within it.
		for k := i; k < next; k++ {
			part := Length(a.Stops[i].Column)*room + room*Length(k-i)/Length(next-i)
			a.place = append(a.place, part/Length(used))
		}
		i = next
	}
	return a
}

// at returns the place of a moment; moments outside of the axis stand at its ends.
func (a *axis) at(t trace.Instant) Length {
	i, found := slices.BinarySearchFunc(a.Stops, t, func(s timeline.Stop, t trace.Instant) int {
		switch {
		case s.At < t:
			return -1
		case s.At > t:
			return 1
		}
		return 0
	})
	switch {
	case found:
		return a.place[i]
	case i == 0:
		return a.place[0]
	case i == len(a.Stops):
		return a.place[i-1]
	}
	return a.place[i-1] + share(a.place[i]-a.place[i-1], int64(t-a.Stops[i-1].At), int64(a.Stops[i].At-a.Stops[i-1].At))
}

// share is a part of a length, as large as the part of a whole.
func share(of Length, part, whole int64) Length {
	for whole > 1<<40 { // keep the product within 64 bits
		whole, part = whole>>1, part>>1
	}
	return Length(int64(of) * part / whole)
}

// bends are the moments within a stretch at which the scale changes, with the ends of the stretch.
func (a *axis) bends(from, to trace.Instant) []trace.Instant {
	list := []trace.Instant{from}
	for _, s := range a.Stops {
		if s.At > from && s.At < to {
			list = append(list, s.At)
		}
	}
	return append(list, to)
}

// strides are the pieces of the axis between two stops that have different places.
func (a *axis) strides() []stride {
	var list []stride
	for i := 1; i < len(a.Stops); i++ {
		s := stride{
			from: a.place[i-1], to: a.place[i], lasts: a.Stops[i].At - a.Stops[i-1].At, cut: a.Stops[i-1].Cut,
		}
		if s.from < s.to {
			list = append(list, s)
		}
	}
	return list
}

// stride is a piece of the axis on which time runs evenly.
type stride struct {
	from, to Length
	lasts    trace.Instant
	cut      bool
}

// stretched is how many times as much room as elsewhere a stride must have for its picture to say so.
const stretched = 4

// stretches are the pieces of the axis on which time has much more room than on the whole of it.
func (a *axis) stretches() [][2]Length {
	width, lasts := Length(0), trace.Instant(0)
	for _, s := range a.strides() {
		if !s.cut {
			width += s.to - s.from
			lasts += s.lasts
		}
	}
	var list [][2]Length
	for _, s := range a.strides() {
		if s.cut || s.to-s.from <= stretched*share(width, int64(s.lasts), int64(lasts)) {
			continue
		}
		if n := len(list); n > 0 && list[n-1][1] == s.from {
			list[n-1][1] = s.to
		} else {
			list = append(list, [2]Length{s.from, s.to})
		}
	}
	return list
}

// window is what one panel shows: the places from left to right of it.
type window struct{ left, right Length }

func (a *axis) window(i int) window { return window{a.panel * Length(i), a.panel * Length(i+1)} }

// clip returns the part of a stretch that a panel shows, from the panel's left edge.
func (w window) clip(from, to Length) (left, right Length, seen bool) {
	left, right = max(from, w.left), min(to, w.right)
	return left - w.left, right - w.left, left < right || left == right && from == to && w.shows(from)
}

// shows reports whether a place is in a panel.
func (w window) shows(at Length) bool { return at >= w.left && at < w.right }
