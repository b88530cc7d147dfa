package svg

import (
	"reflect"
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// twin draws what differs under another fencing mode.
func (g *page) twin(run *timeline.Timeline) {
	s, first := g.schedule, &g.schedule.Runs[0]
	g.rule()
	verdicts := differing(run.Verdicts, first.Verdicts)
	tone := run.Tone
	for _, v := range verdicts {
		if v.Property == "resource" {
			tone = v.Tone // the headline of a run is of all that was found, this one of what the fencing did
		}
	}
	g.verdict(run.Twin, tone, verdicts)
	g.y += 6 * Pixel
	if k := run.LikeRun; k >= 0 && k < len(s.Runs) {
		g.paragraph(margin, textWidth, "The events are those of fencing "+s.Runs[k].Fencing+".", aside)
		g.told(nil, run)
		return
	}
	if lanes := differing(run.Lanes, first.Lanes); len(lanes) > 0 {
		g.timeline(run, lanes)
		g.paragraph(margin, textWidth, "Rows that are not shown look as above.", aside)
	}
	told := func(m timeline.Moment) bool {
		return slices.ContainsFunc(first.Moments, func(o timeline.Moment) bool {
			return o.Number == m.Number && o.Who == m.Who && o.Text == m.Text
		})
	}
	g.told(slices.DeleteFunc(slices.Clone(run.Moments), told), run)
}

// differing are the items of a list that another one has not.
func differing[T any](list, other []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(a T) bool {
		return slices.ContainsFunc(other, func(b T) bool { return reflect.DeepEqual(a, b) })
	})
}

// rule parts what follows from what stands above it.
func (g *page) rule() {
	g.y += 18 * Pixel
	g.Line(Point{margin, g.y}, Point{pageWidth - margin, g.y}, Paint{Stroke: Rule})
	g.y += 14 * Pixel
}
