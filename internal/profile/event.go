package profile

import (
	"time"
)

// Longer returns the event as far as its length is above a bound: with the rate and the law of those lengths alone. Of thousands
// of short pauses only the few long ones matter.
func (e Event) Longer(than time.Duration) Event {
	share := e.Length.Tail(than)
	e.Rate.PerSecond *= share
	e.Length = longer{e.Length, than, share}
	return e
}

// Refits returns events with rates and laws that the measured ones may be as well; nil if both were stated. Each of them may be asked
// for what is [Event.Longer], so that the uncertainty of how often that is stays that of both together.
func (e Event) Refits(n int, seed uint64) []Event {
	var laws []Law
	if e.Length != nil {
		laws = Refits(e.Length, n, seed)
	}
	rates := e.Rate.Refits(n, seed)
	if laws == nil && rates == nil {
		return nil
	}
	refits := make([]Event, n)
	for i := range refits {
		refits[i] = e
		if laws != nil {
			refits[i].Length = laws[i]
		}
		if rates != nil {
			refits[i].Rate = rates[i]
		}
	}
	return refits
}

// longer is the law of lengths above a bound.
type longer struct {
	all   Law
	than  time.Duration
	share float64
}

// Tail implements [Law].
func (l longer) Tail(d time.Duration) float64 {
	switch {
	case d < l.than:
		return 1
	case l.share == 0:
		return 0
	}
	return min(1, l.all.Tail(d)/l.share)
}

// Above implements [Law].
func (l longer) Above(p float64) time.Duration {
	if l.share == 0 {
		return l.than
	}
	if !(p < 1) {
		p = 1
	}
	return max(l.than, l.all.Above(max(p, 0)*l.share))
}

// Quantile implements [Law].
func (l longer) Quantile(p float64) time.Duration { return l.Above(1 - p) }

func (l longer) String() string {
	return "those longer than " + brief(float64(l.than)) + " of: " + l.all.String()
}
