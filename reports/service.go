package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// elections tell which server became master or leader, and which ceased to be, as far as that is not told as the fault
// that it was.
func (s *story) elections() {
	role, nodes := s.v.servers().Role()
	for i := range s.v.roles {
		e := &s.v.roles[i]
		text := ""
		switch {
		case e.Does == trace.Promote && nodes:
			text = "becomes " + role
		case e.Does == trace.Promote:
			text = "has a new " + role
		case e.Does == trace.Demote && nodes:
			text = "is " + role + " no longer"
		}
		told := slices.ContainsFunc(s.v.faults, func(f fault) bool {
			return f.fired && f.kind == "promote" && f.begin == e.At && (f.node == e.Node) == (e.Does == trace.Promote)
		})
		if text == "" || told {
			continue
		}
		s.add(moment{
			at: e.At, lane: laneNode(e.Node), order: orderFault, key: e.Does.String(), who: e.Node, text: text,
			weight: weightElection,
		})
	}
}

// grants tells when the service gave the lock, and when what it gave was over.
func (s *story) grants() {
	for i := range s.v.h.Grants {
		g := &s.v.h.Grants[i]
		if !s.v.within(g.From, g.To) {
			continue
		}
		text := fmt.Sprintf("is granted the lock%s%s", s.v.byServers(g), s.v.tokenNote(g.Token))
		if g.Acquisition == 0 {
			text = "somebody who is gone is granted the lock" + s.v.byServers(g)
		}
		who := s.v.holder(g.Acquisition, g.Client)
		weight, k := weightGrant, plain
		if a := s.v.h.Acquisition(g.Acquisition); a != nil && a.Returned < g.From {
			text += ", and no longer waits for it"
			if s.v.believesAt(g.Acquisition, g.From) {
				text = fmt.Sprintf("is granted the lock again%s, by a late request of its own", s.v.byServers(g))
			}
			weight, k = weightLoss, amber
		}
		s.add(moment{
			at: g.From, lane: laneTruth(who), order: orderService, key: fmt.Sprintf("grant %d", g.Acquisition),
			who: who, text: text, ink: k, weight: weight,
		}, g.Acquisition)
		s.grantEnds(g, who)
	}
}

func (s *story) grantEnds(g *history.Grant, who string) {
	if g.To > s.v.h.End || g.Ended == history.ByUnlock && !s.v.believesAt(g.Acquisition, g.To) {
		return // the unlock that ended it is told already
	}
	text, sign := "the lease is over", SignExpired
	var weight int
	switch holds := s.v.servers().Holds(); {
	case g.Ended == history.ByUnlock:
		text, sign = "a release ends what was granted", SignDeleted
	case g.Ended == history.BySessionLoss, holds == "session":
		text = "the " + holds + " is over"
	}
	k := plain
	if s.v.believesAt(g.Acquisition, g.To) {
		text += ", and " + who + " still believes"
		weight, k = weightLoss, amber
	} else if s.v.diedHolding(g.Acquisition) {
		text += "; its holder is dead"
		weight = weightBelief
	} else {
		weight = weightTrivia
	}
	s.add(moment{
		at: g.To, lane: laneTruth(who), order: orderService, key: fmt.Sprintf("grant %d ends", g.Acquisition),
		sign: sign, who: who, text: text, ink: k, weight: weight,
	}, g.Acquisition)
}
