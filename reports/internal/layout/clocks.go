package layout

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// samples is how often the offset of a clock that runs too fast or too slow is told.
const samples = 8

// clockLane shows how far a node's wall clock is ahead of true time.
func clockLane(v *model.View, node string, k paint.Ink) Lane {
	l := Lane{Name: laneClock(node), kind: timeline.LaneLevel, Node: node, Ink: k}
	turns := v.ClockTurns(node)
	every := trace.Instant(roundStep(time.Duration((v.To - v.From) / samples)))
	offset := time.Duration(0)
	var levels []timeline.Level
	for i, t := range turns {
		offset += t.Step
		text := ahead(offset)
		switch {
		case t.Rate != 0:
			text = rateWords(t.Rate)
		case offset == 0:
			text = "" // it is right
		}
		levels = append(levels, timeline.Level{At: t.At, Value: int64(offset), Text: text})
		next := v.To
		if i+1 < len(turns) {
			next = turns[i+1].At
		}
		for at := t.At - t.At%every + every; t.Rate != 0 && at < next; at += every {
			now := offset + model.Drift(at-t.At, t.Rate)
			levels = append(levels, timeline.Level{At: at, Value: int64(now), Text: ahead(now)})
		}
		offset += model.Drift(next-t.At, t.Rate)
	}
	l.Levels = drawn(v, levels)
	return l
}

// ahead says how far a clock is ahead, or behind.
func ahead(d time.Duration) string {
	if d > 0 {
		return "+" + wording.Precise(d)
	}
	return wording.Precise(d)
}

// rateWords says how fast a clock runs: "+5%", "-200ppm".
func rateWords(rate int64) string {
	if rate%wording.Percent == 0 {
		return fmt.Sprintf("%+d%%", rate/wording.Percent)
	}
	return fmt.Sprintf("%+dppm", rate)
}
