package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// acquires tells how somebody came to believe that it holds the lock.
func (t *plot) acquires(a *history.Acquisition) {
	if slices.Contains(t.cast, a.ID) {
		return
	}
	g := t.granted(a)
	if before := t.before(a); before != nil && g != nil && g.To <= g.From && !slices.Contains(t.cast, before.ID) {
		t.acquires(before) // which tells whose lease it is that was over before it was granted
		t.leaves(before, g.From)
	}
	who, again := t.who(a), t.heldBefore(a)
	t.cast = append(t.cast, a.ID)
	switch {
	case a.Outcome != history.OK && g == nil:
		return
	case t.ungranted(a) != "" && g == nil:
		t.tell(a.Returned, orderBelief, who, "believes that it holds the lock, but has not been granted it")
		return
	case a.Outcome == history.Failed:
		t.tell(g.From, orderBelief, who, "is granted the lock"+again+t.terms(a, g)+" and does not take it")
	case a.Outcome != history.OK:
		t.tell(g.From, orderBelief, who, "is granted the lock"+again+t.terms(a, g)+" and does not learn of it")
	case g != nil && (a.Returned.Sub(g.From) >= time.Duration(slowAnswer) || t.tooLate(a) != ""):
		t.tell(g.From, orderBelief, who, "is granted the lock"+again+t.terms(a, g))
		t.tell(a.Returned, orderBelief, who, t.learns(a)+t.tooLate(a))
	default:
		t.tell(t.begin(a), orderBelief, who, "acquires the lock"+again+t.terms(a, g))
	}
}

// before returns the acquisition with which the same owner held the lock before.
func (t *plot) before(a *history.Acquisition) *history.Acquisition {
	var last *history.Acquisition
	for i := range t.h.Acquisitions {
		o := &t.h.Acquisitions[i]
		if sameOwner(o, a) && o.Outcome == history.OK && o.Returned <= a.Invoked && o.ID != a.ID {
			last = o
		}
	}
	return last
}

// granted returns what an acquisition was granted when its Lock returned; of grants that followed one another without a
// gap, as when more servers than needed vote, the first.
func (t *plot) granted(a *history.Acquisition) *history.Grant {
	g := t.lastGrant(a.ID, min(a.Returned, t.h.End))
	for i := range slices.Backward(t.h.Grants) {
		if o := &t.h.Grants[i]; g != nil && o.Acquisition == a.ID && o.From < g.From && g.From <= o.To {
			g = o
		}
	}
	return g
}

// learns says how somebody hears what it was granted.
func (t *plot) learns(a *history.Acquisition) string {
	if g := t.h.Belated(a.ID); g != nil && g.Outlived {
		return "takes it for its own in another session"
	}
	return "learns of it"
}

// tooLate says that a grant was over when its holder heard of it.
func (t *plot) tooLate(a *history.Acquisition) string {
	if last := t.lastGrant(a.ID, a.Returned); last.From < last.To && last.To <= a.Returned {
		return " when it is over"
	}
	return ""
}

// heldBefore says that a story has told already of an earlier acquisition of the same client.
func (t *plot) heldBefore(a *history.Acquisition) string {
	for _, id := range t.cast {
		if o := t.h.Acquisition(id); sameOwner(o, a) && o.Returned <= a.Returned {
			return " again"
		}
	}
	return ""
}

// terms are what somebody is granted: on which servers, for how long, with which token.
func (t *plot) terms(a *history.Acquisition, g *history.Grant) string {
	text := ""
	if g != nil && t.servers().Count() > 1 && keeperOf(t.servers()) == "" {
		if by := t.byServers(g); by != "" {
			text = " on" + by[len(" by"):]
		}
	}
	with := ""
	if g != nil && (len(t.cast) == 1 || g.To <= g.From) {
		with = t.lease(a, g)
	}
	if p := t.violation.Property; a.Token != 0 && t.h.HasTokens && (p == checker.Resource || p == checker.FencingOrder) {
		if with != "" {
			with += " and"
		}
		with += " token " + tokenText(a.Token)
	}
	if with != "" {
		text += " with" + with
	}
	return text
}

// lease says for how long somebody is granted the lock.
func (t *plot) lease(a *history.Acquisition, g *history.Grant) string {
	ttl := t.run.Case.Scenario.Lock.TTL
	what := t.servers().Holds()
	ends := slices.ContainsFunc(t.h.Copies, func(c history.Copy) bool {
		return c.Acquisition == a.ID && c.Expires != trace.Never
	})
	if what == "" || what == "connection" {
		what = "lease"
		if !ends {
			return ""
		}
	}
	if g.To <= g.From {
		return " a " + what + " that is over"
	}
	text := " a " + what + " of " + spokenExactly(ttl)
	if what == "lease" && g.To != trace.Never && g.To.Sub(g.From) > ttl+ttl/10 {
		text += " that it renews"
	}
	return text
}

// ends tells how what somebody was granted came to an end, or was lost by servers, up to a moment.
func (t *plot) ends(a *history.Acquisition, by trace.Instant) {
	who := t.who(a)
	t.leaves(a, by)
	for i := range t.h.Copies {
		if c := &t.h.Copies[i]; c.Acquisition == a.ID && c.To <= by {
			t.losesCopy(c, who)
		}
	}
	for i := range t.h.Removals {
		if r := &t.h.Removals[i]; r.Ended == a.ID && r.At <= by {
			t.removes(r, who)
		}
	}
}

// leaves tells how somebody's hold was over before a moment: it was released, or came to its end.
func (t *plot) leaves(a *history.Acquisition, by trace.Instant) {
	switch g := t.lastGrant(a.ID, by); {
	case g == nil || g.To > by:
	case g.Ended != history.ByUnlock:
		t.lapses(a, g)
	case a.Unlocked <= by && !t.endedByAnother(a, g):
		t.tell(a.Unlocked, orderUnlock, t.who(a), "releases the lock")
	}
}

// endedByAnother reports whether it was somebody else's release that ended a grant.
func (t *plot) endedByAnother(a *history.Acquisition, g *history.Grant) bool {
	return slices.ContainsFunc(t.h.Removals, func(r history.Removal) bool { return r.Ended == a.ID && r.At == g.To })
}

// lapses tells that a lease, a session or a connection is over.
func (t *plot) lapses(a *history.Acquisition, g *history.Grant) {
	ended := slices.ContainsFunc(t.faults, func(f fault) bool {
		return f.fired && f.kind == "end-session" && f.node == a.Client && f.begin == g.To
	})
	what, verb := "lease", "is over"
	if holds := t.servers().Holds(); g.Ended == history.BySessionLoss || holds == "session" {
		what = holds
	}
	if what == "connection" {
		verb = "ends"
	}
	if !ended {
		t.tell(g.To, orderService, t.who(a)+"'s "+what, verb+t.meanwhile(a, g.To))
	}
}

// meanwhile says what a client is doing at a moment.
func (t *plot) meanwhile(a *history.Acquisition, at trace.Instant) string {
	switch {
	case t.pausedAt(a.Client, at):
		return " while it is paused"
	case t.believesAt(a.ID, at):
		return " while it still works"
	}
	return ""
}

// losesCopy tells of a server that no longer has what it should have.
func (t *plot) losesCopy(c *history.Copy, who string) {
	switch {
	case c.Gone == history.Wiped && t.wipedInCrash(c) != nil:
	case c.Gone == history.Wiped:
		t.tell(c.To, orderLoss, c.Node, t.wipeWords(c, who))
	case t.toldToDelete(c):
	case c.Gone == history.Evicted:
		t.tell(c.To, orderLoss, c.Node, "evicts "+t.entryOf(who)+" to make room")
	case c.Gone == history.Overwritten:
		t.overwrites(c, who)
	case t.tooEarly(c):
		t.tellOf(c.To, orderLoss, t.entryOf(who), "expires too early", c.Node)
	}
}

// wipedInCrash returns the crash in which a server lost what it kept; nil if it was none.
func (t *plot) wipedInCrash(c *history.Copy) *fault {
	for i := range t.faults {
		if f := &t.faults[i]; f.fired && f.kind == "crash" && f.node == c.Node && f.begin <= c.To && c.To <= f.end {
			return f
		}
	}
	return nil
}

// overwrites tells who has put an entry of its own in the place of another's.
func (t *plot) overwrites(c *history.Copy, whose string) {
	for i := range t.h.Copies {
		next := &t.h.Copies[i]
		if next.Node != c.Node || next.From != c.To || next.Acquisition == c.Acquisition {
			continue
		}
		what := "overwrites " + t.entryOf(whose)
		if t.servers().Entry() == "lock" {
			what = "is given " + t.entryOf(whose)
		}
		t.tellOf(c.To, orderLoss, t.holder(next.Acquisition, next.Client), what, c.Node)
		return
	}
}

// removes tells of a release that ended what was somebody's else.
func (t *plot) removes(r *history.Removal, whose string) {
	by := t.h.Acquisition(r.By)
	who := t.holder(r.By, r.Client)
	release := who + "'s release"
	if by != nil && r.At.Sub(by.Unlocked) >= t.soon() {
		release = who + "'s late release"
	}
	verb := "deletes "
	if t.servers().Entry() == "lock" {
		verb = "frees "
	}
	switch {
	case r.Again:
		t.tellOf(r.At, orderService, who+"'s late release", verb+"the "+t.servers().Entry()+" of its own later try", r.Node)
		return
	case by != nil && by.Outcome == history.OK:
		t.acquires(by)
		t.leaves(by, r.At)
		t.tellOf(r.At, orderService, release, verb+t.entryOf(whose), r.Node)
	default:
		t.tell(r.At, orderService, who, "does not get the lock")
		t.tellOf(r.At, orderService, who, "unlocks all the same and so "+verb+t.entryOf(whose), r.Node)
	}
}

// accesses tells of an access to the resource.
func (t *plot) accesses(a *history.Access) {
	who := t.holder(a.Acquisition, a.Client)
	if a.Applied == trace.Never {
		if a.Returned == trace.Never {
			t.tell(a.Invoked, orderEffect, who+"'s "+a.Op.String()+t.ofRegister(a), "never arrives")
		}
		return
	}
	arrives := a.Applied.Sub(a.Invoked) >= t.soon() || t.pausedAt(a.Client, a.Applied)
	switch {
	case a.Op == history.Check && a.Accepted:
		t.tell(a.Applied, orderEffect, who, "asks whether it may write and is told that it may")
	case !a.Accepted:
		t.tell(a.Applied, orderEffect, who+"'s "+a.Op.String()+t.ofRegister(a), "is refused")
	case a.Op == history.Write && t.overtaken(a.Register):
		if arrives {
			t.tell(a.Applied, orderEffect, who+"'s write"+t.ofRegister(a), "arrives and is accepted")
		} else {
			t.tell(a.Applied, orderEffect, who, "writes"+t.ofRegister(a))
		}
	case arrives && a.Op == history.Write:
		t.tell(a.Applied, orderEffect, who+"'s write"+t.ofRegister(a), "arrives and becomes version "+t.versionText(a))
	case arrives:
		t.tell(a.Applied, orderEffect, who+"'s read"+t.ofRegister(a), "arrives and finds version "+t.versionText(a))
	default:
		t.tell(a.Applied, orderEffect, who, a.Op.String()+"s version "+t.versionText(a)+t.ofRegister(a))
	}
}

// overtaken reports whether a write of a register came later than one that was sent after it. The numbers of versions,
// which writes have from when they are sent, then confuse.
func (t *plot) overtaken(register int) bool {
	var writes []*history.Access
	for i := range t.h.Accesses {
		if a := &t.h.Accesses[i]; a.Op == history.Write && a.Accepted && a.Register == register {
			writes = append(writes, a)
		}
	}
	slices.SortStableFunc(writes, func(a, b *history.Access) int { return cmp.Compare(a.Applied, b.Applied) })
	return !slices.IsSortedFunc(writes, func(a, b *history.Access) int { return cmp.Compare(a.Version, b.Version) })
}

func (t *plot) versionText(a *history.Access) string { return strconv.FormatUint(t.version(a), 10) }

// ofRegister names the register of an access where there are several.
func (t *plot) ofRegister(a *history.Access) string {
	if text := t.register(a); text != "" {
		return " of" + text
	}
	return ""
}

// wrongBy says how much too fast or too slow a clock runs.
func wrongBy(rate int64) string {
	direction, unit := "fast", "ppm"
	if rate < 0 {
		direction, rate = "slow", -rate
	}
	if rate%percent == 0 {
		rate, unit = rate/percent, "%"
	}
	return fmt.Sprintf("%d %s too %s", rate, unit, direction)
}

const percent = 10_000 // parts per million

// lasting says how long something takes.
func lasting(from, to trace.Instant) string {
	if to == trace.Never {
		return " for good"
	}
	return " for " + spokenExactly(time.Duration(to-from))
}
