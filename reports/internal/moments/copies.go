package moments

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// copies tells of what servers lost, or whose time was over before it should have been.
func (s *story) copies() {
	for i := range s.v.History.Copies {
		c := &s.v.History.Copies[i]
		if !s.v.Within(c.From, c.To) {
			continue
		}
		who := s.v.Holder(c.Acquisition, c.Client)
		text := s.lossWords(c, who)
		m := Moment{
			At: c.To, Place: PlaceOfCopy(s.v, c), step: StepOfLoss(s.v, c), order: OrderLoss,
			Sign: goneSign(c.Gone), Who: c.Node, Text: text, Weight: weightLoss,
		}
		if text == "" {
			m.Weight = 0 // a sign on the lane, no line in the list
		}
		if c.To <= s.v.History.End {
			s.add(m, c.Acquisition)
		}
		if Resurrected(s.v, c) {
			s.add(Moment{
				At: c.From, Place: PlaceOfReturn(s.v, c), order: OrderService,
				Who: c.Node, Text: "comes back with " + s.v.EntryOf(who) + ", which had been gone", Weight: weightLoss,
			}, c.Acquisition)
		}
	}
}

// lossWords says how a server lost what it kept of somebody's lock; "" if that is as it should be.
func (s *story) lossWords(c *history.Copy, who string) string {
	switch {
	case c.Gone == history.Wiped:
		return WipeWords(s.v, c, who)
	case Shared(s.v, c):
		return s.v.EntryOf(who) + " was taken by another with the same value"
	case c.Gone == history.Overwritten:
		return s.v.EntryOf(who) + " " + overwritten(s.v, c)
	case Deleter(s.v, c) != nil:
		return s.v.EntryOf(who) + " was deleted by another"
	case s.v.ToldToDelete(c) && (c.Gone == history.Evicted || s.v.TooEarly(c) || s.v.Unheard(c) != nil):
		return "deletes " + s.v.EntryOf(who) + ", as its " + s.v.Servers().Leads() + " did"
	case c.Gone == history.Evicted:
		return "evicts " + s.v.EntryOf(who) + " to make room"
	case c.Gone == history.Expired && s.v.Shortener(c) != nil:
		return s.v.EntryOf(who) + " expires: its own renewal had given it an earlier end"
	case s.v.Unheard(c) != nil:
		return s.v.EntryOf(who) + " expires: a renewal on " + s.v.Unheard(c).Node + " has not reached it"
	case s.v.Coarse(c):
		return s.v.EntryOf(who) + " expires too early, since the server counts whole seconds"
	case s.v.TooEarly(c):
		return s.v.EntryOf(who) + " expires by the server's clock, too early"
	}
	return ""
}

// overwritten says what it is for somebody else's entry to take the place of one.
func overwritten(v *model.View, c *history.Copy) string {
	switch v.Servers().Entry() {
	case "lock":
		return "was given to another"
	case "object": // it may still be there, and one with a later epoch count
		if next := successor(v, c); next != nil && LeasesAgain(Maker(v, next)) {
			return "is leased to another"
		}
		return "was replaced by another's"
	default:
		return "was overwritten"
	}
}

// LeasesAgain reports whether a request asks for a lease on an object, which changes nothing in the object: nil asks for nothing.
func LeasesAgain(e *trace.Event) bool { return e != nil && e.What == "lease" }

// Resurrected reports whether a server had a copy again when it came back that had been gone before its crash.
func Resurrected(v *model.View, c *history.Copy) bool {
	back := slices.ContainsFunc(v.Faults, func(f model.Fault) bool {
		return f.Kind == sim.Crash && f.Node == c.Node && f.End == c.From
	})
	return back && slices.ContainsFunc(v.History.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.Acquisition == c.Acquisition && o.To < c.From && o.Gone != history.Wiped
	})
}

// WipeWords say how a server lost what it kept of a client's lock.
func WipeWords(v *model.View, c *history.Copy, who string) string {
	switch lost, back := v.Wiped(c); {
	case lost:
		return "loses " + v.EntryOf(who)
	case back:
		return "comes back without " + v.EntryOf(who)
	}
	text := "takes over another server's dataset, "
	i := slices.IndexFunc(v.History.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.From == c.To && o.To > o.From
	})
	if i < 0 {
		return text + "without " + v.EntryOf(who)
	}
	next := &v.History.Copies[i]
	return text + "with " + v.EntryOf(v.Holder(next.Acquisition, next.Client)) + " in the place of " + who + "'s"
}

// removals tells of releases and other requests that did what they should not, and once for each acquisition of one that came
// too late.
func (s *story) removals() {
	late := map[history.ID]bool{}
	for i := range s.v.History.Removals {
		r := &s.v.History.Removals[i]
		who := s.v.Holder(r.By, r.Client)
		m := Moment{
			At: r.At, Place: PlaceOfRemoval(s.v, r), step: StepOfRemoval(s.v, r), order: OrderService, Who: r.Node,
			Ink: paint.Amber, Weight: weightLoss, Sign: timeline.SignDeleted,
		}
		switch {
		case r.Again:
			m.Text = who + "'s late release " + Ends(s.v, r) + " the " + s.v.Servers().Entry() + " of its own later try"
		case r.Shortened:
			m.Text = who + "'s request gives " + s.v.EntryOf(s.v.Holder(r.Ended, "")) + " an earlier end"
			m.Sign = timeline.SignNone
		case r.Ended != 0 && Unchanged(s.v, s.v.History.Acquisition(r.By)) != nil: // the entry is as much its own
			continue
		case r.Ended != 0:
			m.Text = who + s.release(r) + Ends(s.v, r) + " " + s.v.EntryOf(s.v.Holder(r.Ended, ""))
		case r.Stale && !late[r.By]:
			late[r.By] = true
			m.Text = who + s.release(r) + s.staleWords(r)
			m.Ink, m.Weight, m.Sign = paint.Plain, weightStale, timeline.SignNone
			if a := s.v.History.Acquisition(r.By); a != nil && a.Outcome != history.OK {
				m.Weight = weightTrivia // it cleans up after a try that failed
			}
		default:
			continue
		}
		s.add(m, r.By, r.Ended)
	}
}

// release names the request of a removal.
func (s *story) release(r *history.Removal) string {
	if m := Background(s.v, r); m != nil {
		return "'s " + m.What + " "
	}
	if m := Taking(s.v, r); m != nil {
		return "'s " + m.What + " "
	}
	if Repeated(s.v, r) {
		return "'s repeated release "
	}
	return "'s release "
}

// sentWithin returns the messages that were sent from one moment to another, among the very many of a long run.
func sentWithin(v *model.View, from, to trace.Instant) []model.Sent {
	at := func(t trace.Instant) int {
		i, _ := slices.BinarySearchFunc(v.Messages, t, func(m model.Sent, t trace.Instant) int { return cmp.Compare(m.Sent, t) })
		return i
	}
	first := at(from)
	return v.Messages[first:max(first, at(to+1))]
}

// Background returns the request of a removal that a lock sent by itself: its Lock had returned without the lock, and nobody called Unlock.
// It is nil of others.
func Background(v *model.View, r *history.Removal) *model.Sent {
	by := v.History.Acquisition(r.By)
	if by == nil || by.Outcome == history.OK || by.Unlocked <= r.At {
		return nil
	}
	sent := sentWithin(v, by.Returned, r.At)
	agreed := r.Node == model.KeeperOf(v.Servers()) // servers agree on a release first
	i := slices.IndexFunc(sent, func(m model.Sent) bool {
		executed := m.To == r.Node && m.Executed == r.At || agreed && m.Purpose == trace.ToRelease && m.Executed <= r.At
		return m.For == by.ID && executed && m.Sent > by.Returned
	})
	if i < 0 {
		return nil
	}
	return &sent[i]
}

// Taking returns the request of a removal by which somebody took the lock over: Lock had not returned yet, and was to return it, and the request is
// no clean-up of an earlier try. It is nil of others.
func Taking(v *model.View, r *history.Removal) *trace.Event {
	by := v.History.Acquisition(r.By)
	if by == nil || by.Outcome != history.OK || r.At > by.Returned {
		return nil
	}
	takes := slices.ContainsFunc(v.History.Copies, func(c history.Copy) bool {
		return c.Acquisition == r.By && c.Node == r.Node && c.From == r.At
	})
	e := Remover(v, r)
	if e == nil || !takes && e.Alt == trace.ToRelease {
		return nil
	}
	return e
}

// Repeated reports whether a release was sent when the server had carried out another one of the same acquisition in the same words.
func Repeated(v *model.View, r *history.Removal) bool {
	by := v.History.Acquisition(r.By)
	if by == nil || !unlocksAlone(v, by, r.At) {
		return false
	}
	releases := func(m *model.Sent) bool {
		return !m.Reply && m.From == r.Client && m.To == r.Node && m.Purpose == trace.ToRelease && m.Sent >= by.Unlocked
	}
	sent := sentWithin(v, by.Unlocked, r.At)
	i := slices.IndexFunc(sent, func(m model.Sent) bool { return releases(&m) && m.Executed == r.At })
	return i >= 0 && slices.ContainsFunc(sent[:i], func(m model.Sent) bool {
		return releases(&m) && m.Executed < sent[i].Sent && m.What == sent[i].What && m.Detail == sent[i].Detail
	})
}

// staleWords says what became of a release that found no entry of its sender's. A database that reports it as done has
// counted one hold less of the connection's that it came by, which was lent to another client meanwhile; of a lease in a row there is no
// such count.
func (s *story) staleWords(r *history.Removal) string {
	if a := s.v.History.Acquisition(r.By); a != nil && a.Release == history.OK && s.v.Servers().Holds() == "connection" {
		for i := range s.v.History.Copies {
			if c := &s.v.History.Copies[i]; c.Node == r.Node && c.From <= r.At && r.At < c.To && c.Expires == trace.Never {
				return "takes one hold off " + s.v.EntryOf(s.v.Holder(c.Acquisition, c.Client))
			}
		}
	}
	for i := range s.v.History.Copies {
		if c := &s.v.History.Copies[i]; c.Node == r.Node && c.From < r.At && r.At <= c.To && sameValue(s.v, c.Acquisition, r.By) {
			return "finds " + s.v.EntryOf(s.v.Holder(c.Acquisition, c.Client)) + ", which has the same value"
		}
	}
	entry := s.v.Servers().Entry()
	switch what := removing(s.v, r); what {
	case "DEL":
		return "finds no " + entry + ", and does nothing"
	case plainWrite:
		return "overwrites " + s.whatIsOver(r)
	case "SET":
		return "writes the " + entry + ", though its own is over already"
	}
	if e := Remover(s.v, r); e != nil && strings.HasPrefix(answerTo(s.v, e), "1 row") {
		return "finds no " + entry + " of its own, and changes the row of one that is over"
	}
	return "finds no " + entry + " of its own, and does nothing"
}

// answerTo returns what a server answered to a request that it executed; "" if it did not.
func answerTo(v *model.View, request *trace.Event) string {
	executed := false
	for i := range v.Run.Events {
		e := &v.Run.Events[i]
		executed = executed || e == request
		if executed && e.Does == trace.Reply && e.Node == request.Node && e.Peer == request.Peer && e.What == request.What {
			return e.Detail
		}
	}
	return ""
}

// whatIsOver names what a release overwrites that finds nothing of its sender's: what another release has left is nobody's.
func (s *story) whatIsOver(r *history.Removal) string {
	var last *history.Copy
	for i := range s.v.History.Copies {
		if c := &s.v.History.Copies[i]; c.Node == r.Node && c.From < r.At && (last == nil || last.To <= c.To) {
			last = c
		}
	}
	entry := s.v.Servers().Entry()
	switch {
	case last != nil && (last.Gone == history.Deleted || last.Gone == history.Overwritten):
		return "the " + entry + ", which is free already"
	case last != nil && last.Acquisition != r.By:
		return s.v.EntryOf(s.v.Holder(last.Acquisition, last.Client)) + ", which is over already"
	}
	return "its " + entry + ", which is over already"
}

// plainWrite is the request that writes an object whatever is there.
const plainWrite = "put"

// Ends says what a release does to an entry.
func Ends(v *model.View, r *history.Removal) string {
	switch what := removing(v, r); {
	case strings.HasPrefix(what, plainWrite), what == "SET", what == "cas", what == "set": // with a condition or without: nothing is deleted
		return "overwrites"
	case v.Servers().Entry() == "lock":
		return "frees"
	}
	return "deletes"
}

// removing names the request of a removal; "" if it is not known.
func removing(v *model.View, r *history.Removal) string {
	if e := Remover(v, r); e != nil {
		return e.What
	}
	return ""
}

func goneSign(gone history.Gone) timeline.Sign {
	switch gone {
	case history.Expired:
		return timeline.SignExpired
	case history.Deleted:
		return timeline.SignDeleted
	case history.Wiped, history.Evicted, history.Overwritten:
		return timeline.SignLost
	case history.Kept:
	}
	return timeline.SignNone
}

// ByServers names the servers on which a grant stood when it was given.
func ByServers(v *model.View, g *history.Grant) string {
	var names []string
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if StoodOn(c, g) && !countedBefore(v, c, g) && !v.OfEarlierTry(c, g) && !slices.Contains(names, c.Node) {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " by " + wording.Listing(names)
}

// countedBefore reports whether an earlier grant of the same acquisition stood on a copy: a later one does not come of it.
func countedBefore(v *model.View, c *history.Copy, g *history.Grant) bool {
	return slices.ContainsFunc(v.History.Grants, func(o history.Grant) bool {
		return o.Acquisition == g.Acquisition && o.From < g.From && StoodOn(c, &o)
	})
}

// StoodOn reports whether a copy was what a grant was made of, or part of it. It may be over at once.
func StoodOn(c *history.Copy, g *history.Grant) bool {
	return c.Acquisition == g.Acquisition && c.From <= g.From && (g.From < c.To || g.From == c.From)
}
