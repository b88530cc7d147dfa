package moments

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
)

// The lanes of a picture are known by their names.
const (
	OverlapLane = "overlap"
	NetworkLane = "network"
	StorageLane = "storage"
	FateLane    = "inevitable"
	DamageLane  = "damage"
)

// BeliefLane is the lane of what a client or one of its tasks believes.
func BeliefLane(who string) string { return who + " believes" }

// GrantLane is the lane of what the service granted to a client or one of its tasks.
func GrantLane(who string) string { return who + " granted" }

// NodeLane is the lane of what a server keeps.
func NodeLane(node string) string { return node }

// KeyLane is the lane of what a server keeps of one of several locks.
func KeyLane(node, lock string) string { return strings.TrimSuffix(NodeLane(node)+" "+lock, " ") }

// keyLane is the lane of what a server keeps of the lock of an acquisition.
func keyLane(v *model.View, node string, id history.ID) string {
	if !v.Several() {
		return NodeLane(node)
	}
	return KeyLane(node, v.History.LockOf(id))
}

// Place is what a moment of the picture is known by: its lane, and what tells moments of one instant and lane apart, whatever
// the run.
type Place struct{ Lane, Key string }

// Ended is the place of the end of what has a place.
func (p Place) Ended() Place { return Place{p.Lane, p.Key + " ends"} }

// PlaceOfBelief is where a client begins to believe that it holds.
func PlaceOfBelief(v *model.View, a *history.Acquisition) Place {
	return Place{BeliefLane(v.Holder(a.ID, a.Client)), fmt.Sprintf("belief %d", a.ID)}
}

// PlaceOfGrant is where the service grants the lock.
func PlaceOfGrant(v *model.View, g *history.Grant) Place {
	return Place{GrantLane(v.Holder(g.Acquisition, g.Client)), fmt.Sprintf("grant %d", g.Acquisition)}
}

// PlaceOfCopy is where a server loses what it kept.
func PlaceOfCopy(v *model.View, c *history.Copy) Place {
	return Place{keyLane(v, c.Node, c.Acquisition), fmt.Sprintf("copy %d", c.Acquisition)}
}

// PlaceOfReturn is where a server comes back with what it had kept before.
func PlaceOfReturn(v *model.View, c *history.Copy) Place {
	return Place{keyLane(v, c.Node, c.Acquisition), fmt.Sprintf("again %d", c.Acquisition)}
}

// PlaceOfRemoval is where a release deletes what a server kept.
func PlaceOfRemoval(v *model.View, r *history.Removal) Place {
	return Place{keyLane(v, r.Node, r.By), fmt.Sprintf("removal %d", r.By)}
}

// PlaceOfAccess is where the resource decides on an access.
func PlaceOfAccess(x *history.Access) Place {
	return Place{StorageLane, fmt.Sprintf("%s %d %d", x.Op, x.Acquisition, x.Register)}
}

// tokenNote tells a token. Of a lock without tokens a grant may have a number too: whatever the server replied.
func tokenNote(v *model.View, token uint64) string {
	if token == 0 || !v.History.HasTokens {
		return ""
	}
	return ", token " + wording.TokenText(token)
}

// mostTokenLetters is how long a token may be to stand on a lane.
const mostTokenLetters = 4

// tokenMark is a token on a lane; "" if there is none, or one that is too long.
func tokenMark(token uint64) string {
	if text := wording.TokenText(token); token != 0 && len(text) <= mostTokenLetters {
		return text
	}
	return ""
}

// RegisterName names the register of an access where there are several.
func RegisterName(v *model.View, a *history.Access) string {
	if v.History.Registers < 2 {
		return ""
	}
	return fmt.Sprintf(" register %d", a.Register)
}

// mark is how the storage lane calls the sender of an access: by the token, or else by the name.
func mark(v *model.View, a *history.Access) string {
	text := cmp.Or(tokenMark(a.Token), ":"+model.ClientOf(v.Holder(a.Acquisition, a.Client)))
	if v.History.Registers > 1 {
		text += fmt.Sprintf(".%d", a.Register)
	}
	return text
}
