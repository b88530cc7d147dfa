package locktest

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/trace"
)

// mayBreak reports whether a violation can be of this promise. Of a lock whose grants nobody observes a release is accused by beliefs alone:
// then one must have been executed since the first of two holders asked for the lock for the last time.
func (p *pledge) mayBreak(r *player, v *search.Violation) bool {
	if p.Name != ReleaseSafety || p.Property != checker.MutualExclusion {
		return true
	}
	plan, err := harness.Compile(v.Case, v.Options)
	if err != nil {
		return true
	}
	var result harness.Result
	stuck := r.do(1, "its releases", func(r *harness.Runner) { result, err = r.Run(plan, v.Seed, true) })
	if stuck != nil || err != nil {
		return true
	}
	first := p.Forgives.First(p.Property, result.History, &result.Report)
	return first != nil && released(&result, first)
}

// released reports whether a server executed a release, and did not answer that there was nothing to do, between the last try of one of those
// that believed at once, and that. Lock may send one, too, when it has failed.
func released(r *harness.Result, v *checker.Violation) bool {
	from := v.At
	for _, id := range v.Acquisitions {
		from = min(from, lastTry(r.Events, r.History.Acquisition(id)))
	}
	releases := unlocking(r)
	for i := range r.Events {
		e := &r.Events[i]
		if e.Does != trace.Execute || e.At < from || e.At > v.At || e.Alt != trace.ToRelease && !releases[verb(e)] {
			continue
		}
		k := slices.IndexFunc(r.Events[i:], func(a trace.Event) bool {
			return a.Does == trace.Reply && a.Node == e.Node && a.Peer == e.Peer && a.What == e.What
		})
		if k < 0 || r.Events[i+k].Detail != "(integer) 0" {
			return true
		}
	}
	return false
}

// unlocking are what Unlock sends in a run.
func unlocking(r *harness.Result) map[string]bool {
	verbs := make(map[string]bool)
	for i := range r.Events {
		e := &r.Events[i]
		if e.Does == trace.Send && slices.ContainsFunc(r.History.Acquisitions, func(a history.Acquisition) bool {
			return a.Client == e.Node && a.Unlocked <= e.At && e.At <= a.Released
		}) {
			verbs[verb(e)] = true
		}
	}
	return verbs
}

// verb is what a request begins with: its command, and its key or what its script is for.
func verb(e *trace.Event) string {
	words := strings.Fields(e.Detail)
	return strings.Join(words[:min(len(words), 2)], " ")
}

// lastTry is when an acquisition sent the first of the requests that it sent without a pause before Lock returned.
func lastTry(events []trace.Event, a *history.Acquisition) trace.Instant {
	from, asked := a.Returned, false
	for i := range slices.Backward(events) {
		e := &events[i]
		switch {
		case e.Node != a.Client || e.At < a.Invoked || e.At > a.Returned:
		case e.Does == trace.Send:
			from, asked = e.At, true
		case e.Does == trace.Receive && asked && e.At < from:
			return from
		}
	}
	return from
}
