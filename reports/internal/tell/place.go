package tell

import (
	"cmp"
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
)

// The lanes of a picture are known by their names.
const (
	OverlapLane = "overlap"
	NetworkLane = "network"
	StorageLane = "storage"
	DamageLane  = "damage"
)

// BeliefLane is the lane of what a client or one of its tasks believes.
func BeliefLane(who string) string { return who + " believes" }

// GrantLane is the lane of what the service granted to a client or one of its tasks.
func GrantLane(who string) string { return who + " granted" }

// NodeLane is the lane of what a server keeps.
func NodeLane(node string) string { return node }

// spot is what a moment of the picture is known by.
type spot struct{ lane, key string }

func (t *narrator) placeOfBelief(a *history.Acquisition) spot {
	return spot{BeliefLane(t.who(a)), fmt.Sprintf("belief %d", a.ID)}
}

func (t *narrator) placeOfGrant(g *history.Grant) spot {
	return spot{GrantLane(t.v.Holder(g.Acquisition, g.Client)), fmt.Sprintf("grant %d", g.Acquisition)}
}

func (t *narrator) placeOfCopy(c *history.Copy) spot {
	return spot{NodeLane(c.Node), fmt.Sprintf("copy %d", c.Acquisition)}
}

func placeOfRemoval(r *history.Removal) spot {
	return spot{NodeLane(r.Node), fmt.Sprintf("removal %d", r.By)}
}

func placeOfAccess(x *history.Access) spot {
	return spot{StorageLane, fmt.Sprintf("%s %d %d", x.Op, x.Acquisition, x.Register)}
}

// ended is the place of the end of what has a place.
func (p spot) ended() spot { return spot{p.lane, p.key + " ends"} }

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

func register(v *model.View, a *history.Access) string {
	if v.History.Registers < 2 {
		return ""
	}
	return fmt.Sprintf(" register %d", a.Register)
}

// mark is how the storage lane calls the sender of an access: by the token, or else by the name.
func mark(v *model.View, a *history.Access) string {
	text := cmp.Or(tokenMark(a.Token), ":"+v.Holder(a.Acquisition, a.Client))
	if v.History.Registers > 1 {
		text += fmt.Sprintf(".%d", a.Register)
	}
	return text
}
