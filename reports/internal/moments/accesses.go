package moments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

func (s *story) access(a *history.Access) {
	who := s.v.Holder(a.Acquisition, a.Client)
	if s.v.History.Passed(a) && s.v.Run.Log == nil {
		who += "'s job"
	}
	m := Moment{
		At: a.Applied, Place: PlaceOfAccess(a), order: OrderEffect, Who: who, Weight: weightWrite,
	}
	sign := timeline.SignAccepted
	switch {
	case a.Applied == trace.Never:
		sign, m.At = timeline.SignUnknown, a.Invoked
	case s.v.Harmful[a]:
		sign, m.Ink, m.Weight = timeline.SignHarmful, paint.Red, weightDamage
	case !a.Accepted:
		sign, m.Ink, m.Weight = timeline.SignRefused, paint.Green, weightWrite+10
	case a.Op == history.Read:
		sign, m.Weight = timeline.SignRead, weightRead
	case a.Op == history.Check:
		m.Weight = weightRead
	}
	m.Label = strings.ToUpper(a.Op.String()[:1]) + mark(s.v, a)
	m.Sign = sign
	m.Text = s.accessWords(a)
	s.add(m, a.Acquisition)
}

// accessWords says what was asked of the resource, and how it decided.
func (s *story) accessWords(a *history.Access) string {
	if s.commits(a) {
		return s.commitWords(a)
	}
	text := map[history.Op]string{
		history.Read: "reads", history.Check: "asks whether it may write", history.Write: "writes",
	}[a.Op] + RegisterName(s.v, a)
	text += s.shownWords(a)
	switch {
	case a.Applied == trace.Never && a.Returned != trace.Never:
		return text + ": is answered with an error, and nothing is done"
	case a.Applied == trace.Never && s.v.Underway(a):
		return text + ": it is on its way when the run ends"
	case a.Applied == trace.Never:
		return text + ": it never arrives"
	case !a.Accepted && a.Token < a.MaxToken && s.v.History.Fencing.NeedsToken():
		return text + fmt.Sprintf(": refused, since %s has been seen", wording.TokenText(a.MaxToken))
	case !a.Accepted && a.Overtaken() && s.v.History.Fencing.NeedsToken():
		i := slices.IndexFunc(a.With, func(o history.Shown) bool { return o.Token < o.MaxToken })
		return text + fmt.Sprintf(": refused, since %s of %s has been seen", wording.TokenText(a.With[i].MaxToken),
			s.v.History.LockOf(a.With[i].Acquisition))
	case !a.Accepted && (s.v.History.Fencing == history.TokenEquality || s.v.History.Fencing == history.CompareAndSet):
		return text + ": refused, since another access came in between"
	case !a.Accepted:
		return text + ": refused"
	case a.Version == history.NoVersion && a.Op == history.Read:
		return text
	case a.Version == history.NoVersion:
		return text + ": accepted"
	case a.Op == history.Read && s.v.Harmful[a]:
		return text + fmt.Sprintf(": finds version %d, DAMAGE", s.v.Version(a))
	case a.Op == history.Read:
		return text + fmt.Sprintf(": finds version %d", s.v.Version(a))
	case a.Op == history.Check:
		return text + ": it may"
	case s.v.Harmful[a]:
		return text + fmt.Sprintf(": accepted as version %d, DAMAGE", s.v.Version(a))
	}
	return text + fmt.Sprintf(": accepted as version %d", s.v.Version(a))
}

// shownWords say which tokens an access shows, and of which locks if there are several.
func (s *story) shownWords(a *history.Access) string {
	text := ""
	if a.Token != 0 {
		text = " with token " + wording.TokenText(a.Token)
	}
	for i, o := range a.With {
		if text != "" && i == 0 {
			text += " of " + s.v.History.LockOf(a.Acquisition)
		}
		if o.Token != 0 {
			text += " and token " + wording.TokenText(o.Token) + " of " + s.v.History.LockOf(o.Acquisition)
		}
	}
	return text
}

// commits reports whether a write had been answered before it was decided what becomes of it: it is part of a
// transaction.
func (s *story) commits(a *history.Access) bool {
	return a.Op == history.Write && a.Applied != trace.Never && a.Invoked < a.Returned && a.Returned <= a.Applied
}

func (s *story) commitWords(a *history.Access) string {
	text := "has its write of register " + strconv.Itoa(a.Register)
	switch {
	case !a.Accepted:
		return text + " rolled back"
	case s.v.Harmful[a]:
		return text + fmt.Sprintf(" committed as version %d, DAMAGE", s.v.Version(a))
	}
	return text + fmt.Sprintf(" committed as version %d", s.v.Version(a))
}
