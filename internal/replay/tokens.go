package replay

import (
	"fmt"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// granted is an acquisition whose token was handed out between two moments: an answer to its request had come, and Lock had
// not returned.
type granted struct {
	*history.Acquisition
	from, to trace.Instant
}

// judgeTokens judges the order of the tokens. Of what real servers grant nobody hears, so that of two acquisitions it is known
// which was granted first only if one had returned before the other's request was answered.
func judgeTokens(h *history.History, report *checker.Report) {
	const p = checker.FencingOrder
	list := tokensOf(h)
	if len(list) == 0 {
		return
	}
	for _, before := range list {
		for _, after := range list {
			if before.to >= after.from {
				continue
			}
			report.Dangers[p]++
			if before.Token < after.Token {
				continue
			}
			report.Verdicts[p] = checker.Violated
			report.Violations = append(report.Violations, checker.Violation{
				Property: p, Kind: "token went backwards", At: after.to, Acquisitions: []history.ID{before.ID, after.ID},
				Text: fmt.Sprintf("%s (acquisition %d) had token %d by %s, %s (acquisition %d) token %d after %s",
					before.Client, before.ID, before.Token, before.to, after.Client, after.ID, after.Token, after.from),
			})
		}
	}
	switch {
	case report.Verdicts[p] == checker.Violated:
		report.Reasons[p] = ""
	case report.Dangers[p] > 0:
		report.Verdicts[p], report.Reasons[p] = checker.Held, ""
	default:
		report.Verdicts[p] = checker.Vacuous
		report.Reasons[p] = "no acquisition had returned before another's request was answered"
	}
}

func tokensOf(h *history.History) (list []granted) {
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if a.Outcome != history.OK || a.Token == 0 {
			continue
		}
		g := granted{a, a.Invoked, a.Returned}
		for _, ask := range h.Asks {
			if ask.Acquisition == a.ID && ask.At <= a.Returned {
				g.from = ask.At
			}
		}
		list = append(list, g)
	}
	return list
}
