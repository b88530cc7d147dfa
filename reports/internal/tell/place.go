package tell

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/moments"
)

func (t *narrator) placeOfBelief(a *history.Acquisition) moments.Place {
	return moments.Place{Lane: moments.BeliefLane(t.who(a)), Key: fmt.Sprintf("belief %d", a.ID)}
}

func (t *narrator) placeOfGrant(g *history.Grant) moments.Place {
	return moments.Place{Lane: moments.GrantLane(t.v.Holder(g.Acquisition, g.Client)), Key: fmt.Sprintf("grant %d", g.Acquisition)}
}

func (t *narrator) placeOfCopy(c *history.Copy) moments.Place {
	return moments.Place{Lane: moments.NodeLane(c.Node), Key: fmt.Sprintf("copy %d", c.Acquisition)}
}

func placeOfRemoval(r *history.Removal) moments.Place {
	return moments.Place{Lane: moments.NodeLane(r.Node), Key: fmt.Sprintf("removal %d", r.By)}
}

func placeOfAccess(x *history.Access) moments.Place {
	return moments.Place{Lane: moments.StorageLane, Key: fmt.Sprintf("%s %d %d", x.Op, x.Acquisition, x.Register)}
}
