package layout

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Lane is one row of the picture before it is laid out.
type Lane struct {
	Name  string
	title string // what stands before it; its name if empty
	kind  timeline.LaneKind
	Node  string    // the client or the server that it is of
	Ink   paint.Ink // of that
	bars  []bar
	marks []mark
	// Of LaneLevel:
	levels    []timeline.Level
	threshold *timeline.Level
}

// Heading is what stands before the lane.
func (l *Lane) Heading() string { return cmp.Or(l.title, l.Name) }

// bar is something that lasts. Bars are painted in their order, marks over them.
type bar struct {
	from, to trace.Instant
	sign     timeline.Sign
	lives    []trace.Instant // of SignLife: see [Bar]
	life     trace.Instant   // likewise
	ink      paint.Ink
	label    string        // written into it if there is room
	last     timeline.Sign // stands at its end
	quiet    bool          // it may last forever without anything going on
}

// mark is something that happens at a moment.
type mark struct {
	at   trace.Instant
	text string
	ink  paint.Ink
	pad  int  // blanks to keep free behind it
	last bool // it stands behind other marks of its moment

	// What the text is made of.
	number int
	sign   timeline.Sign
	label  string
}

// crowded is how many bars of a lane may have edges to be told apart.
const crowded = 30

// stops are the places of the lane that need columns of their own, sorted and distinct.
func (l *Lane) stops() []stop {
	var list []stop
	for i := range l.bars {
		if b := &l.bars[i]; b.sign != timeline.SignTint && len(l.bars) <= crowded {
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

// lanesOf builds all rows of the picture, from the clients down to the resource, but for those without anything on them.
func lanesOf(n *tell.Narrative) []Lane {
	list := candidates(n.View)
	for i := range list {
		placeMoments(n, &list[i])
	}
	return slices.DeleteFunc(list, func(l Lane) bool { return len(l.bars)+len(l.marks)+len(l.levels) == 0 })
}

// laneNames are those of all rows that the picture has if there is anything on them.
func laneNames(v *model.View) map[string]bool {
	names := map[string]bool{}
	for _, l := range candidates(v) {
		names[l.Name] = true
	}
	return names
}

// candidates are all rows without their moments.
func candidates(v *model.View) []Lane {
	var list []Lane
	for i, who := range v.Scope.Holders {
		list = append(list, beliefLane(v, who, paint.InkOfClient(i)))
		if v.History.HasAuthority {
			list = append(list, truthLane(v, who, paint.InkOfClient(i)), votesLane(v, who, paint.InkOfClient(i)))
		}
		list = append(list, clockLane(v, who, paint.InkOfClient(i)))
	}
	if v.History.HasAuthority && slices.ContainsFunc(v.History.Grants, func(g history.Grant) bool { return g.Acquisition == 0 }) {
		list = append(list, truthLane(v, model.Nobody, paint.Faint))
	}
	list = append(list, overlapLane(v), networkLane(v), leadersLane(v))
	for _, node := range v.Scope.Nodes {
		list = append(list, nodeLane(v, node), clockLane(v, node, paint.Plain), lagLane(v, node))
	}
	for _, node := range v.Names {
		if !slices.Contains(v.Scope.Nodes, node) && !slices.Contains(v.Scope.MoreNodes, node) {
			list = append(list, clockLane(v, node, paint.Plain), lagLane(v, node))
		}
	}
	return append(list, storageLane(v), tokensLane(v), damageLane(v))
}

// placeMoments puts the moments of a lane on it.
func placeMoments(n *tell.Narrative, l *Lane) {
	for i := range l.marks {
		if m := &l.marks[i]; m.sign == timeline.SignDamage {
			m.text = string(n.Glyphs.Of(m.sign)) + " " + m.label
		}
	}
	for i := range n.Moments {
		m := &n.Moments[i]
		if m.Lane != l.Name {
			continue
		}
		text := ""
		if m.Number > 0 {
			text = n.Glyphs.Number(m.Number)
		} else if glyph := n.Glyphs.Of(m.Sign); glyph != 0 {
			text = string(glyph)
		}
		text += m.Label + n.Glyphs.Decided(m.Sign)
		if text == "" {
			continue
		}
		pad := 0
		if l.Name == tell.StorageLane {
			pad = 1
		}
		k := m.Ink
		if k == paint.Plain && l.Name != tell.StorageLane {
			k = paint.Strong
		}
		l.marks = append(l.marks, mark{at: m.At, text: text, ink: k, pad: pad, sign: m.Sign, label: m.Label, number: m.Number})
	}
}

func put(v *model.View, l *Lane, b bar) {
	b.from, b.to = max(b.from, v.From), min(b.to, v.To)
	if b.from < b.to {
		l.bars = append(l.bars, b)
	}
}

func beliefLane(v *model.View, who string, k paint.Ink) Lane {
	l := Lane{Name: tell.BeliefLane(who), kind: timeline.LaneBelief, Node: who, Ink: k}
	for i := range v.History.Waits {
		if w := &v.History.Waits[i]; v.Waiter(w) == who {
			put(v, &l, bar{from: w.From, to: w.To, sign: timeline.SignWaits, ink: paint.Faint, quiet: true})
		}
	}
	for _, b := range v.Beliefs {
		if v.Holder(b.Acquisition.ID, "") != who {
			continue
		}
		last := timeline.SignEnds
		if b.Ended == history.ByCrash {
			last = timeline.SignDies
		}
		if b.To > v.To {
			last = timeline.SignNone
		}
		put(v, &l, bar{from: b.From, to: b.To, sign: timeline.SignBelieves, ink: k, last: last})
	}
	for i := range v.Faults {
		f := &v.Faults[i]
		if !f.Concerns(who) {
			continue
		}
		from, to := f.Span(v.History)
		switch f.Kind {
		case "pause":
			put(v, &l, bar{from: from, to: to, sign: timeline.SignPaused, ink: k, label: tell.FaultLabel(f)})
		case "crash":
			put(v, &l, bar{from: from, to: to, sign: timeline.SignDown, ink: paint.Faint, label: tell.FaultLabel(f), quiet: true})
		}
	}
	for _, o := range v.Overlaps {
		put(v, &l, bar{from: o.From, to: o.To, sign: timeline.SignTint, ink: paint.Amber})
	}
	return l
}

// truthLane shows what the service granted, and where belief outlasts it.
func truthLane(v *model.View, who string, k paint.Ink) Lane {
	l := Lane{Name: tell.GrantLane(who), kind: timeline.LaneTruth, Node: who, Ink: k}
	for _, b := range v.Beliefs {
		if v.Holder(b.Acquisition.ID, "") == who {
			put(v, &l, bar{from: b.From, to: b.To, sign: timeline.SignLapsed, ink: paint.Faint, label: "no longer granted"})
		}
	}
	for i := range v.History.Grants {
		g := &v.History.Grants[i]
		if v.Holder(g.Acquisition, g.Client) == who {
			put(v, &l, bar{from: g.From, to: g.To, sign: timeline.SignGranted, ink: k, quiet: g.To == trace.Never})
		}
	}
	return l
}

func overlapLane(v *model.View) Lane {
	l := Lane{Name: tell.OverlapLane, kind: timeline.LaneOverlap, Ink: paint.Amber}
	for _, o := range v.Overlaps {
		put(v, &l, bar{from: o.From, to: o.To, sign: timeline.SignOverlap, ink: paint.Amber, label: wording.Precise(o.To.Sub(o.From))})
	}
	return l
}

func networkLane(v *model.View) Lane {
	l := Lane{Name: tell.NetworkLane, kind: timeline.LaneNetwork}
	for i := range v.Faults {
		f := &v.Faults[i]
		if f.Kind == "cut" || f.Kind == "stall" {
			from, to := f.Span(v.History)
			put(v, &l, bar{from: from, to: to, sign: timeline.SignCut, label: tell.FaultLabel(f), quiet: true})
		}
	}
	return l
}

// nodeLane shows what one server keeps of the lock: how much of its life is left, and whose it is.
func nodeLane(v *model.View, node string) Lane {
	l := Lane{Name: tell.NodeLane(node), kind: timeline.LaneNode, Node: node}
	copies := 0
	for i := range v.History.Copies {
		if c := &v.History.Copies[i]; c.Node == node && c.From < v.To && c.To > v.From {
			copies++
		}
	}
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if c.Node != node || !v.Within(c.From, c.To) {
			continue
		}
		who := v.Holder(c.Acquisition, c.Client)
		k := inkOf(v, who)
		lives, life := v.Lives(c)
		put(v, &l, bar{from: c.From, to: c.To, sign: timeline.SignLife, lives: lives, life: life, ink: k, quiet: c.Expires == trace.Never})
		if c.From >= v.From && c.From < v.To && copies <= crowded {
			l.marks = append(l.marks, mark{at: c.From, text: who, ink: k, last: true, label: who})
		}
	}
	for i := range v.Faults {
		f := &v.Faults[i]
		if f.Node == node {
			from, to := f.Span(v.History)
			switch f.Kind {
			case "pause":
				put(v, &l, bar{from: from, to: to, sign: timeline.SignPaused, label: tell.FaultLabel(f)})
			case "crash":
				put(v, &l, bar{from: from, to: to, sign: timeline.SignDown, ink: paint.Faint, label: tell.FaultLabel(f), quiet: true})
			}
		}
	}
	return l
}

func inkOf(v *model.View, who string) paint.Ink {
	if i := slices.Index(v.Scope.Holders, who); i >= 0 {
		return paint.InkOfClient(i)
	}
	return paint.Faint
}

// levelAt is the height of a bar of SignLife: what is left of a life.
func (b *bar) levelAt(g *paint.Glyphs, t trace.Instant) rune {
	if b.life == 0 {
		return g.Levels[len(g.Levels)-1]
	}
	began := b.lives[0]
	for _, r := range b.lives {
		if r <= t {
			began = r
		}
	}
	return g.Level(int64(began+b.life-t), int64(b.life))
}

func storageLane(v *model.View) Lane {
	l := Lane{Name: tell.StorageLane, kind: timeline.LaneStorage}
	if v.Run.Case.Scenario.Resource.Guarded {
		l.title = "data"
	}
	late := (v.To - v.From) / 50
	for i := range v.History.Accesses {
		a := &v.History.Accesses[i]
		if a.Applied != trace.Never && a.Applied-a.Invoked > late {
			put(v, &l, bar{from: a.Invoked, to: a.Applied, sign: timeline.SignTravels, ink: paint.Faint, label: undecided(v)})
		}
	}
	return l
}

// undecided says what an access is between its invocation and the decision of the resource: under way to it, or, of a
// database, not much longer than that, but part of a transaction for as long as that is open.
func undecided(v *model.View) string {
	if v.Run.Case.Scenario.Resource.Guarded && v.Servers().Holds() == "connection" {
		return "not yet committed"
	}
	return "on its way"
}

func damageLane(v *model.View) Lane {
	l := Lane{Name: tell.DamageLane, kind: timeline.LaneDamage, Ink: paint.Red}
	for _, d := range v.Damages() {
		if d.At >= v.From && d.At <= v.To {
			l.marks = append(l.marks, mark{at: d.At, ink: paint.Red, pad: 1, sign: timeline.SignDamage, label: d.Kind})
		}
	}
	return l
}
