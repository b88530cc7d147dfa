package reports

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// samples is how often the offset of a clock that runs too fast or too slow is told.
const samples = 8

// clockLane shows how far a node's wall clock is ahead of true time.
func (v *view) clockLane(node string, k ink) lane {
	l := lane{name: laneClock(node), kind: LaneLevel, node: node, ink: k}
	turns := v.clockTurns(node)
	every := trace.Instant(roundStep(time.Duration((v.to - v.from) / samples)))
	offset := time.Duration(0)
	var levels []Level
	for i, t := range turns {
		offset += t.step
		text := ahead(offset)
		switch {
		case t.rate != 0:
			text = rateWords(t.rate)
		case offset == 0:
			text = "" // it is right
		}
		levels = append(levels, Level{t.at, int64(offset), text})
		next := v.to
		if i+1 < len(turns) {
			next = turns[i+1].at
		}
		for at := t.at - t.at%every + every; t.rate != 0 && at < next; at += every {
			now := offset + drift(at-t.at, t.rate)
			levels = append(levels, Level{at, int64(now), ahead(now)})
		}
		offset += drift(next-t.at, t.rate)
	}
	l.levels = v.drawn(levels)
	return l
}

// clockTurn is a moment at which a clock begins to be wrong in another way.
type clockTurn struct {
	at   trace.Instant
	step time.Duration
	rate int64 // from then on, in parts per million
}

// clockTurns are what the scenario says of a node's clock, and the faults that befell it. Of several rates that faults
// impose the latest counts.
func (v *view) clockTurns(node string) []clockTurn {
	var list []clockTurn
	for _, c := range v.run.Case.Scenario.Clocks {
		if c.Node == node {
			list = append(list, clockTurn{0, c.Offset, c.Rate})
		}
	}
	own := int64(0)
	if len(list) > 0 {
		own = list[0].rate
	}
	for i := range v.faults {
		f := &v.faults[i]
		if f.kind != "clock" || !f.fired || f.node != node {
			continue
		}
		list = append(list, clockTurn{at: f.begin, step: f.step}, clockTurn{at: f.end, step: -f.step})
	}
	list = slices.DeleteFunc(list, func(t clockTurn) bool { return t.at > v.h.End })
	slices.SortStableFunc(list, func(a, b clockTurn) int { return cmp.Compare(a.at, b.at) })
	for i := range list {
		list[i].rate = v.rateAt(node, list[i].at, own)
	}
	return list
}

func (v *view) rateAt(node string, at trace.Instant, own int64) int64 {
	rate, since := own, trace.Instant(-1)
	for i := range v.faults {
		f := &v.faults[i]
		imposed := f.kind == "clock" && f.fired && f.node == node && f.rate != 0
		if imposed && f.begin <= at && at < f.end && f.begin > since {
			rate, since = f.rate, f.begin
		}
	}
	return rate
}

// drift is how far a clock with a wrong rate gets ahead. Whole seconds are counted apart so that nothing overflows.
func drift(t trace.Instant, rate int64) time.Duration {
	const second = trace.Instant(time.Second)
	return time.Duration(t/second)*time.Duration(rate)*time.Microsecond + time.Duration(int64(t%second)*rate/1_000_000)
}

// ahead says how far a clock is ahead, or behind.
func ahead(d time.Duration) string {
	if d > 0 {
		return "+" + Precise(d)
	}
	return Precise(d)
}

// rateWords says how fast a clock runs: "+5%", "-200ppm".
func rateWords(rate int64) string {
	if rate%percent == 0 {
		return fmt.Sprintf("%+d%%", rate/percent)
	}
	return fmt.Sprintf("%+dppm", rate)
}
