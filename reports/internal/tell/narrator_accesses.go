package tell

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/trace"
)

// accesses tells of an access to the resource.
func (t *narrator) accesses(a *history.Access) {
	who, without := t.v.Holder(a.Acquisition, a.Client), ""
	if t.v.History.Passed(a) && t.v.Run.Log == nil {
		who += "'s job"
	}
	if t.v.History.Tokenless(a) && t.v.History.Fencing.NeedsToken() {
		without = " without its token"
	}
	if a.Applied == trace.Never {
		fate := "never arrives"
		if t.v.Underway(a) {
			fate = "is on its way when the run ends"
		}
		if a.Returned == trace.Never {
			t.tell(a.Invoked, moments.OrderEffect, who+"'s "+a.Op.String()+t.ofRegister(a), fate, moments.PlaceOfAccess(a))
		}
		return
	}
	of := t.v.History.Acquisition(a.Acquisition)
	givenUp := of != nil && a.Invoked < of.Unlocked && of.Unlocked <= a.Applied
	arrives := a.Applied.Sub(a.Invoked) >= t.soon() || t.pausedAt(a.Client, a.Applied) || givenUp
	switch {
	case a.Op == history.Check && a.Accepted:
		t.tell(a.Applied, moments.OrderEffect, who, "asks whether it may write and is told that it may", moments.PlaceOfAccess(a))
	case !a.Accepted:
		t.tell(a.Applied, moments.OrderEffect, who+"'s "+a.Op.String()+t.ofRegister(a), "is refused", moments.PlaceOfAccess(a))
	case a.Op == history.Write && t.overtaken(a.Register):
		if arrives {
			t.tell(a.Applied, moments.OrderEffect, who+"'s write"+t.ofRegister(a), "arrives"+here+" and is accepted", moments.PlaceOfAccess(a))
		} else {
			t.tell(a.Applied, moments.OrderEffect, who, "writes"+t.ofRegister(a), moments.PlaceOfAccess(a))
		}
	case arrives && a.Op == history.Write:
		t.tell(a.Applied, moments.OrderEffect, who+"'s write"+t.ofRegister(a), "arrives"+here+" and becomes version "+t.versionText(a), moments.PlaceOfAccess(a))
	case arrives:
		t.tell(a.Applied, moments.OrderEffect, who+"'s read"+t.ofRegister(a), "arrives"+here+" and finds version "+t.versionText(a), moments.PlaceOfAccess(a))
	default:
		t.tell(a.Applied, moments.OrderEffect, who, a.Op.String()+"s version "+t.versionText(a)+t.ofRegister(a)+without, moments.PlaceOfAccess(a))
	}
}

// overtaken reports whether a write of a register came later than one that was sent after it. The numbers of versions,
// which writes have from when they are sent, then confuse.
func (t *narrator) overtaken(register int) bool {
	var writes []*history.Access
	for i := range t.v.History.Accesses {
		if a := &t.v.History.Accesses[i]; a.Op == history.Write && a.Accepted && a.Register == register {
			writes = append(writes, a)
		}
	}
	slices.SortStableFunc(writes, func(a, b *history.Access) int { return cmp.Compare(a.Applied, b.Applied) })
	return !slices.IsSortedFunc(writes, func(a, b *history.Access) int { return cmp.Compare(a.Version, b.Version) })
}

func (t *narrator) versionText(a *history.Access) string {
	return strconv.FormatUint(t.v.Version(a), 10)
}

// ofRegister names the register of an access where there are several.
func (t *narrator) ofRegister(a *history.Access) string {
	if text := moments.RegisterName(t.v, a); text != "" {
		return " of" + text
	}
	return ""
}
