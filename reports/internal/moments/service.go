package moments

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// elections tell which server became master or leader, and which ceased to be, as far as that is not told as the fault
// that it was.
func (s *story) elections() {
	_, nodes := s.v.Servers().Role()
	for i := range s.v.Roles {
		e := &s.v.Roles[i]
		text := ""
		switch {
		case e.Does == trace.Promote && nodes:
			text = "becomes " + s.v.Servers().Leads()
		case e.Does == trace.Promote:
			text = "has a new " + s.v.Servers().Leads()
		case e.Does == trace.Demote && nodes:
			text = "is " + s.v.Servers().Leads() + " no longer"
		}
		told := slices.ContainsFunc(s.v.Faults, func(f model.Fault) bool {
			return f.Kind == sim.Promote && f.Begin == e.At && (f.Node == e.Node) == (e.Does == trace.Promote)
		})
		if text == "" || told {
			continue
		}
		s.add(Moment{
			At: e.At, Place: Place{NodeLane(e.Node), e.Does.String()}, order: OrderFault, Who: e.Node, Text: text,
			Weight: weightElection,
		})
	}
}

// grants tells when the service gave the lock, and when what it gave was over.
func (s *story) grants() {
	lent := map[*history.Copy]bool{}
	for i := range s.v.History.Grants {
		g := &s.v.History.Grants[i]
		if !s.v.Within(g.From, g.To) {
			continue
		}
		token := g.Token
		if a := s.v.History.Acquisition(g.Acquisition); a != nil && s.v.DrawnLater(a, g) {
			token = 0
		}
		text := fmt.Sprintf("is granted the lock%s%s", ByServers(s.v, g), tokenNote(s.v, token))
		if g.Acquisition == 0 {
			text = "somebody who is gone is granted the lock" + ByServers(s.v, g)
		}
		who := s.v.Holder(g.Acquisition, g.Client)
		weight, k := weightGrant, paint.Plain
		if a := s.v.History.Acquisition(g.Acquisition); a != nil {
			of, what := Lender(s.v, a, g)
			if of != nil && lent[of] { // told already
				continue
			}
			lent[of] = of != nil
			switch {
			case of != nil && g.From <= a.Returned:
				text = "its " + what + " prolongs " + s.v.EntryOf(s.v.Holder(of.Acquisition, of.Client)) + " as if it were its own"
			case of != nil:
				text = "a renewal prolongs " + s.v.EntryOf(s.v.Holder(of.Acquisition, of.Client)) + " as if it were its own"
			case a.Returned < g.From:
				text = s.late(a, g, i, text)
			}
			if of != nil || a.Returned < g.From {
				weight, k = weightLoss, paint.Amber
			}
		}
		s.add(Moment{
			At: g.From, Place: PlaceOfGrant(s.v, g), step: StepOfGrant(s.v, g), order: OrderService,
			Who: who, Text: text, Ink: k, Weight: weight,
		}, g.Acquisition)
		s.grantEnds(g, who)
	}
}

// late says what a grant is to a client whose Lock has returned: the i-th of all, of which a text would be said otherwise.
func (s *story) late(a *history.Acquisition, g *history.Grant, i int, text string) string {
	first := !slices.ContainsFunc(s.v.History.Grants[:i], func(o history.Grant) bool { return o.Acquisition == g.Acquisition })
	switch believes := s.v.BelievesAt(g.Acquisition, g.From); {
	case believes && first:
		return text + " only now, and believes so already"
	case believes, s.v.KeepsAt(g, g.From):
		return fmt.Sprintf("is granted the lock again%s, by a %s", ByServers(s.v, g), s.again(a, g.From))
	}
	return text + ", and no longer waits for it"
}

func (s *story) grantEnds(g *history.Grant, who string) {
	switch {
	case g.To > s.v.History.End, s.v.KeepsAt(g, g.To):
		return
	case g.Ended == history.ByUnlock && !s.v.BelievesAt(g.Acquisition, g.To): // the unlock that ended it is told already
		return
	}
	text, sign := "the lease is over", timeline.SignExpired
	if Bereft(s.v, g) {
		text = "what it was promised is over"
		if a := s.v.History.Acquisition(g.Acquisition); a != nil && a.Outcome == history.OK && a.HasDeadline && a.Deadline < g.To {
			text = "the time that it was granted is over" // it was promised what it stated
		}
	}
	var weight int
	switch holds := s.v.Servers().Holds(); {
	case g.Ended == history.ByUnlock:
		text, sign = "a request of its own ends what was granted", timeline.SignDeleted
	case g.Ended == history.BySessionLoss, holds == "session":
		text = "the " + holds + " is over"
	}
	k := paint.Plain
	if s.v.BelievesAt(g.Acquisition, g.To) && !s.believesFrom(g) {
		text += ", and " + who + " still believes"
		weight, k = weightLoss, paint.Amber
	} else if s.believesFrom(g) {
		weight, k = weightLoss, paint.Amber
	} else if s.v.DiedHolding(g.Acquisition) {
		text += "; its holder is dead"
		weight = weightBelief
	} else {
		weight = weightTrivia
	}
	s.add(Moment{
		At: g.To, Place: PlaceOfGrant(s.v, g).Ended(), step: StepOfEnd(s.v, g), order: OrderLoss,
		Sign: sign, Who: who, Text: text, Ink: k, Weight: weight,
	}, g.Acquisition)
}

// believesFrom reports whether a client begins to believe at the moment at which its grant is over, after that.
func (s *story) believesFrom(g *history.Grant) bool {
	a := s.v.History.Acquisition(g.Acquisition)
	return a.Returned == g.To && StepOfEnd(s.v, g) < StepAt(s.v, a.Returned, OrderBelief, PlaceOfBelief(s.v, a))
}

// Bereft reports whether nothing of a grant is left when its time is over: a request deleted or replaced its entry before, or it prolonged
// another's only.
func Bereft(v *model.View, g *history.Grant) bool {
	if g.Ended != history.ByDeadline {
		return false
	}
	taken := false
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if c.Acquisition != g.Acquisition || c.From >= g.To || c.To <= g.From {
			continue
		}
		if c.To >= g.To {
			return false
		}
		taken = taken || c.Gone == history.Deleted || c.Gone == history.Overwritten
	}
	a := v.History.Acquisition(g.Acquisition)
	if taken || a == nil {
		return taken
	}
	of, _ := Lender(v, a, g)
	return of != nil
}

// again says by what kind of request a holder was granted the lock once more: one that was sent when Lock had returned is not late,
// whatever its servers take it for.
func (s *story) again(a *history.Acquisition, at trace.Instant) string {
	if slices.ContainsFunc(s.v.Run.Events, func(e trace.Event) bool {
		return e.At == at && e.Does == trace.Execute && e.Peer == a.Client && (e.Alt == trace.ToRenew || s.v.SentAt(&e) > a.Returned)
	}) {
		return "renewal"
	}
	return "late request of its own"
}

// Lender returns the entry of another client on which a grant rests, and the request that prolonged it; nil if there is none. A request for the
// lock does so if servers then have nothing of its sender's.
func Lender(v *model.View, a *history.Acquisition, g *history.Grant) (of *history.Copy, what string) {
	asks := g.From <= a.Returned
	if asks && (v.Servers().Holds() != "" || slices.ContainsFunc(v.History.Copies, func(c history.Copy) bool { return StoodOn(&c, g) })) {
		return nil, ""
	}
	for k := range v.History.Copies {
		c := &v.History.Copies[k]
		made := v.History.Acquisition(c.Acquisition)
		own := c.Acquisition == a.ID || made != nil && model.SameOwner(made, a)
		if own || c.From > g.From || g.From >= c.To || asks && c.Expires == trace.Never {
			continue
		}
		of := func(purpose string) *trace.Event {
			return first(v, g.From, func(e *trace.Event) bool {
				return e.Does == trace.Execute && e.Node == c.Node && e.Peer == a.Client && e.Alt == purpose && (!asks || e.For == int(a.ID))
			})
		}
		e := of(trace.ToRenew)
		if e == nil && asks {
			e = of(trace.ToAcquire)
		}
		if e != nil {
			return c, e.What
		}
	}
	return nil, ""
}
