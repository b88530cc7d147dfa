package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// lane is one row of the picture before it is laid out.
type lane struct {
	name  string
	title string // what stands before it; its name if empty
	kind  LaneKind
	node  string // the client or the server that it is of
	ink   ink    // of that
	bars  []bar
	marks []mark
	// Of LaneLevel:
	levels    []Level
	threshold *Level
}

func (l *lane) heading() string { return cmp.Or(l.title, l.name) }

// bar is something that lasts. Bars are painted in their order, marks over them.
type bar struct {
	from, to trace.Instant
	sign     Sign
	lives    []trace.Instant // of SignLife: see [Bar]
	life     trace.Instant   // likewise
	ink      ink
	label    string // written into it if there is room
	last     Sign   // stands at its end
	quiet    bool   // it may last forever without anything going on
}

// mark is something that happens at a moment.
type mark struct {
	at   trace.Instant
	text string
	ink  ink
	pad  int  // blanks to keep free behind it
	last bool // it stands behind other marks of its moment

	// What the text is made of.
	number int
	sign   Sign
	label  string
}

// crowded is how many bars of a lane may have edges to be told apart.
const crowded = 30

// stops are the places of the lane that need columns of their own, sorted and distinct.
func (l *lane) stops() []stop {
	var list []stop
	for i := range l.bars {
		if b := &l.bars[i]; b.sign != SignTint && len(l.bars) <= crowded {
			list = append(list, stop{b.from, -1}, stop{b.to, -1})
		}
	}
	for i := range l.marks {
		m := &l.marks[i]
		list = append(list, stop{m.at, len([]rune(m.text)) + m.pad})
	}
	list = append(list, l.rivals()...)
	slices.SortStableFunc(list, func(a, b stop) int { return cmp.Compare(a.at, b.at) })
	merged := list[:0]
	for _, s := range list {
		edge := s.width < 0
		if n := len(merged); n > 0 && merged[n-1].at == s.at {
			if !edge {
				merged[n-1].width = max(merged[n-1].width, 0) + s.width
			}
			continue
		}
		merged = append(merged, s)
	}
	for i := range merged {
		if merged[i].width < 0 {
			merged[i].width = 1
		}
	}
	return merged
}

// lanes builds all rows of the picture, from the clients down to the resource, but for those without anything on them.
func (n *narrative) lanes() []lane {
	list := n.v.candidates()
	for i := range list {
		n.place(&list[i])
	}
	return slices.DeleteFunc(list, func(l lane) bool { return len(l.bars)+len(l.marks)+len(l.levels) == 0 })
}

// laneNames are those of all rows that the picture has if there is anything on them.
func (v *view) laneNames() map[string]bool {
	names := map[string]bool{}
	for _, l := range v.candidates() {
		names[l.name] = true
	}
	return names
}

// candidates are all rows without their moments.
func (v *view) candidates() []lane {
	var list []lane
	for i, who := range v.scope.holders {
		list = append(list, v.beliefLane(who, inkOfClient(i)))
		if v.h.HasAuthority {
			list = append(list, v.truthLane(who, inkOfClient(i)), v.votesLane(who, inkOfClient(i)))
		}
		list = append(list, v.clockLane(who, inkOfClient(i)))
	}
	if v.h.HasAuthority && slices.ContainsFunc(v.h.Grants, func(g history.Grant) bool { return g.Acquisition == 0 }) {
		list = append(list, v.truthLane(nobody, faint))
	}
	list = append(list, v.overlapLane(), v.networkLane(), v.leadersLane())
	for _, node := range v.scope.nodes {
		list = append(list, v.nodeLane(node), v.clockLane(node, plain), v.lagLane(node))
	}
	for _, node := range v.names {
		if !slices.Contains(v.scope.nodes, node) && !slices.Contains(v.scope.moreNodes, node) {
			list = append(list, v.clockLane(node, plain), v.lagLane(node))
		}
	}
	return append(list, v.storageLane(), v.tokensLane(), v.damageLane())
}

// place puts the moments of a lane on it.
func (n *narrative) place(l *lane) {
	for i := range l.marks {
		if m := &l.marks[i]; m.sign == SignDamage {
			m.text = string(n.g.of(m.sign)) + " " + m.label
		}
	}
	for i := range n.moments {
		m := &n.moments[i]
		if m.lane != l.name {
			continue
		}
		text := ""
		if m.number > 0 {
			text = n.g.number(m.number)
		} else if glyph := n.g.of(m.sign); glyph != 0 {
			text = string(glyph)
		}
		text += m.label + n.g.decided(m.sign)
		if text == "" {
			continue
		}
		pad := 0
		if l.name == laneStorage {
			pad = 1
		}
		k := m.ink
		if k == plain && l.name != laneStorage {
			k = strong
		}
		l.marks = append(l.marks, mark{at: m.at, text: text, ink: k, pad: pad, sign: m.sign, label: m.label, number: m.number})
	}
}

func (v *view) bar(l *lane, b bar) {
	b.from, b.to = max(b.from, v.from), min(b.to, v.to)
	if b.from < b.to {
		l.bars = append(l.bars, b)
	}
}

func (v *view) beliefLane(who string, k ink) lane {
	l := lane{name: laneBelief(who), kind: LaneBelief, node: who, ink: k}
	for i := range v.h.Waits {
		if w := &v.h.Waits[i]; v.waiter(w) == who {
			v.bar(&l, bar{from: w.From, to: w.To, sign: SignWaits, ink: faint, quiet: true})
		}
	}
	for _, b := range v.beliefs {
		if v.holder(b.Acquisition.ID, "") != who {
			continue
		}
		last := SignEnds
		if b.Ended == history.ByCrash {
			last = SignDies
		}
		if b.To > v.to {
			last = SignNone
		}
		v.bar(&l, bar{from: b.From, to: b.To, sign: SignBelieves, ink: k, last: last})
	}
	for i := range v.faults {
		f := &v.faults[i]
		if !f.fired || !f.concerns(who) {
			continue
		}
		from, to := f.span(v.h)
		switch f.kind {
		case "pause":
			v.bar(&l, bar{from: from, to: to, sign: SignPaused, ink: k, label: f.short})
		case "crash":
			v.bar(&l, bar{from: from, to: to, sign: SignDown, ink: faint, label: f.short, quiet: true})
		}
	}
	for _, o := range v.both {
		v.bar(&l, bar{from: o.from, to: o.to, sign: SignTint, ink: amber})
	}
	return l
}

// truthLane shows what the service granted, and where belief outlasts it.
func (v *view) truthLane(who string, k ink) lane {
	l := lane{name: laneTruth(who), kind: LaneTruth, node: who, ink: k}
	for _, b := range v.beliefs {
		if v.holder(b.Acquisition.ID, "") == who {
			v.bar(&l, bar{from: b.From, to: b.To, sign: SignLapsed, ink: faint, label: "no longer granted"})
		}
	}
	for i := range v.h.Grants {
		g := &v.h.Grants[i]
		if v.holder(g.Acquisition, g.Client) == who {
			v.bar(&l, bar{from: g.From, to: g.To, sign: SignGranted, ink: k, quiet: g.To == trace.Never})
		}
	}
	return l
}

type stretch struct{ from, to trace.Instant }

// overlaps are the times during which more than one believes.
func (v *view) overlaps() []stretch {
	type edge struct {
		at   trace.Instant
		step int
	}
	var edges []edge
	for i, b := range v.beliefs {
		if !v.within(b.From, b.To) {
			continue
		}
		covered := slices.ContainsFunc(v.beliefs[:i], func(o history.Belief) bool { // nested acquisitions of one owner
			return o.From <= b.From && b.From < o.To && sameOwner(o.Acquisition, b.Acquisition)
		})
		if !covered && b.From < b.To {
			edges = append(edges, edge{b.From, 1}, edge{min(b.To, v.h.End), -1})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	var list []stretch
	n := 0
	for _, e := range edges {
		n += e.step
		switch {
		case n == 2 && e.step > 0:
			list = append(list, stretch{from: e.at})
		case n == 1 && e.step < 0:
			list[len(list)-1].to = e.at
		}
	}
	return slices.DeleteFunc(list, func(s stretch) bool { return s.from >= s.to })
}

func (v *view) overlapLane() lane {
	l := lane{name: laneBoth, kind: LaneOverlap, ink: amber}
	for _, o := range v.both {
		v.bar(&l, bar{from: o.from, to: o.to, sign: SignOverlap, ink: amber, label: Precise(o.to.Sub(o.from))})
	}
	return l
}

func (v *view) networkLane() lane {
	l := lane{name: laneNetwork, kind: LaneNetwork}
	for i := range v.faults {
		f := &v.faults[i]
		if f.fired && (f.kind == "cut" || f.kind == "stall") {
			from, to := f.span(v.h)
			v.bar(&l, bar{from: from, to: to, sign: SignCut, label: f.short, quiet: true})
		}
	}
	return l
}

// nodeLane shows what one server keeps of the lock: how much of its life is left, and whose it is.
func (v *view) nodeLane(node string) lane {
	l := lane{name: laneNode(node), kind: LaneNode, node: node}
	copies := 0
	for i := range v.h.Copies {
		if c := &v.h.Copies[i]; c.Node == node && c.From < v.to && c.To > v.from {
			copies++
		}
	}
	for i := range v.h.Copies {
		c := &v.h.Copies[i]
		if c.Node != node || !v.within(c.From, c.To) {
			continue
		}
		who := v.holder(c.Acquisition, c.Client)
		k := v.inkOf(who)
		lives, life := v.lives(c)
		v.bar(&l, bar{from: c.From, to: c.To, sign: SignLife, lives: lives, life: life, ink: k, quiet: c.Expires == trace.Never})
		if c.From >= v.from && c.From < v.to && copies <= crowded {
			l.marks = append(l.marks, mark{at: c.From, text: who, ink: k, last: true, label: who})
		}
	}
	for i := range v.faults {
		f := &v.faults[i]
		if f.fired && f.node == node {
			from, to := f.span(v.h)
			switch f.kind {
			case "pause":
				v.bar(&l, bar{from: from, to: to, sign: SignPaused, label: f.short})
			case "crash":
				v.bar(&l, bar{from: from, to: to, sign: SignDown, ink: faint, label: f.short, quiet: true})
			}
		}
	}
	return l
}

func (v *view) inkOf(who string) ink {
	if i := slices.Index(v.scope.holders, who); i >= 0 {
		return inkOfClient(i)
	}
	return faint
}

// lives are the moments from which a copy had its whole life before it, and that life: every renewal makes it whole
// again. It is 0 of what does not end by itself.
func (v *view) lives(c *history.Copy) (lives []trace.Instant, life trace.Instant) {
	if c.Expires == trace.Never {
		return v.sessionLives(c)
	}
	_, nodes := v.servers().Role() // where one node is a whole service, a new leader gives a session its life again
	lives = []trace.Instant{c.From}
	for i := range v.renewals {
		e := &v.renewals[i]
		renews := e.Peer == c.Client || !nodes && e.Does == trace.Promote
		if renews && e.Node == c.Node && e.At > c.From && e.At < c.To && e.At <= v.crashed(c) {
			lives = append(lives, e.At)
		}
	}
	return lives, c.Expires - lives[len(lives)-1]
}

// crashed is when the process crashed whose copy it is: what is renewed for its client later is another session's.
func (v *view) crashed(c *history.Copy) trace.Instant {
	if a := v.h.Acquisition(c.Acquisition); a != nil {
		return a.Crashed
	}
	return trace.Never
}

// levelAt is the height of a bar of SignLife: what is left of a life.
func (b *bar) levelAt(g *glyphs, t trace.Instant) rune {
	if b.life == 0 {
		return g.levels[len(g.levels)-1]
	}
	began := b.lives[0]
	for _, r := range b.lives {
		if r <= t {
			began = r
		}
	}
	return g.level(int64(began+b.life-t), int64(b.life))
}

func (v *view) storageLane() lane {
	l := lane{name: laneStorage, kind: LaneStorage}
	if v.run.Case.Scenario.Resource.Guarded {
		l.title = "data"
	}
	late := (v.to - v.from) / 50
	for i := range v.h.Accesses {
		a := &v.h.Accesses[i]
		if a.Applied != trace.Never && a.Applied-a.Invoked > late {
			v.bar(&l, bar{from: a.Invoked, to: a.Applied, sign: SignTravels, ink: faint, label: v.undecided()})
		}
	}
	return l
}

func (v *view) damageLane() lane {
	l := lane{name: laneDamage, kind: LaneDamage, ink: red}
	for _, d := range v.damages() {
		if d.At >= v.from && d.At <= v.to {
			l.marks = append(l.marks, mark{at: d.At, ink: red, pad: 1, sign: SignDamage, label: d.Kind})
		}
	}
	return l
}
