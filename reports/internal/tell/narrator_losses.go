package tell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ends tells how what somebody was granted came to an end, or was lost by servers, up to a moment.
func (t *narrator) ends(a *history.Acquisition, by trace.Instant) {
	who := t.who(a)
	t.leaves(a, by)
	t.waitsForItself(a, by)
	t.formerRelease(a, by)
	for i := range t.v.History.Copies {
		if c := &t.v.History.Copies[i]; c.Acquisition == a.ID && c.To <= by {
			t.losesCopy(c, who)
		}
	}
	for i := range t.v.History.Removals {
		if r := &t.v.History.Removals[i]; r.Ended == a.ID && r.At <= by {
			t.removes(r, who)
		}
	}
}

// waitsForItself tells that somebody asks for a lock that it holds, and waits until that is over.
func (t *narrator) waitsForItself(a *history.Acquisition, by trace.Instant) {
	g := t.v.LastGrant(a.ID, by)
	for i := range t.v.History.Waits {
		w := &t.v.History.Waits[i]
		if !t.waitsFor(w, a) || g == nil || g.To <= w.From || w.To < g.To {
			continue
		}
		what := "asks for it again" + here
		if slices.ContainsFunc(t.v.History.Asks, func(ask history.Ask) bool {
			return ask.Client == a.Client && ask.Acquisition != a.ID && w.From <= ask.At && ask.At < g.To && !ask.Granted
		}) {
			what += ", while its own " + t.v.Servers().Entry() + " keeps it out"
		}
		t.tell(w.From, moments.OrderBelief, t.who(a), what, moments.Place{})
	}
}

// formerRelease tells of a release of an earlier hold of the same owner that deletes what it holds now.
func (t *narrator) formerRelease(a *history.Acquisition, by trace.Instant) {
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		of := t.v.History.Acquisition(c.Acquisition)
		if of == nil || of.ID == a.ID || !model.SameOwner(of, a) || c.Gone != history.Deleted || c.To > by || !t.v.BelievesAt(a.ID, c.To) {
			continue
		}
		if e := moments.RequestAt(t.v, c.Node, a.Client, c.To, trace.ToRelease); e != nil && e.Alt == trace.ToRelease && e.For == int(of.ID) {
			t.tellOfLoss(c, t.who(a)+"'s late release ("+e.What+") of an earlier hold", "deletes the "+t.v.Servers().Entry()+" that it holds again", c.Node)
			t.wrong(e.What, "deletes what is held again")
		}
	}
}

// leaves tells how somebody's hold was over before a moment: it was released, or came to its end.
func (t *narrator) leaves(a *history.Acquisition, by trace.Instant) {
	switch g := t.v.LastGrant(a.ID, by); {
	case g == nil || g.To > by:
	case g.Ended != history.ByUnlock:
		t.lapses(a, g)
	case t.early(a, g):
	case a.Unlocked <= by && !t.endedByAnother(a, g):
		t.tell(a.Unlocked, moments.OrderUnlock, t.who(a), t.abandoned(a)+"releases the lock", moments.PlaceOfBelief(t.v, a).Ended())
	}
}

// abandoned begins what is said of a release if the client gives its section up because a write is not answered; else it is "".
func (t *narrator) abandoned(a *history.Acquisition) string {
	for i := range t.v.History.Accesses {
		x := &t.v.History.Accesses[i]
		if x.Acquisition == a.ID && x.Op == history.Write && x.Returned == trace.Never && x.Invoked < a.Unlocked && t.v.History.Registers > 1 && t.tells(checker.Resource) {
			return "gets no answer to its write" + t.ofRegister(x) + " in time and "
		}
	}
	return ""
}

// endedByAnother reports whether it was somebody else's release that ended a grant.
func (t *narrator) endedByAnother(a *history.Acquisition, g *history.Grant) bool {
	return slices.ContainsFunc(t.v.History.Removals, func(r history.Removal) bool { return r.Ended == a.ID && r.At == g.To })
}

// lapses tells that a lease, a session or a connection is over.
func (t *narrator) lapses(a *history.Acquisition, g *history.Grant) {
	i := slices.IndexFunc(t.v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.EndSession && f.Node == a.Client && g.From <= f.Begin && f.Begin <= g.To && g.To < f.Begin.Add(t.soon())
	})
	ended := i >= 0 && t.v.Faults[i].Begin == g.To
	what, verb := "lease", "expires"
	if holds := t.v.Servers().Holds(); g.Ended == history.BySessionLoss || holds == "session" {
		what = holds
	}
	if what == "connection" || i >= 0 {
		verb = "ends"
	}
	if !ended && !moments.Bereft(t.v, g) { // else it is told who removed the key
		for i := range t.v.History.Copies {
			if c := &t.v.History.Copies[i]; c.Acquisition == a.ID && min(c.To, c.Expires) == g.To {
				t.shortened(c, t.who(a))
			}
		}
		t.lastRenewal(a, g)
		t.tellOfEnd(g, t.who(a)+"'s "+what, verb+here+t.meanwhile(a, g)+t.idle(a, g)+t.silent(a, g))
		t.unheeded(a, g)
	}
}

// idle says that servers ended a connection because no statement came by it for so long; "" if that is not why.
func (t *narrator) idle(a *history.Acquisition, g *history.Grant) string {
	limit, set := t.v.Servers().IdleTimeout, false
	last := trace.Never
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		if o := t.v.History.Acquisition(m.For); m.Reply || m.From != a.Client || o != nil && o.Task != a.Task || !t.v.IsServer(m.To) || m.Executed >= g.To {
			continue
		}
		last = m.Executed
		if is := idleInTransaction.FindStringSubmatch(m.Detail); is != nil { // for its connection
			ms, _ := strconv.Atoi(is[1])
			limit, set = time.Duration(ms)*time.Millisecond, true
		}
	}
	since := g.To.Sub(last)
	if limit == 0 || g.Ended != history.BySessionLoss || since < limit-limit/100 || since > limit+limit/100 { // by the server's clock
		return ""
	}
	if set {
		return ", since its transaction was idle for " + spokenExactly(limit) + " (its idle_in_transaction_session_timeout)"
	}
	return ", since the servers end connections that are idle for " + spokenExactly(limit)
}

// idleInTransaction is what a statement sets for its connection, in milliseconds.
var idleInTransaction = regexp.MustCompile(`(?i)set idle_in_transaction_session_timeout (?:=|to) '?(\d+)`)

// silent says that servers ended a connection because TCP's keep-alive found its client's machine silent for so long; "" if that is not
// why. It probes eight times in that time (see [sim.Conn.KeepAlive]).
func (t *narrator) silent(a *history.Acquisition, g *history.Grant) string {
	limit := t.v.Servers().KeepAlive
	if limit == 0 || g.Ended != history.BySessionLoss {
		return ""
	}
	for i := range t.v.Faults {
		f := &t.v.Faults[i]
		since := g.To.Sub(f.Begin)
		if f.Silences(a.Client, t.v.Servers().Names()) && limit/8*7 <= since && since <= limit/8*9+time.Millisecond {
			return ", since the servers end connections whose client's machine is silent for " + spokenExactly(limit)
		}
	}
	return ""
}

// lent says which connection a database has given another client's lock to, which it keeps for the connection; "" without a pooler.
func (t *narrator) lent() string {
	if t.v.Servers().Pool == 0 {
		return ""
	}
	return ", since the pooler lends it the connection that holds it"
}

// meanwhile says what a client is doing when its grant is over.
func (t *narrator) meanwhile(a *history.Acquisition, g *history.Grant) string {
	paused := t.pausedAt(a.Client, g.To)
	switch late := t.tooLate(a, g); {
	case len(late) > 0 && !paused:
		return " before " + t.who(a) + " sends its first renewal (" + late[0].What + ")"
	case t.tells(checker.MutualExclusion): // which says so
	case paused:
		return " while " + t.who(a) + " is paused"
	case t.v.BelievesAt(a.ID, g.To):
		return " while " + t.who(a) + " is still in its critical section"
	}
	return ""
}

// losesCopy tells of a server that no longer has what it should have.
func (t *narrator) losesCopy(c *history.Copy, who string) {
	switch {
	case c.Gone == history.Wiped && t.wipedInCrash(c) != nil:
	case c.Gone == history.Wiped:
		t.tellOfLoss(c, c.Node, strings.Replace(moments.WipeWords(t.v, c, who), " dataset,", " dataset"+here+",", 1), "")
	case t.v.ToldToDelete(c):
	case c.Gone == history.Evicted:
		t.tellOfLoss(c, c.Node, "evicts "+t.v.EntryOf(who)+" to make room", "")
	case c.Gone == history.Overwritten:
		t.overwrites(c, who)
	case moments.Deleter(t.v, c) != nil:
		e := moments.Deleter(t.v, c)
		t.tellOfLoss(c, model.ClientOf(e.Peer)+"'s "+e.What, "deletes "+t.v.EntryOf(who), c.Node)
	case c.Gone == history.Expired && t.v.Shortener(c) != nil && !t.keyOfTheSame(c):
		t.shortened(c, who)
		t.tellOfLoss(c, t.v.EntryOf(who), "expires", c.Node)
	case t.v.Unheard(c) != nil && !t.keyOfTheSame(c):
		missed := t.v.Unheard(c)
		t.tellOfLoss(c, t.v.EntryOf(who), "expires on "+c.Node+here+", since the renewal ("+missed.What+") that "+
			missed.Node+" executed at "+t.time(missed.At)+" has not reached it", "")
	case t.v.TooEarly(c) && !t.keyOfTheSame(c):
		what := "expires too early"
		if t.v.Coarse(c) {
			what += here + ", since the server counts whole seconds"
		}
		t.tellOfLoss(c, t.v.EntryOf(who), what, c.Node)
	}
}

// shortened tells of a holder's own renewal that gave its entry an earlier end, if there is one.
func (t *narrator) shortened(c *history.Copy, who string) {
	if e := t.v.Shortener(c); e != nil {
		t.add(clause{at: e.At, step: e.Seq, order: moments.OrderLoss - 1, who: who + "'s renewal (" + e.What + ")", what: "gives its " + t.v.Servers().Entry() + " an earlier end"})
		t.wrong(e.What, "shortens its own")
	}
}

// keyOfTheSame reports whether the server lost another key of the same acquisition in the same way before: locks that keep several keys
// on one server lose them one after another.
func (t *narrator) keyOfTheSame(c *history.Copy) bool {
	return slices.ContainsFunc(t.v.History.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.Acquisition == c.Acquisition && o.From < c.To && o.To < c.To && o.To > c.From && (t.v.TooEarly(&o) || t.v.Unheard(&o) != nil)
	})
}

// wipedInCrash returns the crash in which a server lost what it kept; nil if it was none.
func (t *narrator) wipedInCrash(c *history.Copy) *model.Fault {
	for i := range t.v.Faults {
		if f := &t.v.Faults[i]; f.Kind == sim.Crash && f.Node == c.Node && f.Begin <= c.To && c.To <= f.End {
			return f
		}
	}
	return nil
}

// overwrites tells who has put an entry of its own in the place of another's.
func (t *narrator) overwrites(c *history.Copy, whose string) {
	for i := range t.v.History.Copies {
		next := &t.v.History.Copies[i]
		if next.Node != c.Node || next.From != c.To || next.Acquisition == c.Acquisition {
			continue
		}
		if t.v.Servers().Entry() == "lock" && c.Expires <= c.To { // the lease in a row was over
			return
		}
		what, wrong := "overwrites "+t.v.EntryOf(whose), "overwrites another's"
		if moments.Shared(t.v, c) {
			what, wrong = "takes "+t.v.EntryOf(whose)+here+" for its own, which has the same value", "takes another's for its own"
		}
		if t.v.Servers().Entry() == "lock" {
			what = "is given " + t.v.EntryOf(whose) + here + t.lent()
		}
		who, e := t.v.Holder(next.Acquisition, next.Client), moments.Maker(t.v, next)
		if e != nil && strings.HasSuffix(e.What, "-if-absent") { // an object of its own, where the latest of several counts
			what = "makes an object that takes the place of " + t.v.EntryOf(whose)
		}
		if moments.LeasesAgain(e) {
			what = "leases" + here + " the object that " + t.v.Holder(c.Acquisition, c.Client) + " had leased"
		} else if e != nil && t.v.Servers().Entry() != "lock" {
			who += "'s " + overwriter(e)
		} else if m := t.rowWriter(c, next); m != nil {
			who, what = who+"'s "+m.What, "takes "+t.v.EntryOf(whose)
			t.wrong(m.What, wrong)
		}
		t.tellOfLoss(c, who, what, c.Node)
		if e != nil {
			t.wrong(e.What, wrong)
		}
		return
	}
}

// rowWriter returns the last statement with its value by which somebody took the lease in a row from another; nil if that is not known, or if
// the lock is a connection's.
func (t *narrator) rowWriter(c, next *history.Copy) (last *model.Sent) {
	a := t.v.History.Acquisition(next.Acquisition)
	if c.Expires == trace.Never || a == nil || a.Value == "" {
		return nil
	}
	for i := range t.v.Messages {
		if m := &t.v.Messages[i]; m.For == a.ID && m.To == c.Node && m.Executed <= c.To && strings.Contains(m.Detail, a.Value) {
			last = m
		}
	}
	return last
}

// removes tells of a release that ended what was somebody's else.
func (t *narrator) removes(r *history.Removal, whose string) {
	by, who := t.v.History.Acquisition(r.By), t.v.Holder(r.By, r.Client)
	if moments.Unchanged(t.v, by) != nil { // the entry is as much its own
		return
	}
	if r.Shortened {
		t.shortens(r, who, whose)
		return
	}
	release := who + "'s release"
	if r.Again || by != nil && by.Unlocked != trace.Never && r.At.Sub(by.Unlocked) >= t.soon() {
		release = who + "'s late release"
	}
	if moments.Repeated(t.v, r) {
		release = who + "'s repeated release"
	}
	if e := moments.Remover(t.v, r); e != nil {
		if release += " (" + e.What + ")"; moments.Taking(t.v, r) != nil {
			release = who + "'s " + e.What
		}
		t.wrong(e.What, moments.Ends(t.v, r)+" another's")
	}
	verb := moments.Ends(t.v, r) + " "
	say := func(who, what string) {
		t.add(clause{
			at: r.At, step: moments.StepOfRemoval(t.v, r), order: moments.OrderService, who: who, what: what, node: t.named(r.Node), place: moments.PlaceOfRemoval(t.v, r),
		})
	}
	switch {
	case r.Again:
		say(release, verb+"the "+t.v.Servers().Entry()+" of its own later try"+t.sameValue(by, r))
	case by != nil && by.Outcome == history.OK:
		t.acquires(by)
		t.leaves(by, r.At)
		say(release, verb+t.v.EntryOf(whose))
	case moments.Background(t.v, r) != nil:
		say(who, "is refused the lock, but a background task of its lock sends "+moments.Background(t.v, r).What+
			" though Unlock is not called, and so "+verb+t.v.EntryOf(whose))
	case by != nil && (by.Outcome == history.Unknown || by.Unlocked > r.At && r.At < by.Returned):
		what := "its clean-up"
		if e := moments.Remover(t.v, r); e != nil {
			what += " (" + e.What + ")"
		}
		learns := "does not learn whether it was granted the lock"
		if by.Outcome != history.Unknown {
			learns = "is refused the lock"
		}
		say(who, learns+", and "+what+" "+verb+t.v.EntryOf(whose))
	default:
		say(who, "is refused the lock, unlocks all the same, and so "+verb+t.v.EntryOf(whose))
	}
	t.compares(r, by)
}
