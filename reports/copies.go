package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
)

// copies tells of what servers lost, or whose time was over before it should have been.
func (s *story) copies() {
	for i := range s.v.h.Copies {
		c := &s.v.h.Copies[i]
		if !s.v.within(c.From, c.To) {
			continue
		}
		who := s.v.holder(c.Acquisition, c.Client)
		text := s.lossWords(c, who)
		m := moment{
			at: c.To, lane: laneNode(c.Node), order: orderLoss, key: fmt.Sprintf("copy %d", c.Acquisition),
			sign: goneSign(c.Gone), who: c.Node, text: text, weight: weightLoss,
		}
		if text == "" {
			m.weight = 0 // a sign on the lane, no line in the list
		}
		if c.To <= s.v.h.End {
			s.add(m, c.Acquisition)
		}
		if s.v.resurrected(c) {
			s.add(moment{
				at: c.From, lane: laneNode(c.Node), order: orderService, key: fmt.Sprintf("again %d", c.Acquisition),
				who: c.Node, text: "comes back with " + s.v.entryOf(who) + ", which had been gone", weight: weightLoss,
			}, c.Acquisition)
		}
	}
}

// lossWords says how a server lost what it kept of somebody's lock; "" if that is as it should be.
func (s *story) lossWords(c *history.Copy, who string) string {
	switch {
	case c.Gone == history.Wiped:
		return s.v.wipeWords(c, who)
	case c.Gone == history.Overwritten:
		return s.v.entryOf(who) + " " + s.v.overwritten()
	case s.v.toldToDelete(c) && (c.Gone == history.Evicted || s.v.tooEarly(c)):
		return "deletes " + s.v.entryOf(who) + ", as its master did"
	case c.Gone == history.Evicted:
		return "evicts " + s.v.entryOf(who) + " to make room"
	case s.v.tooEarly(c):
		return s.v.entryOf(who) + " expires by the server's clock, too early"
	}
	return ""
}

// overwritten says what it is for somebody else's entry to take the place of one.
func (v *view) overwritten() string {
	if v.servers().Entry() == "lock" {
		return "was given to another"
	}
	return "was overwritten"
}

// resurrected reports whether a server had a copy again when it came back that had been gone before its crash.
func (v *view) resurrected(c *history.Copy) bool {
	back := slices.ContainsFunc(v.faults, func(f fault) bool {
		return f.fired && f.kind == "crash" && f.node == c.Node && f.end == c.From
	})
	return back && slices.ContainsFunc(v.h.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.Acquisition == c.Acquisition && o.To < c.From && o.Gone != history.Wiped
	})
}

func (v *view) wipeWords(c *history.Copy, who string) string {
	switch lost, back := v.wiped(c); {
	case lost:
		return "loses " + v.entryOf(who)
	case back:
		return "comes back without " + v.entryOf(who)
	}
	text := "takes over another server's dataset, "
	i := slices.IndexFunc(v.h.Copies, func(o history.Copy) bool {
		return o.Node == c.Node && o.From == c.To && o.To > o.From
	})
	if i < 0 {
		return text + "without " + v.entryOf(who)
	}
	next := &v.h.Copies[i]
	return text + "with " + v.entryOf(v.holder(next.Acquisition, next.Client)) + " in the place of " + who + "'s"
}

// removals tells of releases that did what they should not, and once for each acquisition of one that came too late.
func (s *story) removals() {
	late := map[history.ID]bool{}
	for i := range s.v.h.Removals {
		r := &s.v.h.Removals[i]
		who := s.v.holder(r.By, r.Client)
		m := moment{
			at: r.At, lane: laneNode(r.Node), order: orderService, key: fmt.Sprintf("removal %d", r.By), who: r.Node,
			ink: amber, weight: weightLoss, sign: SignDeleted,
		}
		switch {
		case r.Again:
			m.text = who + "'s late release deletes the " + s.v.servers().Entry() + " of its own later try"
		case r.Ended != 0:
			m.text = who + "'s release deletes " + s.v.entryOf(s.v.holder(r.Ended, ""))
		case r.Stale && !late[r.By]:
			late[r.By] = true
			m.text = who + "'s release " + s.staleWords(r)
			m.ink, m.weight, m.sign = plain, weightStale, SignNone
			if a := s.v.h.Acquisition(r.By); a != nil && a.Outcome != history.OK {
				m.weight = weightTrivia // it cleans up after a try that failed
			}
		default:
			continue
		}
		s.add(m, r.By, r.Ended)
	}
}

// staleWords says what became of a release that found no entry of its sender's. A database that reports it as done has
// counted one hold less of the connection's that it came by, which was lent to another client meanwhile.
func (s *story) staleWords(r *history.Removal) string {
	if a := s.v.h.Acquisition(r.By); a != nil && a.Release == history.OK && s.v.servers().Holds() == "connection" {
		for i := range s.v.h.Copies {
			if c := &s.v.h.Copies[i]; c.Node == r.Node && c.From <= r.At && r.At < c.To {
				return "takes one hold off " + s.v.entryOf(s.v.holder(c.Acquisition, c.Client))
			}
		}
	}
	return "finds no " + s.v.servers().Entry() + " of its own, and does nothing"
}

func goneSign(gone history.Gone) Sign {
	switch gone {
	case history.Expired:
		return SignExpired
	case history.Deleted:
		return SignDeleted
	case history.Wiped, history.Evicted, history.Overwritten:
		return SignLost
	case history.Kept:
	}
	return SignNone
}
