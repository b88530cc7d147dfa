package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A log states its moments with an uncertainty: what happened at t by a client's clock happened in true time at some moment
// from t-u to t+u. Two beliefs overlap for certain if they do wherever in these intervals their moments lie, and possibly if
// they do for some of them. What one client did first it did first, so nothing is assumed of moments of the same belief. Beyond
// that each pair is looked at by itself: of three beliefs that cannot all have been apart, though each two of them can, it says
// that they may have overlapped.

// Overlap is a pair of beliefs of which one began while the other lasted, by the times that a log states or within their
// uncertainty.
type Overlap struct {
	First, Second history.ID    // in the order in which they began by the log's times
	From, To      trace.Instant // by the log's times; To is before From if these leave a gap
	Certain       bool
	// Slack is by how much the clocks of the two may differ for it to be certain.
	Slack time.Duration
}

// overlap compares two beliefs; ok says that they overlap, or may.
func (a *interval) overlap(b *interval) (o Overlap, ok bool) {
	doubt := a.off + b.off
	o = Overlap{First: a.id, Second: b.id, From: b.from, To: min(a.to, b.to)}
	o.Slack = min(a.sure.Sub(b.from), b.sure.Sub(a.from))
	o.Certain = o.Slack > doubt
	return o, o.Certain || a.latest.Add(doubt) > b.from && b.latest.Add(doubt) > a.from
}

// overlapsInDoubt lists the pairs of beliefs that overlap or may, in the order in which the second one began.
func (j *judge) overlapsInDoubt() (list []Overlap) {
	var running []*interval
	widest := time.Duration(0)
	for i := range j.held.list {
		widest = max(widest, j.held.list[i].off)
	}
	for i := range j.held.list {
		now := &j.held.list[i]
		running = slices.DeleteFunc(running, func(r *interval) bool { return r.latest.Add(2*widest) <= now.from })
		for _, r := range running {
			if o, ok := r.overlap(now); ok && r.owner.isOther(now.owner) {
				list = append(list, o)
			}
		}
		running = append(running, now)
	}
	return list
}

// listOverlaps lists the overlaps of a history from logs.
func (j *judge) listOverlaps() {
	if j.h.Logged {
		j.report.Overlaps = j.overlapsInDoubt()
	}
}

// exclusionInDoubt judges mutual exclusion where moments are uncertain.
func (j *judge) exclusionInDoubt() {
	var possible *Overlap
	covered := trace.Instant(-1)
	for _, o := range j.overlapsInDoubt() {
		if !o.Certain {
			if possible == nil {
				possible = &o
			}
			continue
		}
		j.double.pairs++
		j.double.longest = max(j.double.longest, o.To-o.From)
		j.double.total += max(0, o.To-max(o.From, covered))
		covered = max(covered, o.To)
		first, second := j.beliefOf(o.First), j.beliefOf(o.Second)
		j.tellDoubleHolder(first, second)
	}
	if j.double.pairs == 0 && possible != nil {
		j.report.Verdicts[MutualExclusion] = Undecided
		j.report.Reasons[MutualExclusion] = j.inDoubt(possible)
		j.report.Dangers[MutualExclusion] = j.asksDuringBeliefs()
		return
	}
	j.conclude(MutualExclusion, j.double.pairs > 0, j.asksDuringBeliefs())
}

func (j *judge) beliefOf(id history.ID) *interval {
	return &j.held.list[slices.IndexFunc(j.held.list, func(i interval) bool { return i.id == id })]
}

// inDoubt says why it is not known whether two beliefs overlapped.
func (j *judge) inDoubt(o *Overlap) string {
	first, second := j.beliefOf(o.First), j.beliefOf(o.Second)
	names := j.name(o.First) + " and " + j.name(o.Second)
	switch {
	case first.latest > first.to && first.to < second.from:
		return fmt.Sprintf("the log does not say whether %s still believed to hold the lock when %s acquired it at %s", j.name(o.First), j.name(o.Second), second.from)
	case o.To > o.From && (first.sure < first.to || second.sure < second.to):
		return fmt.Sprintf("%s both believed to hold the lock from %s to %s by the times of the log, which does not say when Unlock was called, but when it had returned",
			names, o.From, o.To)
	case o.To > o.From:
		return fmt.Sprintf("%s both believed to hold the lock from %s to %s by their clocks, which may be %s apart", names, o.From, o.To, first.off+second.off)
	default:
		return fmt.Sprintf("%s were %s apart by their clocks, which may be %s apart", names, o.From.Sub(o.To), first.off+second.off)
	}
}

// Tokens of a log. Without knowledge of the servers an acquisition is later than another one if its Lock was called when the
// other's had returned; where clocks may be wrong that must be so wherever the moments lie. A token that was handed out twice needs
// no clock.

func (j *judge) loggedOrder() {
	list := make([]*history.Acquisition, 0, len(j.h.Acquisitions))
	for i := range j.h.Acquisitions {
		if a := &j.h.Acquisitions[i]; a.Outcome == history.OK && a.Token != 0 {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		j.pass(FencingOrder, noTokens)
		return
	}
	slices.SortStableFunc(list, func(a, b *history.Acquisition) int { return cmp.Compare(a.Returned, b.Returned) })
	dangers, doubt := 0, ""
	violated := j.handedOutTwice(list)
	var most *history.Acquisition // the largest token among those that had returned for certain
	asking := slices.Clone(list)
	slices.SortStableFunc(asking, func(a, b *history.Acquisition) int { return cmp.Compare(a.Invoked, b.Invoked) })
	next := 0
	for _, a := range asking {
		for ; next < len(list) && list[next].Returned < a.Invoked; next++ {
			if most == nil || list[next].Token > most.Token {
				most = list[next]
			}
		}
		switch {
		case a.Unasked || most == nil:
		case !sameOwner(most, a) && most.Returned.Add(most.Uncertainty+a.Uncertainty) >= a.Invoked:
			if most.Token > a.Token && doubt == "" {
				doubt = fmt.Sprintf("%s has a smaller token than %s, and which of them was granted the lock first is within the uncertainty of their clocks",
					j.name(a.ID), j.name(most.ID))
			}
		case most.Token > a.Token:
			dangers++
			violated = true
			j.tellSmaller(most, a)
		default:
			dangers++
		}
	}
	if !violated && doubt != "" {
		j.report.Verdicts[FencingOrder], j.report.Reasons[FencingOrder] = Undecided, doubt
		return
	}
	if j.conclude(FencingOrder, violated, dangers); j.report.Verdicts[FencingOrder] == Vacuous && len(list) > 1 {
		j.report.Reasons[FencingOrder] = "of no two acquisitions the log shows that one was asked for when the other had been granted"
	}
}

func sameOwner(a, b *history.Acquisition) bool { return a.Client == b.Client && a.Task == b.Task }

// handedOutTwice accuses pairs of acquisitions with one token.
func (j *judge) handedOutTwice(list []*history.Acquisition) (violated bool) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *history.Acquisition) int { return cmp.Compare(a.Token, b.Token) })
	for i := range sorted[1:] {
		a, b := sorted[i], sorted[i+1]
		held, _ := a.Belief()
		if a.Token != b.Token || sameOwner(a, b) && b.Returned < held.To { // it entered a lock again that it held
			continue
		}
		violated = true
		j.accuse(Violation{
			Property: FencingOrder, Kind: "token handed out twice", At: b.Returned, Acquisitions: []history.ID{a.ID, b.ID},
			Text: fmt.Sprintf("%s acquired the lock with token %d at %s, %s with token %d too, at %s", j.who(a.ID), a.Token, a.Returned, j.who(b.ID), b.Token, b.Returned),
		})
	}
	return violated
}

func (j *judge) tellSmaller(before, after *history.Acquisition) {
	j.accuse(Violation{
		Property: FencingOrder, Kind: "token went backwards", At: after.Returned, Acquisitions: []history.ID{before.ID, after.ID},
		Text: fmt.Sprintf("%s acquired the lock with token %d at %s; %s asked for it after that, at %s, and got token %d",
			j.who(before.ID), before.Token, before.Returned, j.who(after.ID), after.Invoked, after.Token),
	})
}
