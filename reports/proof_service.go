package reports

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// tokenOrder proves that tokens do not grow.
func (a *argument) tokenOrder(first, second *history.Acquisition) proof {
	g, h := a.lastGrant(first.ID, a.until), a.lastGrant(second.ID, a.until)
	if g == nil || h == nil {
		return proof{}
	}
	one, two := a.who(first), a.who(second)
	before, after := tokenText(g.Token), tokenText(h.Token)
	compared := "which is smaller: the older grant looks like the newer one"
	if g.Token == h.Token {
		compared = "the same again: no resource can tell the two apart"
	}
	return proof{
		claim:   fmt.Sprintf("%s to %s, then %s to %s", before, one, after, two),
		let:     fmt.Sprintf("%s be granted the lock with token %s at %s", one, before, a.given(g)),
		then:    fmt.Sprintf("%s is granted it at %s", two, a.given(h)),
		however: fmt.Sprintf("its token is %s, %s", after, compared),
	}
}

// wrongRelease proves that a release ended what was not its sender's to end.
func (a *argument) wrongRelease() proof {
	for i := range a.h.Removals {
		r := &a.h.Removals[i]
		by, ended := a.h.Acquisition(r.By), a.h.Acquisition(r.Ended)
		switch {
		case r.At != a.violation.At || by == nil || by != a.taken(0):
		case r.Again:
			return a.endsLaterTry(r, a.who(by))
		case ended != nil:
			return a.endsAnothers(r, by, ended)
		}
	}
	return proof{}
}

func (a *argument) endsLaterTry(r *history.Removal, who string) proof {
	return proof{
		claim: fmt.Sprintf("%s's, on %s at %s", who, r.Node, a.removed(r)),
		let:   who + " give one try up, and send a release for it",
		then:  "a later try gets the lock",
		however: fmt.Sprintf("the release is carried out at %s only, and deletes the later try's %s", a.removed(r),
			a.servers().Entry()),
	}
}

func (a *argument) endsAnothers(r *history.Removal, by, ended *history.Acquisition) proof {
	who, whose := a.who(by), a.who(ended)
	p := proof{
		claim: fmt.Sprintf("%s's, by %s on %s at %s", whose, who, r.Node, a.removed(r)),
		however: fmt.Sprintf("the %s there is %s's when the release is carried out at %s, and it is deleted", a.servers().Entry(),
			whose, a.removed(r)),
	}
	at, since := "", trace.Instant(0)
	if g := a.lastGrant(ended.ID, r.At); g != nil {
		at, since = " at "+a.given(g), g.From
	}
	switch unlocked := a.ceases(by, by.Unlocked); {
	case by.Unlocked == trace.Never:
		p.let, p.then = whose+" be granted the lock"+at, who+" tries, does not get it, and releases it all the same"
	case by.Unlocked < since:
		p.let, p.then = who+" unlock at "+unlocked, whose+" is granted the lock"+at
	default:
		p.let, p.then = whose+" be granted the lock"+at, who+" unlocks at "+unlocked
	}
	return p
}

// inVain proves that somebody waits for nothing.
func (a *argument) inVain() proof {
	w := a.waiting()
	if w == nil {
		return proof{}
	}
	reason := strings.TrimSuffix(strings.TrimSpace(a.blocked()), ".")
	if reason == "" {
		return proof{}
	}
	ending := "nobody acquires the lock within " + precise(a.run.Case.Scenario.Progress)
	if a.h.Quiescent && w.To == trace.Never {
		ending = "nothing can happen any more"
	}
	p := proof{
		claim:   fmt.Sprintf("%s has waited since %s", a.waiter(w), a.ref(w.From, laneBelief(a.waiter(w)))),
		then:    a.waiter(w) + " asks for it",
		however: strings.ToLower(reason[:1]) + reason[1:] + ": " + ending,
	}
	if q := a.lastHolder(); q != nil {
		p.let = fmt.Sprintf("%s be the last to hold the lock, from %s on", a.who(q), a.believes(q))
	}
	return p
}
