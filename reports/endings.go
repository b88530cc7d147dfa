package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// damaged tells of what befell the resource.
func (t *plot) damaged() string {
	var list []*history.Acquisition
	for _, id := range t.violation.Acquisitions {
		if a := t.h.Acquisition(id); a != nil {
			list = append(list, a)
		}
	}
	t.play(list...)
	if t.violation.Kind == "lost update" {
		return t.lost()
	}
	return t.torn()
}

// lost tells of an update that another one has destroyed.
func (t *plot) lost() string {
	first, second := t.taken(0), t.taken(1)
	over := t.access(second.ID, history.Write, -1, t.until)
	if over == nil {
		return t.checkersWords()
	}
	for _, a := range []*history.Acquisition{first, second} {
		if read := t.access(a.ID, history.Read, over.Register, t.until); read != nil {
			t.accesses(read)
		}
	}
	under := t.access(first.ID, history.Write, over.Register, t.until)
	if under == nil {
		return t.checkersWords()
	}
	t.accesses(under)
	t.accesses(over)
	based := ""
	if read := t.access(first.ID, history.Read, over.Register, under.Applied); read != nil {
		based = fmt.Sprintf("Both have computed what they write from version %d, so that ", t.version(read))
	}
	return capital(fmt.Sprintf("%s%s's update is lost%s.", based, t.who(first), t.taking(under, over)))
}

// taking says why the resource took both writes.
func (t *plot) taking(under, over *history.Access) string {
	switch t.h.Fencing {
	case history.Unfenced:
		if t.run.Case.Scenario.Resource.Guarded {
			return ""
		}
		return ": the resource compares nothing"
	case history.CheckThenWrite:
		return ": the token is compared in one step and the write done in another"
	case history.FencedWrite, history.FencedReadWrite:
		if under.Token == over.Token {
			return ": both have token " + tokenText(over.Token)
		}
		who := t.holder(under.Acquisition, "")
		return ": reads show no token, and no larger one than " + who + "'s had come with a write"
	case history.TokenEquality, history.CompareAndSet:
	}
	return ""
}

// access returns an acquisition's last accepted access of a kind to a register, or to any of them, up to a moment.
func (t *plot) access(id history.ID, op history.Op, register int, until trace.Instant) *history.Access {
	var last *history.Access
	for i := range t.h.Accesses {
		a := &t.h.Accesses[i]
		of := a.Acquisition == id && (register < 0 || a.Register == register)
		if of && a.Op == op && a.Accepted && a.Applied <= until {
			last = a
		}
	}
	return last
}

// torn tells of a section of which somebody saw a part: what the one wrote, or would have, and what the other read. Of
// one that contradicts itself it tells both.
func (t *plot) torn() string {
	writer, reader := t.taken(0), t.taken(1)
	for i := range t.h.Accesses {
		a := &t.h.Accesses[i]
		alone := reader == nil && a.Acquisition == writer.ID && a.Applied <= t.violation.At
		wrote := reader != nil && a.Acquisition == writer.ID && a.Op == history.Write
		read := reader != nil && a.Acquisition == reader.ID && a.Op == history.Read
		if alone || wrote || read {
			t.accesses(a)
			if a.Applied != trace.Never {
				t.until = max(t.until, a.Applied)
			}
		}
	}
	switch {
	case len(t.violation.Acquisitions) != 2 || !t.hasRead(reader, writer):
	case sameOwner(reader, writer):
		return fmt.Sprintf("%s sees one half of what it did in its section before, and not the other.", t.begins(reader))
	default:
		return fmt.Sprintf("%s has seen one half of what %s does in its section, and not the other.", t.begins(reader),
			t.who(writer))
	}
	return t.checkersWords()
}

// hasRead reports whether a section has read what another one wrote.
func (t *plot) hasRead(reader, writer *history.Acquisition) bool {
	return slices.ContainsFunc(t.h.Accesses, func(r history.Access) bool {
		return r.Acquisition == reader.ID && r.Op == history.Read && r.Accepted && slices.ContainsFunc(t.h.Accesses,
			func(w history.Access) bool {
				same := w.Register == r.Register && w.Version == r.Version
				return w.Acquisition == writer.ID && w.Op == history.Write && same
			})
	})
}

// disorder tells of tokens that do not grow.
func (t *plot) disorder() string {
	first, second := t.taken(0), t.taken(1)
	if first == nil || second == nil {
		return t.checkersWords()
	}
	t.play(first, second)
	g, h := t.lastGrant(first.ID, t.until), t.lastGrant(second.ID, t.until)
	if g == nil || h == nil {
		return t.checkersWords()
	}
	if g.Token == h.Token {
		return fmt.Sprintf("So %s is granted the lock later and has the same token as %s, %s.", t.who(second),
			t.who(first), tokenText(g.Token))
	}
	return fmt.Sprintf("So %s is granted the lock later and has the smaller token: %s after %s.", t.who(second),
		tokenText(h.Token), tokenText(g.Token))
}

// misdelete tells of a release that ended what it should not have.
func (t *plot) misdelete() string {
	by := t.taken(0)
	if by == nil {
		return t.checkersWords()
	}
	ended := t.taken(1)
	if ended == nil {
		t.acquires(by)
		t.ends(by, t.until)
		return "That release was sent for an earlier try."
	}
	t.play(by, ended)
	t.ends(ended, t.until)
	return fmt.Sprintf("What that release ends was granted to %s, not to %s.", t.who(ended), t.who(by))
}

// stall tells of somebody who waits in vain.
func (t *plot) stall() string {
	waiter := t.waiting()
	if waiter == nil {
		return t.checkersWords()
	}
	if a := t.lastHolder(); a != nil {
		t.acquires(a)
	}
	votes := t.firstSplit()
	for i := range t.h.Waits {
		if w := &t.h.Waits[i]; w.From <= t.until && t.until <= w.To || t.hasVote(w, votes) {
			t.tell(w.From, orderBelief, t.waiter(w), "asks for the lock")
		}
	}
	who := capital(t.subject(t.waiter(waiter)))
	if t.h.Quiescent && waiter.To == trace.Never {
		return t.blocked() + who + " waits for ever: nothing can happen any more."
	}
	since := "since " + spokenMoment(waiter.From)
	if waiter.From.Sub(0) < t.soon() {
		since = "from the start"
	}
	return t.blocked() + fmt.Sprintf("%s has waited %s, and for %s nobody has acquired the lock.", who, since,
		spokenExactly(t.run.Case.Scenario.Progress))
}

// firstSplit are the votes that were split first; none if they were not split again.
func (t *plot) firstSplit() []history.Copy {
	if !t.votes() {
		return nil
	}
	rounds := t.h.SplitVotes(t.until.Add(-t.run.Case.Scenario.Progress), t.until, t.servers().Masters/2+1)
	if len(rounds) < 2 {
		return nil
	}
	return rounds[0]
}

// hasVote reports whether one of some votes is for somebody who waited then.
func (t *plot) hasVote(w *history.Wait, votes []history.Copy) bool {
	return slices.ContainsFunc(votes, func(c history.Copy) bool {
		return t.holder(c.Acquisition, c.Client) == t.waiter(w) && w.From <= c.From && c.From <= w.To
	})
}

// splitVotes says how those who ask share the votes, if they do so again and again.
func (t *plot) splitVotes() string {
	var who []string
	nodes := map[string][]string{}
	for _, c := range t.firstSplit() {
		name := t.holder(c.Acquisition, c.Client)
		if !slices.Contains(who, name) {
			who = append(who, name)
		}
		nodes[name] = append(nodes[name], c.Node)
	}
	var parts []string
	for i, name := range who {
		verb := ""
		switch {
		case i == 0 && len(nodes[name]) == 1:
			verb = " votes"
		case i == 0:
			verb = " vote"
		}
		parts = append(parts, listing(nodes[name])+verb+" for "+name)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Time after time " + listing(parts) + ", and nobody has a majority. "
}

// longestWords is up to how many bytes a library is quoted.
const longestWords = 120

// refusals is what Lock says each time to the one who waits, in its own words, if that is always the same and can be quoted.
func (t *plot) refusals() string {
	w, said, times := t.waiting(), "", 0
	for i := range t.h.Acquisitions {
		a := &t.h.Acquisitions[i]
		if w == nil || a.Client != w.Client || a.Task != w.Task || a.Invoked < w.From || a.Returned > t.until {
			continue
		}
		if a.Said == "" || times > 0 && a.Said != said {
			return ""
		}
		said = a.Said
		times++
	}
	if times < 2 || len(said) > longestWords || strings.Contains(said, "\n") {
		return ""
	}
	return fmt.Sprintf("Each time Lock says %q. ", said)
}

// waiting is the longest wait under way at the violation, of whom it names if it names somebody.
func (t *plot) waiting() *history.Wait {
	var longest *history.Wait
	for i := range t.h.Waits {
		w := &t.h.Waits[i]
		named := t.taken(0) == nil || t.taken(0).Client == w.Client && t.taken(0).Task == w.Task
		if named && w.From <= t.until && w.To >= t.until && (longest == nil || w.From < longest.From) {
			longest = w
		}
	}
	return longest
}

// lastHolder is who believed last that it holds before the violation.
func (t *plot) lastHolder() *history.Acquisition {
	var last *history.Acquisition
	for _, b := range t.beliefs {
		if b.From <= t.until && (last == nil || last.Returned <= b.From) {
			last = b.Acquisition
		}
	}
	return last
}

// blocked says what keeps those out who wait in vain: a holder, or an entry that has stayed at the servers.
func (t *plot) blocked() string {
	if a := t.lastHolder(); a != nil && t.believesAt(a.ID, t.until) {
		return t.begins(a) + " still holds it. "
	}
	within := t.run.Case.Scenario.Progress / 2
	var first *history.Copy
	var nodes []string
	for i := range t.h.Copies {
		c := &t.h.Copies[i]
		stays := c.From <= t.until.Add(-within) && t.until < c.To && !t.isDown(c.Node, t.until)
		if stays && (first == nil || first.Acquisition == c.Acquisition) && !slices.Contains(nodes, c.Node) {
			first, nodes = c, append(nodes, c.Node)
		}
	}
	if first == nil {
		return cmp.Or(t.splitVotes(), t.refusals())
	}
	if !slices.Contains(t.cast, first.Acquisition) {
		t.tell(first.From, orderService, t.entryOf(t.holder(first.Acquisition, first.Client)), "is made")
	}
	text := capital(t.subject(t.entryOf(t.holder(first.Acquisition, first.Client)))) + " stays"
	if t.servers().Count() > 1 && keeperOf(t.servers()) == "" {
		text += " on " + listing(nodes)
	}
	if first.Expires == trace.Never && t.servers().Holds() == "" {
		text += ", and nothing ends it"
	}
	return text + ". "
}
