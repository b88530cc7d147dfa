package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// moment is something that matters to the story of a run: it has a place on a lane of the picture, and a line in the
// list below it.
type moment struct {
	at     trace.Instant
	lane   string
	order  int    // among the moments of one instant
	key    string // tells moments of one instant and lane apart, whatever the run
	label  string // what stands on the lane, after the number
	glyph  rune   // what stands there if it has no number; 0: nothing
	who    string
	text   string
	ink    ink
	weight int // the heavier, the sooner it gets a number
	number int // 0: none
}

// Weights of moments. What takes part in a violation outweighs everything else.
const (
	weightTrivia   = 10
	weightStale    = 30
	weightRead     = 40
	weightUnlock   = 45
	weightGrant    = 50
	weightWrite    = 70
	weightBelief   = 75
	weightElection = 78
	weightFault    = 80
	weightLoss     = 85
	weightDamage   = 120
	weightWitness  = 100 // added
)

// orders of moments of one instant: causes first.
const (
	orderFault = iota
	orderService
	orderBelief
	orderEffect
)

// story gathers the moments of one run.
type story struct {
	*view
	moments []moment
}

func (v *view) tell() []moment {
	s := &story{view: v}
	for i := range v.faults {
		s.fault(&v.faults[i])
	}
	s.elections()
	s.grants()
	s.copies()
	s.removals()
	for i := range v.h.Acquisitions {
		s.belief(&v.h.Acquisitions[i])
	}
	for i := range v.h.Accesses {
		s.access(&v.h.Accesses[i])
	}
	s.waits()
	s.moments = slices.DeleteFunc(s.moments, func(m moment) bool { return m.at < v.from || m.at > v.to })
	slices.SortStableFunc(s.moments, compareMoments)
	return slices.CompactFunc(s.moments, func(a, b moment) bool { return compareMoments(a, b) == 0 && a.text == b.text })
}

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order), cmp.Compare(a.lane, b.lane),
		cmp.Compare(a.key, b.key))
}

func (s *story) add(m moment, ids ...history.ID) {
	if m.at == trace.Never {
		return
	}
	for _, id := range ids {
		if m.weight > weightStale && s.witness(id) {
			m.weight += weightWitness
			break
		}
	}
	s.moments = append(s.moments, m)
}

func (s *story) fault(f *fault) {
	if !f.fired || f.kind == "evict" && s.evicts(f) {
		return
	}
	lane := s.laneOfFault(f)
	who := f.node
	if who == "" {
		who = laneNetwork
	}
	m := moment{at: f.begin, lane: lane, order: orderFault, key: f.name, who: who, text: f.start, weight: weightFault}
	if f.node != "" {
		m.weight += 5
	}
	s.add(m)
	if f.end == trace.Never || f.end <= f.begin {
		return
	}
	m.at, m.text, m.key = f.end, f.over, f.name+" ends"
	s.add(m)
}

// evicts reports whether a fault took somebody's entry away, which is told as such.
func (s *story) evicts(f *fault) bool {
	return slices.ContainsFunc(s.h.Copies, func(c history.Copy) bool {
		return c.Node == f.node && c.To == f.begin && c.Gone == history.Evicted
	})
}

// elections tell which server became master or leader, and which ceased to be, as far as that is not told as the fault
// that it was.
func (s *story) elections() {
	role, nodes := s.servers().Role()
	for i := range s.run.Events {
		e := &s.run.Events[i]
		text := ""
		switch {
		case e.Does == trace.Promote && nodes:
			text = "becomes " + role
		case e.Does == trace.Promote:
			text = "has a new " + role
		case e.Does == trace.Demote && nodes:
			text = "is " + role + " no longer"
		}
		told := slices.ContainsFunc(s.faults, func(f fault) bool {
			return f.fired && f.kind == "promote" && f.begin == e.At && (f.node == e.Node) == (e.Does == trace.Promote)
		})
		if text == "" || told {
			continue
		}
		s.add(moment{
			at: e.At, lane: laneNode(e.Node), order: orderFault, key: e.Does.String(), who: e.Node, text: text,
			weight: weightElection,
		})
	}
}

// grants tells when the service gave the lock, and when what it gave was over.
func (s *story) grants() {
	for i := range s.h.Grants {
		g := &s.h.Grants[i]
		text := fmt.Sprintf("is granted the lock%s%s", s.byServers(g), s.tokenNote(g.Token))
		if g.Acquisition == 0 {
			text = "somebody who is gone is granted the lock" + s.byServers(g)
		}
		who := s.holder(g.Acquisition, g.Client)
		weight, k := weightGrant, plain
		if a := s.h.Acquisition(g.Acquisition); a != nil && a.Returned < g.From {
			text += ", and no longer waits for it"
			weight, k = weightLoss, amber
		}
		s.add(moment{
			at: g.From, lane: laneTruth(who), order: orderService, key: fmt.Sprintf("grant %d", g.Acquisition),
			who: who, text: text, ink: k, weight: weight,
		}, g.Acquisition)
		s.grantEnds(g, who)
	}
}

func (s *story) grantEnds(g *history.Grant, who string) {
	if g.To > s.h.End || g.Ended == history.ByUnlock && !s.believesAt(g.Acquisition, g.To) {
		return // the unlock that ended it is told already
	}
	text, glyph := "the lease is over", s.g.expired
	var weight int
	switch holds := s.servers().Holds(); {
	case g.Ended == history.ByUnlock:
		text, glyph = "a release ends what was granted", s.g.deleted
	case g.Ended == history.BySessionLoss, holds == "session":
		text = "the " + holds + " is over"
	}
	k := plain
	if s.believesAt(g.Acquisition, g.To) {
		text += ", and " + who + " still believes"
		weight, k = weightLoss, amber
	} else if s.diedHolding(g.Acquisition) {
		text += ": its holder is dead, and the lock is free again"
		weight = weightBelief
	} else {
		weight = weightTrivia
	}
	s.add(moment{
		at: g.To, lane: laneTruth(who), order: orderService, key: fmt.Sprintf("grant %d ends", g.Acquisition),
		glyph: glyph, who: who, text: text, ink: k, weight: weight,
	}, g.Acquisition)
}

// copies tells of what servers lost, or whose time was over before it should have been.
func (s *story) copies() {
	for i := range s.h.Copies {
		c := &s.h.Copies[i]
		who := s.holder(c.Acquisition, c.Client)
		text := ""
		switch c.Gone {
		case history.Wiped:
			text = s.wipeWords(c, who)
		case history.Evicted:
			text = "evicts " + s.entryOf(who) + " to make room"
		case history.Overwritten:
			text = s.entryOf(who) + " " + s.overwritten()
		case history.Expired:
			if s.grantedBeyond(c) {
				text = s.entryOf(who) + " expires by the server's clock, too early"
			}
		case history.Kept, history.Deleted:
		}
		m := moment{
			at: c.To, lane: laneNode(c.Node), order: orderService, key: fmt.Sprintf("copy %d", c.Acquisition),
			glyph: s.g.goneGlyph(c.Gone), who: c.Node, text: text, weight: weightLoss,
		}
		if text == "" {
			m.weight = 0 // a sign on the lane, no line in the list
		}
		if c.To <= s.h.End {
			s.add(m, c.Acquisition)
		}
		if s.resurrected(c) {
			s.add(moment{
				at: c.From, lane: laneNode(c.Node), order: orderService, key: fmt.Sprintf("again %d", c.Acquisition),
				who: c.Node, text: "comes back with " + s.entryOf(who) + ", which had been gone", weight: weightLoss,
			}, c.Acquisition)
		}
	}
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

func (s *story) wipeWords(c *history.Copy, who string) string {
	switch lost, back := s.wiped(c); {
	case lost:
		return "loses " + s.entryOf(who)
	case back:
		return "comes back without " + s.entryOf(who)
	}
	return "takes over another server's dataset, without " + s.entryOf(who)
}

// removals tells of releases that did what they should not, and once for each acquisition of one that came too late.
func (s *story) removals() {
	late := map[history.ID]bool{}
	for i := range s.h.Removals {
		r := &s.h.Removals[i]
		who := s.holder(r.By, r.Client)
		m := moment{
			at: r.At, lane: laneNode(r.Node), order: orderService, key: fmt.Sprintf("removal %d", r.By), who: r.Node,
			ink: amber, weight: weightLoss, glyph: s.g.deleted,
		}
		switch {
		case r.Again:
			m.text = who + "'s late release deletes the " + s.servers().Entry() + " of its own later try"
		case r.Ended != 0:
			m.text = who + "'s release deletes " + s.entryOf(s.holder(r.Ended, ""))
		case r.Stale && !late[r.By]:
			late[r.By] = true
			m.text = who + "'s release finds no " + s.servers().Entry() + " of its own, and does nothing"
			m.ink, m.weight, m.glyph = plain, weightStale, 0
			if a := s.h.Acquisition(r.By); a != nil && a.Outcome != history.OK {
				m.weight = weightTrivia // it cleans up after a try that failed
			}
		default:
			continue
		}
		s.add(m, r.By, r.Ended)
	}
}

func (s *story) belief(a *history.Acquisition) {
	b, ok := a.Belief()
	who := s.holder(a.ID, a.Client)
	lane := laneBelief(who)
	if !ok {
		s.noBelief(a, who)
		return
	}
	text, k := "believes that it holds the lock"+s.tokenNote(a.Token), plain
	if s.entersAgain(a) {
		text = "enters the lock again, which it holds"
	}
	if a.HasDeadline && a.Deadline != trace.Never {
		text += ", its lease says until " + precise(a.Deadline.Sub(0))
	}
	weight := weightBelief
	if doubt := s.ungranted(a); doubt != "" {
		text, k, weight = text+doubt, amber, weightLoss
	}
	others := s.believersAt(b.From, a)
	if len(others) > 0 {
		verb := "believe"
		if len(others) == 1 {
			verb = "believes"
		}
		text += ", while " + listing(others) + " " + verb + " so too"
		weight, k = weightLoss, amber
	}
	label := cmp.Or(tokenMark(a.Token), string(s.g.starts))
	s.add(moment{
		at: b.From, lane: lane, order: orderBelief, key: fmt.Sprintf("belief %d", a.ID), label: label, glyph: s.g.starts,
		who: who, text: text, ink: k, weight: weight,
	}, a.ID)
	if b.To > s.h.End || b.Ended == history.ByCrash {
		return // a crash is told as the fault that it is
	}
	s.add(moment{
		at: b.To, lane: lane, order: orderBelief, key: fmt.Sprintf("belief %d ends", a.ID), glyph: s.g.ends,
		who: who, text: s.endOfBelief(a, b), weight: weightUnlock,
	}, a.ID)
}

// ungranted says that what an acquisition begins to believe is not so: nothing was granted to it, or that is over. Who
// enters its lock again needs no grant for that.
func (v *view) ungranted(a *history.Acquisition) string {
	switch g := v.lastGrant(a.ID, a.Returned); {
	case !v.h.HasAuthority || v.entersAgain(a):
	case g == nil:
		return ", but has not been granted it"
	case g.To <= a.Returned:
		return ", but what it was granted is over"
	}
	return ""
}

// endOfBelief says why a client believes no longer. A notice after which it unlocks at once is what ended the belief.
func (s *story) endOfBelief(a *history.Acquisition, b history.Belief) string {
	heeds := a.Style == history.Careful || a.Style == history.Attentive && a.CanLearn
	switch {
	case b.Ended == history.ByDeadline:
		return "its own deadline passes: it no longer believes"
	case heeds && a.Noticed == b.To && s.grantedAt(a.ID, b.To):
		return "can no longer be sure that it holds, and stops"
	case heeds && a.Noticed == b.To:
		return "learns that it no longer holds"
	}
	switch a.Release {
	case history.Failed:
		return "unlocks, and is told that the lock was not its own"
	case history.Unknown:
		return "unlocks, and gets no answer"
	case history.Pending, history.OK:
	}
	return "unlocks"
}

// grantedAt reports whether what an acquisition was granted lasts at that moment.
func (v *view) grantedAt(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(v.h.Grants, func(g history.Grant) bool {
		return g.Acquisition == id && g.From <= at && at < g.To
	})
}

// noBelief tells of acquisitions that ended in doubt, or too late.
func (s *story) noBelief(a *history.Acquisition, who string) {
	var text string
	weight := weightGrant
	switch a.Outcome {
	case history.Unknown:
		text = "cannot know whether it got the lock, and believes nothing"
	case history.OK:
		text = "gets the lock after its own deadline, and does not believe"
	case history.Failed:
		text, weight = "does not get the lock", weightTrivia
	default:
		return
	}
	s.add(moment{
		at: a.Returned, lane: laneBelief(who), order: orderBelief, key: fmt.Sprintf("no belief %d", a.ID), who: who,
		text: text, weight: weight,
	}, a.ID)
}

func (s *story) access(a *history.Access) {
	who := s.holder(a.Acquisition, a.Client)
	m := moment{
		at: a.Applied, lane: laneStorage, order: orderEffect, who: who, weight: weightWrite,
		key: fmt.Sprintf("%s %d %d", a.Op, a.Acquisition, a.Register),
	}
	sign := s.g.accepted
	switch {
	case a.Applied == trace.Never:
		sign, m.at = s.g.unsure, a.Invoked
	case s.harmful[a]:
		sign, m.ink, m.weight = s.g.harmful, red, weightDamage
	case !a.Accepted:
		sign, m.ink, m.weight = s.g.refused, green, weightWrite+10
	case a.Op == history.Read:
		sign, m.weight = "", weightRead
	case a.Op == history.Check:
		m.weight = weightRead
	}
	m.label = strings.ToUpper(a.Op.String()[:1]) + s.mark(a) + sign
	m.text = s.accessWords(a)
	s.add(m, a.Acquisition)
}

// accessWords says what was asked of the resource, and how it decided.
func (s *story) accessWords(a *history.Access) string {
	text := map[history.Op]string{
		history.Read: "reads", history.Check: "asks whether it may write", history.Write: "writes",
	}[a.Op] + s.register(a)
	if a.Token != 0 {
		text += " with token " + tokenText(a.Token)
	}
	switch {
	case a.Applied == trace.Never && a.Returned != trace.Never:
		return text + ": is answered with an error, and nothing is done"
	case a.Applied == trace.Never:
		return text + ": it never arrives"
	case !a.Accepted && a.Token < a.MaxToken && s.h.Fencing.NeedsToken():
		return text + fmt.Sprintf(": refused, since %s has been seen", tokenText(a.MaxToken))
	case !a.Accepted:
		return text + ": refused"
	case a.Op == history.Read && s.harmful[a]:
		return text + fmt.Sprintf(": finds version %d, DAMAGE", a.Version)
	case a.Op == history.Read:
		return text + fmt.Sprintf(": finds version %d", a.Version)
	case a.Op == history.Check:
		return text + ": it may"
	case s.harmful[a]:
		return text + fmt.Sprintf(": accepted as version %d, DAMAGE", a.Version)
	}
	return text + fmt.Sprintf(": accepted as version %d", a.Version)
}

func (s *story) waits() {
	for i := range s.h.Waits {
		w := &s.h.Waits[i]
		who := s.waiter(w)
		switch w.Ended {
		case history.GaveUp:
			s.add(moment{at: w.To, lane: laneBelief(who), order: orderBelief, key: "wait ends", who: who,
				text: "gives up after " + precise(w.To.Sub(w.From)), weight: weightGrant})
		case history.StillWaiting:
			s.add(moment{at: s.h.End, lane: laneBelief(who), order: orderBelief, key: "waits", who: who,
				text: "still waits, since " + precise(w.From.Sub(0)), weight: weightBelief})
		case history.GotIt, history.Died:
		}
	}
}

// damages are the violations that befell the resource.
func (v *view) damages() []checker.Violation {
	var list []checker.Violation
	for _, x := range v.run.Report.Violations {
		if x.Property == checker.Resource {
			list = append(list, x)
		}
	}
	return list
}

func (g *glyphs) goneGlyph(gone history.Gone) rune {
	switch gone {
	case history.Expired:
		return g.expired
	case history.Deleted:
		return g.deleted
	case history.Wiped, history.Evicted, history.Overwritten:
		return g.lost
	case history.Kept:
	}
	return 0
}
