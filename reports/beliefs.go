package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

func (s *story) belief(a *history.Acquisition) {
	b, ok := a.Belief()
	who := s.v.holder(a.ID, a.Client)
	lane := laneBelief(who)
	if !ok {
		s.noBelief(a, who)
		return
	}
	text, k := "believes that it holds the lock"+s.v.tokenNote(a.Token), plain
	if s.v.entersAgain(a) {
		text = "enters the lock again, which it holds"
	}
	if a.HasDeadline && a.Deadline != trace.Never {
		text += ", its lease says until " + Precise(a.Deadline.Sub(0))
	}
	weight := weightBelief
	if doubt := s.v.ungranted(a); doubt != "" {
		text, k, weight = text+doubt, amber, weightLoss
	}
	others := s.v.believersAt(b.From, a)
	if len(others) > 0 {
		verb := "believe"
		if len(others) == 1 {
			verb = "believes"
		}
		text += ", while " + listing(others) + " " + verb + " so too"
		weight, k = weightLoss, amber
	}
	s.add(moment{
		at: b.From, lane: lane, order: orderBelief, key: fmt.Sprintf("belief %d", a.ID), label: tokenMark(a.Token), sign: SignBegins,
		who: who, text: text, ink: k, weight: weight,
	}, a.ID)
	if b.To > s.v.h.End || b.Ended == history.ByCrash {
		return // a crash is told as the fault that it is
	}
	order := orderBelief
	if b.Ended == history.ByUnlock {
		order = orderUnlock
	}
	s.add(moment{
		at: b.To, lane: lane, order: order, key: fmt.Sprintf("belief %d ends", a.ID), sign: SignEnds,
		who: who, text: s.endOfBelief(a, b), weight: weightUnlock,
	}, a.ID)
}

// ungranted says that what an acquisition begins to believe is not so: nothing was granted to it, or that is over. Who
// enters its lock again needs no grant for that.
func (v *view) ungranted(a *history.Acquisition) string {
	switch g := v.lastGrant(a.ID, a.Returned); {
	case !v.h.HasAuthority || v.entersAgain(a):
	case g == nil:
		return ", but has not been granted it"
	case g.To <= a.Returned:
		return ", but what it was granted is over"
	}
	return ""
}

// endOfBelief says why a client believes no longer. A notice after which it unlocks at once is what ended the belief.
func (s *story) endOfBelief(a *history.Acquisition, b history.Belief) string {
	heeds := a.Style == history.Careful || a.Style == history.Attentive && a.CanLearn
	switch {
	case b.Ended == history.ByDeadline:
		return "its own deadline passes: it no longer believes"
	case heeds && a.Noticed == b.To && s.v.grantedAt(a.ID, b.To):
		return "can no longer be sure that it holds, and stops"
	case heeds && a.Noticed == b.To:
		return "learns that it no longer holds"
	}
	return s.unlockWords(a)
}

// slowAnswer is how long an answer takes that is told with its time.
const slowAnswer = trace.Instant(time.Second)

// unlockWords says that a client unlocks, and what it is told.
func (s *story) unlockWords(a *history.Acquisition) string {
	when := ""
	if a.Released != trace.Never && a.Released > a.Unlocked+slowAnswer {
		when = " at " + Precise(a.Released.Sub(0))
	}
	switch a.Release {
	case history.Failed:
		return "unlocks, and is told" + when + " that the lock was not its own"
	case history.Refused:
		return "unlocks, and gets an error" + when + s.v.staysOn(a)
	case history.Unknown:
		return "unlocks, and gets no answer"
	case history.Pending:
		return "unlocks, and Unlock does not return"
	case history.OK:
	}
	return "unlocks"
}

// staysOn names the servers that are up and still have an acquisition's entry when its release has failed.
func (v *view) staysOn(a *history.Acquisition) string {
	var names []string
	for i := range v.h.Copies {
		c := &v.h.Copies[i]
		if c.Acquisition == a.ID && c.From <= a.Released && a.Released < c.To && !v.isDown(c.Node, a.Released) {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": its " + v.servers().Entry() + " stays on " + listing(names)
}

// grantedAt reports whether what an acquisition was granted lasts at that moment.
func (v *view) grantedAt(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(v.h.Grants, func(g history.Grant) bool {
		return g.Acquisition == id && g.From <= at && at < g.To
	})
}

// noBelief tells of acquisitions that ended in doubt, or too late.
func (s *story) noBelief(a *history.Acquisition, who string) {
	var text string
	weight := weightGrant
	switch a.Outcome {
	case history.Unknown:
		text = "cannot know whether it got the lock, and believes nothing"
	case history.OK:
		text = "gets the lock after its own deadline, and does not believe"
	case history.Failed:
		text, weight = "does not get the lock", weightTrivia
	default:
		return
	}
	s.add(moment{
		at: a.Returned, lane: laneBelief(who), order: orderBelief, key: fmt.Sprintf("no belief %d", a.ID), who: who,
		text: text, weight: weight,
	}, a.ID)
}

func (s *story) waits() {
	for i := range s.v.h.Waits {
		w := &s.v.h.Waits[i]
		who := s.v.waiter(w)
		switch w.Ended {
		case history.GaveUp:
			s.add(moment{at: w.To, lane: laneBelief(who), order: orderBelief, key: "wait ends", who: who,
				text: "gives up after " + Precise(w.To.Sub(w.From)), weight: weightGrant})
		case history.StillWaiting:
			s.add(moment{at: s.v.h.End, lane: laneBelief(who), order: orderBelief, key: "waits", who: who,
				text: "still waits, since " + Precise(w.From.Sub(0)), weight: weightBelief})
		case history.GotIt, history.Died:
		}
	}
}
