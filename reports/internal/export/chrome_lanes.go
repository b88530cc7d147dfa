package export

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// tracks says on which track of its process a bar stands, and how it is called if it has no label of its own.
var tracks = map[timeline.Sign]struct{ track, name string }{
	timeline.SignWaits:    {"belief", "waits"},
	timeline.SignBelieves: {"belief", "believes that it holds the lock"},
	timeline.SignGranted:  {"truth", "is granted the lock"},
	timeline.SignLapsed:   {"truth", "no longer granted"},
	timeline.SignPaused:   {"pause", "paused"},
	timeline.SignDown:     {"pause", "down"},
	timeline.SignLife:     {"keeps", "keeps the lock's entry"},
	timeline.SignOverlap:  {"overlap", "more than one believes"},
	timeline.SignTravels:  {"on its way", "on its way"},
	timeline.SignCut:      {"network", "cut"},
	timeline.SignFated:    {"inevitable", "violated in all futures played"},
}

// lane adds what stands on one lane of the picture, which ends at a moment.
func (c *chrome) lane(l *timeline.Lane, end trace.Instant) {
	node := owner(l)
	bars := slices.Clone(l.Bars)
	if l.Kind == timeline.LaneTruth {
		bars = uncovered(bars)
	}
	slices.SortStableFunc(bars, func(a, b timeline.Bar) int { return cmp.Compare(a.From, b.From) })
	for i := range bars {
		b := &bars[i]
		is, ok := tracks[b.Sign]
		if !ok || b.From >= b.To {
			continue
		}
		name := is.name
		if b.Label != "" {
			name = b.Label
		}
		if b.Sign == timeline.SignLife {
			name = keeper(l, b)
			c.life(node, b)
		}
		c.slice(node, is.track, b.From, b.To, name, string(l.Kind))
	}
	for i := range l.Marks {
		if m := &l.Marks[i]; m.Sign == timeline.SignDamage {
			c.instant(node, "damage", m.At, m.Label, "violation", "g")
		}
	}
	for i := range l.Levels {
		c.counter(node, l.Title, l.Levels[i].At, l.Levels[i].Value)
	}
	if n := len(l.Levels); n > 0 {
		c.counter(node, l.Title, max(end, l.Levels[n-1].At), l.Levels[n-1].Value) // viewers show nothing behind the last one
	}
}

// uncovered cuts out of beliefs that are not granted what is granted all the same: the picture paints one over the
// other.
func uncovered(bars []timeline.Bar) []timeline.Bar {
	var list, lapsed []timeline.Bar
	for _, b := range bars {
		if b.Sign == timeline.SignLapsed {
			lapsed = append(lapsed, b)
		} else {
			list = append(list, b)
		}
	}
	for _, g := range slices.Clone(list) {
		var rest []timeline.Bar
		for _, b := range lapsed {
			before, after := b, b
			before.To, after.From = min(b.To, g.From), max(b.From, g.To)
			for _, piece := range []timeline.Bar{before, after} {
				if piece.From < piece.To {
					rest = append(rest, piece)
				}
			}
		}
		lapsed = rest
	}
	return append(list, lapsed...)
}

// keeper names whose entry a server keeps: the picture has the name where the bar begins.
func keeper(l *timeline.Lane, b *timeline.Bar) string {
	for i := range l.Marks {
		if m := &l.Marks[i]; m.At == b.From && m.Number == 0 && m.Label != "" {
			return "keeps the entry of " + m.Label
		}
	}
	return tracks[timeline.SignLife].name
}

// lifeSteps is in how many steps what is left of a life goes down to nothing: a counter has no slope.
const lifeSteps = 20

// life counts what is left of the life of what a server keeps, in milliseconds.
func (c *chrome) life(node string, b *timeline.Bar) {
	if b.Life <= 0 {
		return
	}
	const name = "time to live left, ms"
	for i, from := range b.Lives {
		until := b.To
		if i+1 < len(b.Lives) {
			until = min(until, b.Lives[i+1])
		}
		for k := range trace.Instant(lifeSteps) {
			at := from + b.Life/lifeSteps*k
			if at >= b.From && at < until {
				c.counter(node, name, at, int64((b.Life-b.Life/lifeSteps*k)/1e6))
			}
		}
	}
	c.counter(node, name, b.To, 0)
}
