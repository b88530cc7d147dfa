package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress is the line on a terminal that tells how far a long search has come. It is written over itself, and is gone
// when the search has ended.
type progress struct {
	w       io.Writer // nil: not shown
	planned uint64    // runs; 0 if only the time is limited
	until   time.Time // zero if only the runs are
	since   time.Time
	drawn   time.Time
	columns int // of the line that stands there
}

// redrawn is how long a line stands at least.
const redrawn = 250 * time.Millisecond

// newProgress begins to show progress, if it was requested or stderr is a terminal.
func (c *call) newProgress(asked boolFlag, planned uint64, until time.Time) *progress {
	p := &progress{planned: planned, until: until, since: time.Now()}
	if bool(asked) || isTerminal(c.stderr) && !c.env.dumb {
		p.w = c.stderr
	}
	return p
}

// show prints the number of runs so far, and of those with a violation.
func (p *progress) show(runs, violated uint64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.drawn) < redrawn {
		return
	}
	p.drawn = now
	rate := perSecond(runs, now.Sub(p.since))
	text := fmt.Sprintf("%d runs, %d runs/s, %d with a violation", runs, rate, violated)
	if left := p.left(now, runs, rate); left >= 0 {
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	p.write(text)
}

// left is the remaining time; negative if it is unknown.
func (p *progress) left(now time.Time, runs, rate uint64) time.Duration {
	left := time.Duration(-1)
	if p.planned > 0 && rate > 0 {
		left = time.Duration(float64(p.planned-min(runs, p.planned)) / float64(rate) * float64(time.Second))
	}
	if !p.until.IsZero() {
		if rest := max(p.until.Sub(now), 0); left < 0 || rest < left {
			left = rest
		}
	}
	return left
}

// tell replaces the line by what is being done, and how much of it has been.
func (p *progress) tell(doing string, done, of int) {
	if now := time.Now(); p.w != nil && (now.Sub(p.drawn) >= redrawn || done == of) {
		p.drawn = now
		p.write(fmt.Sprintf("%s: %d of %d", doing, done, of))
	}
}

// count replaces the line by what is being done, and how many runs that has taken.
func (p *progress) count(doing string, runs int) {
	if now := time.Now(); p.w != nil && now.Sub(p.drawn) >= redrawn {
		p.drawn = now
		p.write(fmt.Sprintf("%s: %s", doing, counted(runs, "run")))
	}
}

// say replaces the line.
func (p *progress) say(text string) {
	if p.w != nil {
		p.write(text)
	}
}

func (p *progress) write(text string) {
	fmt.Fprint(p.w, "\r"+text+strings.Repeat(" ", max(p.columns-len(text), 0)))
	p.columns = len(text)
}

// close removes the line.
func (p *progress) close() {
	if p.columns > 0 {
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", p.columns)+"\r")
		p.columns = 0
	}
}

// perSecond is a rate in whole runs.
func perSecond(runs uint64, took time.Duration) uint64 {
	return uint64(float64(runs) / max(took.Seconds(), 1e-9))
}
