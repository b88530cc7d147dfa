package tell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/trace"
)

// misdelete tells of a release that ended what it should not have.
func (t *narrator) misdelete() {
	by := t.taken(0)
	if by == nil {
		t.checkersWords()
		return
	}
	ended := t.taken(1)
	if ended == nil {
		t.acquires(by)
		t.ends(by, t.until)
		for i := range t.v.History.Removals {
			if r := &t.v.History.Removals[i]; r.By == by.ID && r.At == t.until && r.Ended != 0 {
				t.removes(r, t.who(by))
			}
		}
		return
	}
	t.play(by, ended)
	t.ends(ended, t.until)
}

// early tells of a grant that its own client's release ended before Unlock was called, and reports whether there was one.
func (t *narrator) early(a *history.Acquisition, g *history.Grant) bool {
	if !t.v.BelievesAt(a.ID, g.To) || t.endedByAnother(a, g) {
		return false
	}
	for i := range t.v.History.Copies {
		c := &t.v.History.Copies[i]
		if c.Acquisition != a.ID || c.To != g.To || c.Gone != history.Deleted {
			continue
		}
		what, purpose := t.deleting(a.Client, c)
		if what == "" {
			continue
		}
		request := a.Client + "'s own release (" + what + ")"
		if purpose == trace.ToRenew { // with an end that has passed
			request = t.who(a) + "'s own renewal (" + what + ")"
		}
		t.tellOf(c.To, request, "deletes "+t.v.EntryOf(t.who(a))+here+
			" while "+t.who(a)+" is still in its critical section", c.Node, moments.PlaceOfCopy(t.v, c).Ended())
		t.wrong(what, "deletes its own too early")
		return true
	}
	return false
}

// deleting returns what a client sent that ended an entry, and its purpose: the request that the server carried out then, or, on an ensemble,
// the release that was under way. It is empty if the trace has none.
func (t *narrator) deleting(client string, c *history.Copy) (what, purpose string) {
	if e := moments.RequestAt(t.v, c.Node, client, c.To, trace.ToRelease); e != nil {
		return e.What, e.Alt
	}
	if model.KeeperOf(t.v.Servers()) == "" {
		return "", ""
	}
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		if !m.Reply && m.From == client && m.Purpose == trace.ToRelease && m.Executed <= c.To && c.To <= t.v.Answered(m) {
			what, purpose = m.What, m.Purpose
		}
	}
	return what, purpose
}

// compares adds why a release could delete another's entry, where its command or its value shows what it failed to compare.
func (t *narrator) compares(r *history.Removal, by *history.Acquisition) {
	e, why := moments.Remover(t.v, r), ""
	switch {
	case e == nil || by == nil || t.v.Servers().Count() > 1:
		return
	case by.Value != "" && slices.ContainsFunc(t.v.History.Acquisitions, func(o history.Acquisition) bool {
		ended := o.ID == r.Ended || r.Again && o.Client == by.Client && o.Invoked <= r.At
		return ended && o.ID != by.ID && o.Value == by.Value
	}) && names(e.Detail, by.Value):
		why = ": both have the value " + by.Value
	case !slices.Contains([]string{"DEL", "DeleteRange"}, e.What):
		return
	case t.looked(r, by):
		why = ": what its GET had found is no longer so"
	default:
		why = ": a " + e.What + " does not compare whose key it is"
	}
	t.conclude(r.At, why, moments.PlaceOfRemoval(t.v, r))
}

// names reports whether a request names a value, rather than a part of another word.
func names(detail, value string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(value) + `(\W|$)`).MatchString(detail)
}

// sameValue says that the tries of an acquisition, one of which its release has ended, asked one server in the same words, and so for
// the same value; "" if that is not known.
func (t *narrator) sameValue(by *history.Acquisition, r *history.Removal) string {
	if by == nil || r.Ended != r.By {
		return ""
	}
	asks := slices.DeleteFunc(t.requests(by, by.Invoked, r.At, trace.ToAcquire), func(m *model.Sent) bool { return m.To != r.Node })
	if len(asks) < 2 || slices.ContainsFunc(asks, func(m *model.Sent) bool { return m.Detail != asks[0].Detail || m.What != asks[0].What }) {
		return ""
	}
	return " (its value is the same)"
}

// looked reports whether a release read the key before it deleted it, and found its own value.
func (t *narrator) looked(r *history.Removal, by *history.Acquisition) bool {
	from := by.Unlocked
	if from == trace.Never {
		from = by.Invoked
	}
	return slices.ContainsFunc(t.v.Messages, func(m model.Sent) bool {
		gets := !m.Reply && m.From == r.Client && m.To == r.Node && m.What == "GET" && m.Sent >= from && m.Executed <= r.At
		return gets && by.Value != "" && m.Answer >= 0 && strings.Contains(t.v.Messages[m.Answer].Detail, by.Value)
	})
}

// shortens tells of a request that gave another's entry an earlier end.
func (t *narrator) shortens(r *history.Removal, who, whose string) {
	if by := t.v.History.Acquisition(r.By); by != nil && by.Outcome == history.OK {
		t.acquires(by)
		t.leaves(by, r.At)
	}
	what := who + "'s request"
	if e := moments.Remover(t.v, r); e != nil {
		what = who + "'s " + e.What
		t.wrong(e.What, "shortens another's")
	}
	t.tellOf(r.At, what, "gives "+t.v.EntryOf(whose)+" an earlier end", r.Node, moments.PlaceOfRemoval(t.v, r))
}

// strangersReleases tells of other clients' releases that servers executed while a client held the lock, where no observer knows
// what a release ended.
func (t *narrator) strangersReleases(holder *history.Acquisition, until trace.Instant) {
	if t.v.History.HasAuthority {
		return
	}
	releasing := map[string]bool{}
	for i := range t.v.Run.Events {
		e := &t.v.Run.Events[i]
		switch e.Does {
		case trace.Release:
			releasing[e.Node] = true
		case trace.Released, trace.Acquired, trace.Start:
			releasing[e.Node] = false
		case trace.Execute:
			within := holder.Returned <= e.At && e.At <= until
			if within && releasing[e.Peer] && e.Peer != holder.Client && t.v.IsServer(e.Node) && !model.Refused(e.Detail) {
				t.tellOf(e.At, e.Peer+"'s release ("+e.What+")", "is executed", e.Node, moments.Place{Lane: moments.NodeLane(e.Node), Key: ""})
			}
		default:
		}
	}
}
