package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

func (s *story) access(a *history.Access) {
	who := s.v.holder(a.Acquisition, a.Client)
	m := moment{
		at: a.Applied, lane: laneStorage, order: orderEffect, who: who, weight: weightWrite,
		key: fmt.Sprintf("%s %d %d", a.Op, a.Acquisition, a.Register),
	}
	sign := SignAccepted
	switch {
	case a.Applied == trace.Never:
		sign, m.at = SignUnknown, a.Invoked
	case s.v.harmful[a]:
		sign, m.ink, m.weight = SignHarmful, red, weightDamage
	case !a.Accepted:
		sign, m.ink, m.weight = SignRefused, green, weightWrite+10
	case a.Op == history.Read:
		sign, m.weight = SignRead, weightRead
	case a.Op == history.Check:
		m.weight = weightRead
	}
	m.label = strings.ToUpper(a.Op.String()[:1]) + s.v.mark(a)
	m.sign = sign
	m.text = s.accessWords(a)
	s.add(m, a.Acquisition)
}

// accessWords says what was asked of the resource, and how it decided.
func (s *story) accessWords(a *history.Access) string {
	if s.commits(a) {
		return s.commitWords(a)
	}
	text := map[history.Op]string{
		history.Read: "reads", history.Check: "asks whether it may write", history.Write: "writes",
	}[a.Op] + s.v.register(a)
	if a.Token != 0 {
		text += " with token " + tokenText(a.Token)
	}
	switch {
	case a.Applied == trace.Never && a.Returned != trace.Never:
		return text + ": is answered with an error, and nothing is done"
	case a.Applied == trace.Never && s.v.underway(a):
		return text + ": it is on its way when the run ends"
	case a.Applied == trace.Never:
		return text + ": it never arrives"
	case !a.Accepted && a.Token < a.MaxToken && s.v.h.Fencing.NeedsToken():
		return text + fmt.Sprintf(": refused, since %s has been seen", tokenText(a.MaxToken))
	case !a.Accepted:
		return text + ": refused"
	case a.Op == history.Read && s.v.harmful[a]:
		return text + fmt.Sprintf(": finds version %d, DAMAGE", s.v.version(a))
	case a.Op == history.Read:
		return text + fmt.Sprintf(": finds version %d", s.v.version(a))
	case a.Op == history.Check:
		return text + ": it may"
	case s.v.harmful[a]:
		return text + fmt.Sprintf(": accepted as version %d, DAMAGE", s.v.version(a))
	}
	return text + fmt.Sprintf(": accepted as version %d", s.v.version(a))
}

// commits reports whether a write had been answered before it was decided what becomes of it: it is part of a
// transaction.
func (s *story) commits(a *history.Access) bool {
	return a.Op == history.Write && a.Applied != trace.Never && a.Invoked < a.Returned && a.Returned <= a.Applied
}

// undecided says what an access is between its invocation and the decision of the resource: under way to it, or, of a
// database, not much longer than that, but part of a transaction for as long as that is open.
func (v *view) undecided() string {
	if v.run.Case.Scenario.Resource.Guarded && v.servers().Holds() == "connection" {
		return "not yet committed"
	}
	return "on its way"
}

func (s *story) commitWords(a *history.Access) string {
	text := "has its write of register " + strconv.Itoa(a.Register)
	switch {
	case !a.Accepted:
		return text + " rolled back"
	case s.v.harmful[a]:
		return text + fmt.Sprintf(" committed as version %d, DAMAGE", s.v.version(a))
	}
	return text + fmt.Sprintf(" committed as version %d", s.v.version(a))
}

// damages are the violations that befell the resource.
func (v *view) damages() []checker.Violation {
	var list []checker.Violation
	for _, x := range v.run.Report.Violations {
		if x.Property == checker.Resource {
			list = append(list, x)
		}
	}
	return list
}
