package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

func (a *argument) doubleHolder(first, second *history.Acquisition) proof {
	b, _ := first.Belief()
	c, _ := second.Belief()
	ends := a.ceases(first, b.To)
	if c.To < b.To {
		ends = a.ceases(second, c.To)
	}
	end := min(b.To, c.To)
	if end > a.h.End {
		ends, end = "the end of the run", a.h.End
	}
	claim := fmt.Sprintf("%s and %s both believe that they hold the lock, from %s to %s (%s)", a.who(first), a.who(second),
		a.believes(second), ends, precise(end.Sub(c.From)))
	if g := a.h.Belated(second.ID); g != nil {
		return a.belated(claim, g, second, first)
	}
	if g := a.h.Belated(first.ID); g != nil {
		return a.belated(claim, g, first, second)
	}
	return proof{
		claim:   claim,
		let:     a.holds(first),
		then:    inTurn(a.between(first, second)),
		however: a.goesOn(first, b, second.Returned),
	}
}

// belated proves that somebody holds beside another, to whom Lock has returned what was over.
func (a *argument) belated(claim string, g *history.Grant, late, other *history.Acquisition) proof {
	who := a.who(late)
	over := a.ref(g.To, laneTruth(who), fmt.Sprintf("grant %d ends", late.ID))
	p := proof{
		claim: claim,
		let:   fmt.Sprintf("%s be granted the lock%s at %s", who, a.byServers(g), a.given(g)),
		then: inTurn([]step{
			{g.To, fmt.Sprintf("that %s at %s", a.endOfGrant(g), over)},
			{other.Returned, a.who(other) + " acquires it at " + a.believes(other)},
		}),
		however: fmt.Sprintf("Lock returns to %s at %s all the same", who, a.believes(late)),
	}
	if g.Outlived {
		p.however += ": it has gone on in another session"
	} else {
		p.however += ": this lock states no deadline and gives no notice of loss"
	}
	return p
}

// doubleGrant has no steps if the two believed too: those tell how both came by the lock.
func (a *argument) doubleGrant(first, second *history.Acquisition) proof {
	g, h := a.lastGrant(first.ID, a.violation.At), a.lastGrant(second.ID, a.violation.At)
	if g == nil || h == nil {
		return proof{}
	}
	p := proof{claim: fmt.Sprintf("the lock is granted to %s at %s while it is promised to %s%s", a.who(second), a.given(h),
		a.who(first), promised(g))}
	believed := slices.ContainsFunc(a.run.Report.Violations, func(x checker.Violation) bool {
		return x.Property == checker.MutualExclusion && slices.Equal(x.Acquisitions, a.violation.Acquisitions)
	})
	if !believed {
		p.let = fmt.Sprintf("%s be granted the lock at %s", a.who(first), a.given(g))
		p.then = inTurn(a.between(first, second))
		p.however = "the first promise is not over"
	}
	return p
}

// holds says from when on somebody holds the lock, or thinks so.
func (a *argument) holds(q *history.Acquisition) string {
	if but := a.ungranted(q); but != "" {
		return fmt.Sprintf("%s believe from %s on that it holds the lock%s", a.who(q), a.believes(q), but)
	}
	return fmt.Sprintf("%s hold the lock from %s on", a.who(q), a.believes(q))
}

// goesOn says until when somebody believes, and why it has not noticed anything when another one holds the lock.
func (a *argument) goesOn(q *history.Acquisition, b history.Belief, at trace.Instant) string {
	text := a.who(q) + " believes until " + a.ceases(q, b.To)
	if b.To > a.h.End {
		text = a.who(q) + " believes to the end of the run"
	}
	deadline := precise(q.Deadline.Sub(0))
	switch {
	case a.ungranted(q) != "": // there is no end that it could have noticed
	case a.pausedAt(q.Client, at):
		text += ": it is paused, and cannot notice"
	case b.Ended == history.ByDeadline:
		text += ", the end of its lease by its own clock"
	case q.HasDeadline && q.Deadline <= at && q.Style != history.Careful:
		text += ": its lease says until " + deadline + ", but a " + q.Style.String() + " client does not look"
	case q.HasDeadline && q.Deadline > at && !q.CanLearn:
		text += ": its lease says until " + deadline
	case !q.HasDeadline && !q.CanLearn:
		text += ": this lock states no deadline and gives no notice of loss"
	case q.CanLearn && q.Style == history.Careless:
		text += ": a careless client does not listen to notices of loss"
	case q.CanLearn && q.Noticed > at && q.Noticed < trace.Never:
		text += ": it hears of its loss at " + a.ref(q.Noticed, laneBelief(a.who(q))) + " only"
	case q.CanLearn:
		text += ": nothing has told it of its loss"
	}
	return text
}

// between is what happens from when the first holds the lock until the second does too.
func (a *argument) between(first, second *history.Acquisition) []step {
	one, two := a.who(first), a.who(second)
	g, h := a.lastGrant(first.ID, second.Returned), a.lastGrant(second.ID, second.Returned)
	steps := append(a.losses(first, second), a.releases(first, second)...)
	if g != nil && g.To <= second.Returned {
		ref := a.ref(g.To, laneTruth(one), fmt.Sprintf("grant %d ends", first.ID))
		steps = append(steps, step{g.To, fmt.Sprintf("what %s was granted %s at %s", one, a.endOfGrant(g), ref)})
	}
	switch {
	case h == nil && a.h.HasAuthority:
		return append(steps, step{second.Returned, two + " is told the same at " + a.believes(second) +
			", though it has not been granted it"})
	case h == nil:
		return append(steps, step{second.Returned, two + " is told the same at " + a.believes(second)})
	}
	if election := a.electedBetween(g, h); election != nil {
		steps = append(steps, *election)
	}
	return append(steps, step{h.From, fmt.Sprintf("%s is granted the lock%s at %s", two, a.byServers(h), a.given(h))})
}

// releases are those that end what the first holds before the second comes.
func (a *argument) releases(first, second *history.Acquisition) []step {
	var steps []step
	for i := range a.h.Removals {
		r := &a.h.Removals[i]
		release := a.holder(r.By, r.Client) + "'s release deletes " + a.entryOf(a.who(first))
		switch {
		case r.At > second.Returned:
			continue
		case r.Again && r.By == first.ID:
			release = a.who(first) + "'s release of an earlier try deletes the " + a.servers().Entry() + " of this one"
		case r.Again || r.Ended != first.ID:
			continue
		}
		steps = append(steps, step{r.At, fmt.Sprintf("%s on %s at %s", release, r.Node, a.removed(r))})
	}
	return steps
}

// promised says until when a grant was to last; "" if something else ended it.
func promised(g *history.Grant) string {
	if g.Ended != history.ByDeadline || g.To == trace.Never {
		return ""
	}
	return " until " + precise(g.To.Sub(0))
}

func (v *view) endOfGrant(g *history.Grant) string {
	switch g.Ended {
	case history.ByUnlock:
		return "is released"
	case history.BySessionLoss:
		return "ends with its " + v.servers().Holds()
	case history.Open, history.ByCrash, history.ByNotice, history.ByDeadline:
	}
	return "runs out"
}

// lastGrant is what an acquisition was last given up to a moment.
func (v *view) lastGrant(id history.ID, by trace.Instant) *history.Grant {
	var last *history.Grant
	for i := range v.h.Grants {
		if g := &v.h.Grants[i]; g.Acquisition == id && g.From <= by {
			last = g
		}
	}
	return last
}

// losses are the servers that no longer have the first holder's key when the second comes, though they should.
func (a *argument) losses(first, second *history.Acquisition) []step {
	var steps []step
	var early []string
	entry, begins := a.entryOf(a.who(first)), trace.Never
	for i := range a.h.Copies {
		c := &a.h.Copies[i]
		if c.Acquisition != first.ID || c.To > second.Returned {
			continue
		}
		ref := a.ref(c.To, laneNode(c.Node), fmt.Sprintf("copy %d", c.Acquisition))
		switch lost := a.losesEntry(c, entry); {
		case lost != "":
			steps = append(steps, step{c.To, fmt.Sprintf("%s %s at %s", c.Node, lost, ref)})
		case a.tooEarly(c):
			early = append(early, fmt.Sprintf("%s at %s", c.Node, ref))
			begins = min(begins, c.To)
		}
	}
	if len(early) > 0 {
		steps = append(steps, step{begins, fmt.Sprintf("%s expires too early by the clock of %s", entry, listing(early))})
	}
	return steps
}

// losesEntry says how a server lost what it should have kept; "" if it did not, or by its clock.
func (v *view) losesEntry(c *history.Copy, entry string) string {
	switch {
	case c.Gone == history.Wiped:
		switch lost, back := v.wiped(c); {
		case lost:
			return "loses " + entry
		case back:
			return "comes back without " + entry
		}
		return "takes over a dataset without " + entry
	case c.Gone == history.Overwritten && v.servers().Entry() == "lock":
		return "gives " + entry + " to another"
	case c.Gone == history.Overwritten:
		return "has " + entry + " overwritten"
	case (c.Gone == history.Evicted || v.tooEarly(c)) && v.toldToDelete(c):
		return "deletes " + entry + ", as its master did,"
	case c.Gone == history.Evicted:
		return "evicts " + entry
	}
	return ""
}

// electedBetween tells of the last server that became a master before the second grant was given: it gave that one, or
// another did that did not know of it. It is nil if one server was master all the time.
func (a *argument) electedBetween(first, second *history.Grant) *step {
	if role, _ := a.servers().Role(); role != "master" || first == nil {
		return nil
	}
	var last *step
	for i := range a.roles {
		e := &a.roles[i]
		gaveBoth := e.At <= first.From && a.gave(e.Node, first) && a.gave(e.Node, second)
		if e.Does != trace.Promote || e.At > second.From || gaveBoth {
			continue
		}
		text := fmt.Sprintf("%s becomes master at %s", e.Node, a.ref(e.At, laneNode(e.Node)))
		if e.At == 0 {
			text = e.Node + " is master"
		}
		if !a.gave(e.Node, second) {
			text += ", unknown to" + strings.TrimPrefix(a.byServers(second), " by")
		}
		last = &step{e.At, text}
	}
	return last
}

// gave reports whether a grant stood on a server when it was given.
func (v *view) gave(node string, g *history.Grant) bool {
	for i := range v.h.Copies {
		if c := &v.h.Copies[i]; c.Node == node && stoodOn(c, g) {
			return true
		}
	}
	return false
}
