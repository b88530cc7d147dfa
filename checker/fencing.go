package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
)

// Fencing order: a grant that was executed after another one has the larger token; an equal one would not do. A
// second grant of the same acquisition is another try of the same holder, and is compared with the others only.

func (j *judge) fencingOrder() {
	switch {
	case !j.h.HasTokens:
		j.pass(FencingOrder, noTokens)
		return
	case j.h.Logged:
		j.loggedOrder()
		return
	case !j.h.HasAuthority:
		j.pass(FencingOrder, noAuthority)
		return
	case !slices.ContainsFunc(j.h.Grants, func(g history.Grant) bool { return g.Token != 0 }):
		j.pass(FencingOrder, noGrantedToken)
		return
	}
	order := grantsByTime(j.h.Grants)
	var most, other *history.Grant // the grant of the largest token so far, and that of another acquisition
	violated, dangers := false, 0
	for _, g := range order {
		if g.Token == 0 {
			continue
		}
		rival := most
		if most != nil && sameAcquisition(g, most) {
			rival = other
		}
		if rival != nil {
			dangers++
			if rival.Token >= g.Token {
				violated = true
				j.tellBackwards(rival, g)
			}
		}
		switch {
		case most == nil || g.Token > most.Token:
			if most != nil && !sameAcquisition(g, most) {
				other = most
			}
			most = g
		case !sameAcquisition(g, most) && (other == nil || g.Token > other.Token):
			other = g
		}
	}
	j.conclude(FencingOrder, violated, dangers)
}

// forgotToken reports whether the resource would have refused an access that did damage, had all accesses until then shown
// the tokens that their clients had. It decides again what was accepted, by the rule of its mode.
func (j *judge) forgotToken(v *Violation) bool {
	if !j.h.Fencing.NeedsToken() || !slices.ContainsFunc(j.h.Accesses, func(x history.Access) bool { return j.h.Tokenless(&x) }) {
		return false
	}
	order := make([]*history.Access, 0, len(j.h.Accesses))
	for i := range j.h.Accesses {
		if x := &j.h.Accesses[i]; x.Accepted && x.Applied <= v.At {
			order = append(order, x)
		}
	}
	slices.SortStableFunc(order, func(a, b *history.Access) int { return cmp.Compare(a.Applied, b.Applied) })
	largest := make([]uint64, j.h.Registers)
	for _, x := range order {
		token := x.Token
		if j.h.Tokenless(x) {
			token = j.h.Acquisition(x.Acquisition).Token
		}
		free := x.Op == history.Read && j.h.Fencing != history.FencedReadWrite || x.Op == history.Write && j.h.Fencing == history.CheckThenWrite
		if !free && token < largest[x.Register] && slices.Contains(v.Acquisitions, x.Acquisition) {
			return true
		}
		if x.Op == history.Write || x.Op == history.Read && j.h.Fencing == history.FencedReadWrite {
			largest[x.Register] = max(largest[x.Register], token)
		}
	}
	return false
}

func sameAcquisition(a, b *history.Grant) bool {
	return a.Acquisition != 0 && a.Acquisition == b.Acquisition
}

func (j *judge) tellBackwards(before, after *history.Grant) {
	kind := "token went backwards"
	if before.Token == after.Token {
		kind = "token handed out twice"
	}
	j.accuse(Violation{
		Property:     FencingOrder,
		Kind:         kind,
		At:           after.From,
		Acquisitions: []history.ID{before.Acquisition, after.Acquisition},
		Text: fmt.Sprintf("%s was granted token %d at %s, %s token %d later, at %s",
			j.who(before.Acquisition), before.Token, before.From, j.who(after.Acquisition), after.Token, after.From),
	})
}

// grantsByTime returns the grants in the order of their execution: those of one moment in the order of their record.
func grantsByTime(grants []history.Grant) []*history.Grant {
	order := make([]*history.Grant, len(grants))
	for i := range grants {
		order[i] = &grants[i]
	}
	slices.SortStableFunc(order, func(a, b *history.Grant) int { return cmp.Compare(a.From, b.From) })
	return order
}
