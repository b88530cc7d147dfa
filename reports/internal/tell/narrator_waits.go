package tell

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// stall tells of somebody who waits in vain.
func (t *narrator) stall() {
	waiter := t.waiting()
	if waiter == nil {
		t.checkersWords()
		return
	}
	holder := t.lastHolder()
	if holder != nil {
		t.acquires(holder)
		if g := t.v.LastGrant(holder.ID, t.until); g != nil && t.v.BelievesAt(holder.ID, t.until) {
			t.revives(holder, t.until)
		}
	}
	t.lateAsks()
	votes := t.firstSplit()
	for i := range t.v.History.Waits {
		if w := &t.v.History.Waits[i]; w.From <= t.until && t.until <= w.To || t.hasVote(w, votes) {
			what := "asks for the lock"
			if holder != nil && hadIt(w, holder) {
				what = "asks for it again"
			}
			t.tell(w.From, moments.OrderBelief, t.v.Waiter(w), what, moments.Place{Lane: moments.BeliefLane(t.v.Waiter(w)), Key: ""})
		}
	}
	who, vain := t.v.Waiter(waiter), "waits "+inVain(waiter)+": nobody acquires the lock for "+spokenExactly(t.v.Run.Case.Scenario.Progress)
	if t.forever(waiter) {
		vain = "waits forever: nothing can happen any more"
	}
	blocked := cmp.Or(t.unserved(waiter), t.blocked())
	if blocked == "" {
		t.forerunners(waiter)
		outlasts := t.outlasts(waiter)
		if blocked = cmp.Or(t.deadConnection(waiter), t.unanswered(waiter)); blocked == "" && !outlasts {
			blocked = t.silentServers(waiter)
		}
		if blocked == "" && !outlasts {
			t.lastWord(waiter)
		}
	}
	if strings.HasPrefix(blocked, notReturned) {
		t.lastWord(waiter)
	}
	if !strings.HasPrefix(blocked, who+" ") {
		blocked += who + " "
	}
	t.clauses = append(t.clauses, clause{at: t.until, step: math.MaxUint64, order: orderLast, what: blocked + vain + here, silent: true})
}

// waitsFor reports whether somebody waits for what it believes that it holds itself.
func (t *narrator) waitsFor(w *history.Wait, a *history.Acquisition) bool {
	return hadIt(w, a) && t.v.BelievesAt(a.ID, w.From)
}

// hadIt reports whether somebody waits for what it has had before.
func hadIt(w *history.Wait, a *history.Acquisition) bool {
	return w.Client == a.Client && w.Task == a.Task && a.Returned <= w.From
}

// lateAsks tells of the first request of each Lock if that has given up when a server executes the request, where nobody knows what the servers
// grant.
func (t *narrator) lateAsks() {
	if t.v.History.HasAuthority || t.v.History.Logged {
		return
	}
	for i := range t.v.History.Acquisitions {
		a := &t.v.History.Acquisitions[i]
		if a.Outcome == history.OK || a.Returned > t.until {
			continue
		}
		asks := t.requests(a, a.Invoked, a.Returned, trace.ToAcquire, "")
		i := slices.IndexFunc(asks, func(m *model.Sent) bool { return t.v.IsServer(m.To) })
		if i >= 0 && a.Returned < asks[i].Executed && asks[i].Executed <= t.until {
			t.tellOf(asks[i].Executed, t.who(a)+"'s late "+asks[i].What, "is executed"+here+", when its Lock has given up", asks[i].To, moments.Place{})
			t.wrong(asks[i].What, "comes late")
		}
	}
}

// forever reports whether a wait never ends, since nothing can happen any more.
func (t *narrator) forever(w *history.Wait) bool { return t.v.History.Quiescent && w.To == trace.Never }

// forerunners tell of clients that asked before the one who waits and died while they waited.
func (t *narrator) forerunners(w *history.Wait) {
	for i := range t.v.History.Waits {
		if o := &t.v.History.Waits[i]; o.Ended == history.Died && o.From < w.From && o.To <= t.until {
			t.tell(o.From, moments.OrderBelief, t.v.Waiter(o), "asks for the lock", moments.Place{Lane: moments.BeliefLane(t.v.Waiter(o)), Key: ""})
		}
	}
}

// inVain says of a client that waited for longer than it should whether it got the lock at last.
func inVain(w *history.Wait) string {
	if w.Ended == history.GotIt {
		return "too long"
	}
	return "in vain"
}

// outlasts tells of a Lock that was granted the lock and did not return before the lease had expired, and reports whether there is one.
func (t *narrator) outlasts(w *history.Wait) bool {
	for i := range t.v.History.Grants {
		g := &t.v.History.Grants[i]
		a := t.v.History.Acquisition(g.Acquisition)
		if a.Client != w.Client || a.Task != w.Task || g.From < w.From || g.To > t.until || g.Ended != history.ByDeadline || a.Returned <= g.To {
			continue
		}
		t.tell(g.From, moments.OrderService, t.v.Waiter(w), "is granted the lock", moments.PlaceOfGrant(t.v, g))
		t.tellOfEnd(g, t.v.Waiter(w)+"'s lease", "expires"+here+" before Lock returns")
		return true
	}
	return false
}

// unserved says that the one who waits lacks the servers that any lock needs: for good, or because most of those that it asks are
// down or paused. It is "" if it has them.
func (t *narrator) unserved(w *history.Wait) string {
	for i := range t.v.History.Outages {
		if o := &t.v.History.Outages[i]; o.Client == w.Client && o.From <= t.until {
			if own, is := strings.CutPrefix(o.Text, "it "); is {
				return t.v.Waiter(w) + " " + own + ", and "
			}
			return o.Text + ", and "
		}
	}
	servers, state := t.needed(w), "paused"
	stand := slices.DeleteFunc(slices.Clone(servers), func(name string) bool {
		down := t.v.IsDown(name, t.until)
		if down {
			state = "down"
		}
		return !down && !t.pausedAt(name, t.until)
	})
	switch {
	case len(stand) <= len(servers)/2:
		return ""
	case len(stand) == 1:
		return stand[0] + " is " + state + ", and "
	default:
		return wording.Listing(stand) + " are " + state + ", and "
	}
}

// needed are the servers of which the one who waits needs most: those that vote, or else those that it asks, or might have asked.
// Of servers that are down from the start on, no message tells.
func (t *narrator) needed(w *history.Wait) (names []string) {
	s := t.v.Servers()
	if t.v.Votes() {
		return s.Names()[:s.Shape().Voters]
	}
	_, list := t.asked(w)
	for _, m := range list {
		names = append(names, m.To)
	}
	if len(names) == 0 {
		return s.Names()[:s.Count()]
	}
	slices.SortFunc(names, model.CompareNames)
	return slices.Compact(names)
}

// lastWord tells which request was the last of somebody who could hold the lock and waits for a notice of it: what it watches,
// and whether it came when there was nothing left to be notified of.
func (t *narrator) lastWord(w *history.Wait) {
	a, list := t.asked(w)
	if len(list) == 0 {
		return
	}
	last := list[len(list)-1]
	for _, m := range t.requests(a, last.Sent, t.until, "") { // without a purpose
		if m.What == "SUBSCRIBE" {
			last = m
		}
	}
	if last.Executed == trace.Never || t.v.IsDown(last.To, t.until) || !t.forever(w) && t.until.Sub(last.Executed) < t.v.Run.Case.Scenario.Progress/2 {
		return
	}
	what := "is executed" + here
	if watched := t.watched(last, a); watched != "" && (watched != nothing || !t.watches(list)) {
		what = "watches " + watched + here + t.shouldWatch(last, a, watched)
		if t.outcome(last, t.until) == "is answered no node" {
			what = "finds that " + watched + " is gone" + here + ", and " + t.v.Waiter(w) + " asks for nothing more"
		}
		t.wrong(last.What, strings.ReplaceAll(what, here, ""))
	} else if gone := t.goneBefore(last.Executed); gone != nil {
		what += ", when " + t.v.EntryOf(t.v.Holder(gone.Acquisition, gone.Client)) + " is gone already"
		t.wrong(last.What, "comes when the entry is gone")
	}
	t.tellOf(last.Executed, t.v.Waiter(w)+"'s last request for the lock ("+last.What+")", what, last.To, moments.Place{Lane: moments.NodeLane(last.To), Key: ""})
}

// unanswered names a request that is not answered for long, after which nothing more is asked; "" if there is none.
func (t *narrator) unanswered(w *history.Wait) string {
	a, _ := t.asked(w)
	if a == nil {
		return ""
	}
	purposes := []string{trace.ToAcquire, trace.ToLook, trace.ToRelease}
	if t.forever(w) {
		purposes = append(purposes, "") // as requests for leases
	}
	list := t.requests(a, w.From, t.until, purposes...)
	if len(list) == 0 {
		return ""
	}
	last := list[len(list)-1].Sent
	i := slices.IndexFunc(list, func(m *model.Sent) bool { // a watch may be answered late
		return (m.Purpose != trace.ToLook || m.What == "list" || m.What == "get") && m.What != "SUBSCRIBE" && t.v.Answered(m) > t.until && last.Sub(m.Sent) < t.soon()
	})
	if i < 0 || !t.forever(w) && t.until.Sub(last) < t.v.Run.Case.Scenario.Progress/2 {
		return ""
	}
	return fmt.Sprintf("%s's %s to %s is not answered, Lock does not return, and ", t.v.Waiter(w), list[i].What, list[i].To)
}

// asked returns the acquisition that somebody waits for, and its requests for the lock since the wait began; nil if it has none.
func (t *narrator) asked(w *history.Wait) (a *history.Acquisition, list []*model.Sent) {
	for i := range t.v.History.Acquisitions {
		if o := &t.v.History.Acquisitions[i]; o.Client == w.Client && o.Task == w.Task && o.Invoked <= t.until {
			a = o
		}
	}
	if a == nil {
		return nil, nil
	}
	return a, t.requests(a, w.From, t.until, trace.ToAcquire, trace.ToLook)
}

// watches reports whether one of some requests has set a watch that has not fired.
func (t *narrator) watches(list []*model.Sent) bool {
	return slices.ContainsFunc(list, func(m *model.Sent) bool {
		return isWatch(m) && !slices.ContainsFunc(t.v.Messages, func(n model.Sent) bool { return fires(m, &n) })
	})
}

// shouldWatch names the entry that one who watches its own should have watched: the one before it in the queue. It is "" if another
// one was watched, since also the first of a queue may be, or if there is none before it for certain.
func (t *narrator) shouldWatch(m *model.Sent, by *history.Acquisition, watched string) string {
	own := t.queued(by, m.Executed)
	if !strings.Contains(watched, "its own") || own == "" {
		return ""
	}
	var before *history.Acquisition
	nearest := ""
	for i := range t.v.History.Acquisitions {
		o := &t.v.History.Acquisitions[i]
		left := o.Unlocked <= m.Executed || o.Crashed <= m.Executed || o.Returned <= m.Executed && o.Outcome != history.OK
		if g := t.v.LastGrant(o.ID, m.Executed); left || o.ID == by.ID || g != nil && g.To <= m.Executed {
			continue
		}
		if place := t.queued(o, m.Executed); place < own && nearest < place {
			before, nearest = o, place
		}
	}
	if before == nil {
		return ""
	}
	return " instead of " + t.v.EntryOf(t.who(before))
}

// queued is the number in the queue of the znode that an acquisition created last before a moment; "" if it did not, or was not told.
func (t *narrator) queued(a *history.Acquisition, by trace.Instant) string {
	place := ""
	for _, m := range t.requests(a, a.Invoked, min(a.Returned, by), trace.ToAcquire) {
		if m.What != "create" || m.Executed > by || m.Answer < 0 {
			continue
		}
		path, _, made := strings.Cut(t.v.Messages[m.Answer].Detail, " czxid ")
		if made && len(path) > sequenceDigits {
			place = path[len(path)-sequenceDigits:]
		}
	}
	return place
}

// sequenceDigits is how many digits ZooKeeper puts behind the name of a sequential znode.
const sequenceDigits = 10

// nothing is what a look watches that sets no watch.
const nothing = "nothing"

// watched says what a look of an acquisition at ZooKeeper watches; "" if it is none, or if the path does not tell whose
// znode it is.
func (t *narrator) watched(m *model.Sent, by *history.Acquisition) string {
	looks := m.What == "getData" || m.What == "exists" || m.What == "getChildren"
	if !looks {
		return ""
	}
	if !isWatch(m) {
		return nothing
	}
	of := t.maker(m)
	switch entry := t.v.Servers().Entry(); {
	case of == nil:
		return ""
	case of == by:
		return "its own " + entry
	case model.SameOwner(of, by):
		return "the " + entry + " of its own earlier try"
	default:
		return t.v.EntryOf(t.who(of))
	}
}

// goneBefore returns the entry that went last before a moment at which there is none; nil if there is one, or was none.
func (t *narrator) goneBefore(at trace.Instant) (last *history.Copy) {
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		switch {
		case c.From <= at && at < c.To:
			return nil
		case c.From < at && c.To <= at && (last == nil || last.To < c.To):
			last = c
		}
	}
	return last
}

// consulsLockDelay is for how long Consul keeps a lock from others whose session has ended, unless a client asks for another time
// (Consul's documentation, "Sessions").
const consulsLockDelay = 15 * time.Second

// withheld says that the servers keep a lock from everybody that was lost with its session, and for how long; "" if they do not. It
// tells how the session ended.
func (t *narrator) withheld() string {
	delay, s := time.Duration(0), t.v.Run.Case.Scenario
	switch {
	case t.v.Servers().Holds() != "session" || model.KeeperOf(t.v.Servers()) != "":
	case s.Lock.LockDelay != nil:
		delay = *s.Lock.LockDelay
	case t.v.Servers().Facts().Delays:
		delay = consulsLockDelay
	}
	c := t.goneBefore(t.until)
	if c == nil || t.until >= c.To.Add(delay) {
		return ""
	}
	a := t.v.History.Acquisition(c.Acquisition)
	destroyed := moments.RequestAt(t.v, c.Node, c.Client, c.To, trace.ToRelease)
	destroys := c.Gone == history.Deleted && destroyed != nil && destroyed.What == "Session.Destroy"
	if a == nil || c.Gone != history.Expired && !destroys {
		return ""
	}
	t.acquires(a)
	t.leaves(a, t.until)
	if destroys {
		t.tellOfLoss(c, t.who(a)+"'s "+destroyed.What, "ends its session"+here+" while that has the lock", c.Node)
		t.wrong(destroyed.What, "ends a session that has the lock")
	}
	return c.Node + " keeps the lock from others for " + spokenExactly(delay) + " after that (its lock-delay), and "
}

// firstSplit are the votes that were split first; none if they were not split again.
func (t *narrator) firstSplit() []history.Copy {
	if !t.v.Votes() || t.givenUp() > 0 {
		return nil
	}
	rounds := t.v.History.SplitVotes(t.until.Add(-t.v.Run.Case.Scenario.Progress), t.until, t.v.Servers().Masters/2+1)
	if len(rounds) < 2 {
		return nil
	}
	return rounds[0]
}

// givenUp counts the grants of most servers within the bound on waiting: nobody relied on them, for else somebody would have acquired
// the lock.
func (t *narrator) givenUp() (n int) {
	for i := range t.v.History.Grants {
		if g := &t.v.History.Grants[i]; t.until.Add(-t.v.Run.Case.Scenario.Progress) < g.From && g.From <= t.until {
			n++
		}
	}
	return n
}

// hasVote reports whether one of some votes is for somebody who waited then.
func (t *narrator) hasVote(w *history.Wait, votes []history.Copy) bool {
	return slices.ContainsFunc(votes, func(c history.Copy) bool {
		return t.v.Holder(c.Acquisition, c.Client) == t.v.Waiter(w) && w.From <= c.From && c.From <= w.To
	})
}

// splitVotes says how those who ask share the votes, if they do so again and again. Two tries of one client are told apart.
func (t *narrator) splitVotes() string {
	if t.v.Votes() && t.givenUp() > 1 {
		return "again and again most servers grant the lock, and Lock gives it up, and "
	}
	var who []history.ID
	nodes, tries := map[history.ID][]string{}, map[string]int{}
	for _, c := range t.firstSplit() {
		if !slices.Contains(who, c.Acquisition) {
			who = append(who, c.Acquisition)
			tries[t.v.Holder(c.Acquisition, c.Client)]++
		}
		nodes[c.Acquisition] = append(nodes[c.Acquisition], c.Node)
	}
	var parts []string
	told := map[string]bool{}
	for i, id := range who {
		verb, name := "", t.v.Holder(id, t.v.History.Acquisition(id).Client)
		switch {
		case i == 0 && len(nodes[id]) == 1:
			verb = " votes"
		case i == 0:
			verb = " vote"
		}
		whom := name
		switch {
		case told[name]:
			whom = "another try of " + name
		case tries[name] > 1:
			whom = "one try of " + name
		}
		told[name] = true
		parts = append(parts, wording.Listing(nodes[id])+verb+" for "+whom)
	}
	if len(parts) == 0 {
		return ""
	}
	return "time after time " + wording.Listing(parts) + " and nobody has a majority, and "
}

// longestWords is up to how many bytes a library is quoted.
const longestWords = 120

// refusals is what Lock says each time to the one who waits, in its own words, or else what a server answers, if that is always
// the same and can be quoted.
func (t *narrator) refusals() string {
	w, said, times := t.waiting(), "", 0
	for i := range t.v.History.Acquisitions {
		a := &t.v.History.Acquisitions[i]
		if w == nil || a.Client != w.Client || a.Task != w.Task || a.Invoked < w.From || a.Returned > t.until {
			continue
		}
		if a.Said == "" || times > 0 && a.Said != said {
			return ""
		}
		said = a.Said
		times++
	}
	switch {
	case times == 0 && w != nil:
		return t.answers(w)
	case times < 2 || len(said) > longestWords || strings.Contains(said, "\n"):
		return ""
	}
	return fmt.Sprintf("each time Lock says %q, and ", said)
}

// answers says what the one who waits is answered each time until the violation; "" if it asks once only, or not always the same, or
// if no answer decides because several servers vote.
func (t *narrator) answers(w *history.Wait) (text string) {
	_, list := t.asked(w)
	if len(list) < 3 || t.v.Votes() {
		return ""
	}
	long := t.until.Add(-t.v.Run.Case.Scenario.Progress / 2)
	if list[len(list)-1].Sent < long {
		return "" // it has long stopped asking
	}
	for i, m := range list {
		said := "each time " + t.v.Waiter(w) + "'s " + m.What + " " + t.outcome(m, t.until) + ", and "
		last := i == len(list)-1 && t.v.Answered(m) > t.until // not answered yet
		if !last && (t.v.Answered(m) == trace.Never || t.outcome(m, t.until) == "" || text != "" && text != said) {
			return ""
		}
		if !last {
			text = said
		}
	}
	return text
}

// waiting is the longest wait under way at the violation, of whom it names if it names somebody.
func (t *narrator) waiting() *history.Wait {
	var longest *history.Wait
	for i := range t.v.History.Waits {
		w := &t.v.History.Waits[i]
		named := t.taken(0) == nil || t.taken(0).Client == w.Client && t.taken(0).Task == w.Task
		if named && w.From <= t.until && w.To >= t.until && (longest == nil || w.From < longest.From) {
			longest = w
		}
	}
	return longest
}

// asksAgain reports whether the client that made an entry tries to make one again while it is there: Lock does not know that it has it.
func (t *narrator) asksAgain(c *history.Copy) bool {
	a := t.v.History.Acquisition(c.Acquisition)
	return slices.ContainsFunc(t.requests(a, c.From+1, t.until, trace.ToAcquire), func(m *model.Sent) bool {
		return c.From < m.Executed && m.Executed <= t.until && m.To == c.Node
	})
}

// lastHolder is who believed last that it holds before the violation.
func (t *narrator) lastHolder() *history.Acquisition {
	var last *history.Acquisition
	for _, b := range t.v.Beliefs {
		if b.From <= t.until && (last == nil || last.Returned <= b.From) {
			last = b.Acquisition
		}
	}
	return last
}

// lastRelease tells of the acquisition whose entry went last, where none is left, and how it went.
func (t *narrator) lastRelease() {
	if c := t.goneBefore(t.until); c != nil {
		if a := t.v.History.Acquisition(c.Acquisition); a != nil && a.Returned <= t.until {
			t.acquires(a)
			t.leaves(a, t.until)
		}
	}
}

// notReturned begins what is said of somebody who was granted the lock and does not hear of it.
const notReturned = "Lock does not return to "

// blocked says what keeps those out who wait in vain: a holder, or an entry that has stayed at the servers.
func (t *narrator) blocked() string {
	if a := t.lastHolder(); a != nil && t.v.BelievesAt(a.ID, t.until) {
		if g := t.v.LastGrant(a.ID, t.until); g != nil && g.To <= t.until {
			return t.who(a) + " still believes that it holds it, and "
		}
		if w := t.waiting(); w != nil && t.waitsFor(w, a) {
			return t.who(a) + " holds it itself, and "
		}
		return t.who(a) + " still holds it, and "
	}
	first, nodes := t.inTheWay()
	if first == nil {
		t.lastRelease()
		return cmp.Or(t.withheld(), t.splitVotes(), t.unacknowledged(), t.exchanged(), t.deadAhead(), t.refusals())
	}
	who := t.v.Holder(first.Acquisition, first.Client)
	if t.unheard(first) {
		if t.asksAgain(first) {
			t.wrong("Lock", "leaves an entry") // of a try that failed, as where Lock returns
			return notReturned + who + ", which its own " + t.v.Servers().Entry() + " keeps out, and "
		}
		return notReturned + who + ", and "
	}
	if !slices.Contains(t.participants, first.Acquisition) {
		t.tellOrigin(first, who)
	}
	text := t.v.EntryOf(who) + " stays"
	if t.v.Servers().Count() > 1 && model.KeeperOf(t.v.Servers()) == "" {
		text += " on " + wording.Listing(nodes)
	}
	if first.Expires == trace.Never && t.v.Servers().Holds() == "" {
		text += " and nothing ends it"
	}
	kept := t.kept(first, who)
	if kept == "" {
		kept = t.untilExpiry(first) + t.omitted(first, who)
	}
	text += kept + ", and "
	w, a := t.waiting(), t.v.History.Acquisition(first.Acquisition)
	if w != nil && a != nil && w.Client == a.Client && w.Task == a.Task { // it keeps itself out
		text += cmp.Or(t.refusals(), t.repeats(w, first))
	}
	return text
}

// repeats says what the requests are answered that one sends again which its own entry keeps out; "" if it sends none.
func (t *narrator) repeats(w *history.Wait, own *history.Copy) string {
	_, list := t.asked(w)
	for _, m := range slices.Backward(list) {
		later := m.Purpose == trace.ToAcquire && own.From < m.Sent && t.v.Answered(m) <= t.until
		if outcome := t.outcome(m, t.until); later && outcome != "" {
			t.wrong(m.What, "comes again")
			return t.v.Waiter(w) + "'s later " + m.What + " " + outcome + ", and "
		}
	}
	return ""
}
