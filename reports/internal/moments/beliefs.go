package moments

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

func (s *story) belief(a *history.Acquisition) {
	b, ok := a.Belief()
	who := s.v.Holder(a.ID, a.Client)
	place := PlaceOfBelief(s.v, a)
	if !ok {
		s.noBelief(a, who)
		return
	}
	text, k := "believes that it holds the lock"+tokenNote(s.v, a.Token), paint.Plain
	if s.v.EntersAgain(a) {
		text = "enters the lock again, which it holds"
		if g := s.v.LastGrant(a.ID, a.Returned); g != nil && g.From < g.To && !continues(s.v, g) {
			text = "acquires the lock again, while it believes that it holds it already"
		}
	}
	if a.HasDeadline && a.Deadline != trace.Never {
		text += ", its lease says until " + wording.Precise(a.Deadline.Sub(0))
	}
	weight := weightBelief
	if doubt := Ungranted(s.v, a); doubt != "" {
		text, k, weight = text+doubt, paint.Amber, weightLoss
	}
	others := s.v.BelieversAt(b.From, a)
	if len(others) > 0 {
		verb := "believe"
		if len(others) == 1 {
			verb = "believes"
		}
		text += ", while " + wording.Listing(others) + " " + verb + " so too"
		weight, k = weightLoss, paint.Amber
		if s.v.Run.InDoubt() {
			text, k = text+" by the times of the log", paint.Strong
		}
	}
	s.add(Moment{
		At: b.From, Place: place, order: OrderBelief, Label: tokenMark(a.Token), Sign: timeline.SignBegins,
		Who: who, Text: text, Ink: k, Weight: weight,
	}, a.ID)
	if b.To > s.v.History.End || b.Ended == history.ByCrash {
		return // a crash is told as the fault that it is
	}
	order := OrderBelief
	if b.Ended == history.ByUnlock {
		order = OrderUnlock
	}
	s.add(Moment{
		At: b.To, Place: place.Ended(), order: order, Sign: timeline.SignEnds,
		Who: who, Text: s.endOfBelief(a, b), Weight: weightUnlock,
	}, a.ID)
}

// continues reports whether the owner of a grant had the lock by another one when it began, or until then.
func continues(v *model.View, g *history.Grant) bool {
	return v.KeepsAt(g, g.From) || v.KeepsAt(g, g.From-1)
}

// Ungranted says that what an acquisition begins to believe is not so: nothing was granted to it, or that is over. Who
// enters its lock again needs no grant for that.
func Ungranted(v *model.View, a *history.Acquisition) string {
	switch g := v.LastGrant(a.ID, a.Returned); {
	case !v.History.HasAuthority || v.EntersAgain(a):
	case g == nil && Unchanged(v, a) != nil:
		return ", though its write has changed nothing"
	case g == nil:
		return ", but has not been granted it"
	case g.To < a.Returned: // what ended it at the same instant may have followed
		return ", but what it was granted is over"
	}
	return ""
}

// endOfBelief says why a client believes no longer. A notice after which it unlocks at once is what ended the belief.
func (s *story) endOfBelief(a *history.Acquisition, b history.Belief) string {
	heeds := a.Style == history.Careful || a.Style == history.Attentive && a.CanLearn
	switch {
	case b.Ended == history.Unseen && !s.v.History.Logged:
		return "has its last answer from the resource: what it believes from now on is not known"
	case b.Ended == history.Unseen:
		return "holds the lock for the last time that the log shows"
	case b.Ended == history.ByDeadline:
		return "its own deadline passes: it no longer believes"
	case heeds && a.Noticed == b.To && s.v.GrantedAt(a.ID, b.To):
		return "can no longer be sure that it holds, and stops"
	case heeds && a.Noticed == b.To:
		return "learns that it no longer holds"
	}
	return s.unlockWords(a)
}

// SlowAnswer is how long an answer takes that is told with its time.
const SlowAnswer = trace.Instant(time.Second)

// unlockWords says that a client unlocks, and what it is told: with the time, since that is later than the moment of which this is
// the text.
func (s *story) unlockWords(a *history.Acquisition) string {
	when, unlocks := "", "unlocks"+s.unlocksAgain(a)
	if a.Released != trace.Never && a.Released > a.Unlocked {
		when = " at " + wording.Precise(a.Released.Sub(0))
	}
	switch a.Release {
	case history.Pending:
		if s.v.History.Logged {
			return unlocks
		}
		return unlocks + ", and Unlock does not return"
	case history.Failed:
		return unlocks + ", and is told" + when + " that the lock was not its own"
	case history.Refused:
		return unlocks + ", and gets an error" + when + staysOn(s.v, a)
	case history.Unknown:
		return unlocks + ", and gets no answer"
	case history.OK:
	}
	return unlocks
}

// unlocksAgain says when a client called Unlock again for an acquisition, and after what; "" if it did not. Of several calls the
// history has the first call and the last outcome.
func (s *story) unlocksAgain(a *history.Acquisition) string {
	if !unlocksAlone(s.v, a, min(a.Released, s.v.History.End)) {
		return ""
	}
	text, calls := "", 0
	for i := range s.v.Run.Events {
		e := &s.v.Run.Events[i]
		switch {
		case e.Node != a.Client || e.At < a.Unlocked || e.At > a.Released:
		case e.Does == trace.Released && calls == 1 && e.Detail == history.Unknown.String():
			text = ", gets no answer"
		case e.Does == trace.Released && calls == 1 && e.Detail == history.Refused.String():
			text = ", gets an error"
		case e.Does == trace.Release:
			if calls++; calls == 2 {
				return text + ", and unlocks again at " + wording.Precise(e.At.Sub(0))
			}
		}
	}
	return ""
}

// unlocksAlone reports whether no other Unlock of the same client went on from when one was called until a moment.
func unlocksAlone(v *model.View, a *history.Acquisition, until trace.Instant) bool {
	return !slices.ContainsFunc(v.History.Acquisitions, func(o history.Acquisition) bool {
		return o.ID != a.ID && o.Client == a.Client && o.Released >= a.Unlocked && o.Unlocked <= until
	})
}

// staysOn names the servers that are up and still have an acquisition's entry when its release has failed.
func staysOn(v *model.View, a *history.Acquisition) string {
	var names []string
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if c.Acquisition == a.ID && c.From <= a.Released && a.Released < c.To && !v.IsDown(c.Node, a.Released) {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": its " + v.Servers().Entry() + " stays on " + wording.Listing(names)
}

// noBelief tells of acquisitions that ended in doubt, or too late.
func (s *story) noBelief(a *history.Acquisition, who string) {
	var text string
	weight := weightGrant
	switch a.Outcome {
	case history.Unknown:
		text = "cannot know whether it got the lock, and believes nothing"
		if s.v.StillInside(a) {
			text = "cannot know whether it got the lock again"
		}
	case history.OK:
		text = "gets the lock after its own deadline, and does not believe"
	case history.Failed:
		text, weight = "does not get the lock", weightTrivia
	default:
		return
	}
	s.add(Moment{
		At: a.Returned, Place: Place{BeliefLane(who), fmt.Sprintf("no belief %d", a.ID)}, order: OrderBelief, Who: who,
		Text: text, Weight: weight,
	}, a.ID)
}

func (s *story) waits() {
	for i := range s.v.Waits {
		w := &s.v.Waits[i]
		who := w.Who
		switch w.Ended {
		case history.GaveUp:
			s.add(Moment{At: w.To, Place: Place{BeliefLane(who), "wait ends"}, order: OrderBelief, Who: who,
				Text: "gives up after " + wording.Precise(w.To.Sub(w.From)), Weight: weightGrant})
		case history.StillWaiting:
			s.add(Moment{At: s.v.History.End, Place: Place{BeliefLane(who), "waits"}, order: OrderBelief, Who: who,
				Text: "still waits, since " + wording.Precise(w.From.Sub(0)), Weight: weightBelief})
		case history.GotIt, history.Died:
		}
	}
}
