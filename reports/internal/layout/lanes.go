package layout

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Lane is one row of the picture before it is laid out.
type Lane struct {
	Name  string
	title string // what stands before it; its name if empty
	kind  timeline.LaneKind
	Node  string    // the client or the server that it is of
	Ink   paint.Ink // of that
	Bars  []Bar
	Marks []Mark
	// Of LaneLevel:
	Levels    []timeline.Level
	Threshold *timeline.Level
}

// Heading is what stands before the lane.
func (l *Lane) Heading() string { return cmp.Or(l.title, l.Name) }

// Blank reports whether there is nothing to be seen on the lane.
func (l *Lane) Blank() bool {
	bars := slices.ContainsFunc(l.Bars, func(b Bar) bool { return b.Sign != timeline.SignTint })
	return !bars && len(l.Marks) == 0 && !slices.ContainsFunc(l.Levels, func(l timeline.Level) bool { return l.Text != "" })
}

// equal reports whether two lanes show the same. What lends its tone to others follows from the overlaps, which have a lane.
func (l *Lane) equal(o *Lane) bool {
	shown := func(bars []Bar) []Bar {
		return slices.DeleteFunc(slices.Clone(bars), func(b Bar) bool { return b.Sign == timeline.SignTint })
	}
	same := func(a, b Bar) bool {
		return a.From == b.From && a.To == b.To && a.Sign == b.Sign && a.Ink == b.Ink && a.Label == b.Label && a.Last == b.Last &&
			a.Life == b.Life && slices.Equal(a.Lives, b.Lives)
	}
	return slices.EqualFunc(shown(l.Bars), shown(o.Bars), same) && slices.Equal(l.Marks, o.Marks) && slices.Equal(l.Levels, o.Levels)
}

// Bar is something that lasts. Bars are painted in their order, marks over them.
type Bar struct {
	From, To trace.Instant
	Sign     timeline.Sign
	Lives    []trace.Instant // of SignLife: see [timeline.Bar]
	Life     trace.Instant   // likewise
	Ink      paint.Ink
	Label    string        // written into it if there is room
	Last     timeline.Sign // stands at its end
	quiet    bool          // it may last forever without anything going on
}

// Mark is something that happens at a moment.
type Mark struct {
	At   trace.Instant
	Text string
	Ink  paint.Ink
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
	for i := range l.Bars {
		if b := &l.Bars[i]; b.Sign != timeline.SignTint && len(l.Bars) <= crowded {
			list = append(list, stop{b.From, -1}, stop{b.To, -1})
		}
	}
	for i := range l.Marks {
		m := &l.Marks[i]
		list = append(list, stop{m.At, len([]rune(m.Text)) + m.pad})
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
		slices.SortStableFunc(list[i].Marks, func(a, b Mark) int {
			switch {
			case a.At != b.At || a.last == b.last:
				return cmp.Compare(a.At, b.At)
			case a.last:
				return 1
			}
			return -1
		})
	}
	return slices.DeleteFunc(list, func(l Lane) bool { return len(l.Bars)+len(l.Marks)+len(l.Levels) == 0 })
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
		list = append(list, beliefLane(v, who, paint.InkOfClient(v.Scope.Turn(i))))
		if v.History.HasAuthority {
			list = append(list, truthLane(v, who, paint.InkOfClient(v.Scope.Turn(i))), votesLane(v, who, paint.InkOfClient(v.Scope.Turn(i))))
		}
		list = append(list, clockLane(v, who, paint.InkOfClient(v.Scope.Turn(i))))
	}
	if v.History.HasAuthority && slices.ContainsFunc(v.History.Grants, func(g history.Grant) bool { return g.Acquisition == 0 }) {
		list = append(list, truthLane(v, model.Nobody, paint.Faint))
	}
	for _, lock := range v.Scope.LockNames() {
		list = append(list, overlapLane(v, lock))
	}
	list = append(list, networkLane(v), leadersLane(v))
	for _, node := range v.Scope.Nodes {
		list = append(list, nodeLane(v, node))
		for _, lock := range v.Scope.Locks {
			list = append(list, keyLane(v, node, lock))
		}
		list = append(list, clockLane(v, node, paint.Plain), lagLane(v, node))
	}
	for _, node := range v.Names {
		if !slices.Contains(v.Scope.Nodes, node) && !slices.Contains(v.Scope.MoreNodes, node) {
			list = append(list, clockLane(v, node, paint.Plain), lagLane(v, node))
		}
	}
	list = append(list, storageLane(v))
	for _, lock := range v.Scope.LockNames() {
		list = append(list, tokensLane(v, lock))
	}
	return append(list, fateLane(v), damageLane(v))
}

// placeMoments puts the moments of a lane on it.
func placeMoments(n *tell.Narrative, l *Lane) {
	for i := range l.Marks {
		if m := &l.Marks[i]; m.sign == timeline.SignDamage {
			m.Text = string(n.Glyphs.Of(m.sign)) + " " + m.label
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
		if l.Name == moments.StorageLane {
			pad = 1
		}
		k := m.Ink
		if k == paint.Plain && l.Name != moments.StorageLane {
			k = paint.Strong
		}
		l.Marks = append(l.Marks, Mark{At: m.At, Text: text, Ink: k, pad: pad, sign: m.Sign, label: m.Label, number: m.Number})
	}
}

func put(v *model.View, l *Lane, b Bar) {
	b.From, b.To = max(b.From, v.From), min(b.To, v.To)
	if b.From < b.To {
		l.Bars = append(l.Bars, b)
	}
}

func beliefLane(v *model.View, who string, k paint.Ink) Lane {
	l := Lane{Name: moments.BeliefLane(who), kind: timeline.LaneBelief, Node: who, Ink: k}
	var shared []Bar // where it is not the only one that believes
	for i := range v.Waits {
		if w := &v.Waits[i]; w.Who == who {
			put(v, &l, Bar{From: w.From, To: w.To, Sign: timeline.SignWaits, Ink: paint.Faint, quiet: true})
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
		put(v, &l, Bar{From: b.From, To: b.To, Sign: timeline.SignBelieves, Ink: k, Last: last})
		for _, o := range v.Overlaps {
			if !v.IsOf(b.Acquisition.ID, o.Lock) {
				continue
			}
			from, to := max(b.From, o.From), min(b.To, o.To)
			if !slices.ContainsFunc(shared, func(s Bar) bool { return s.From <= from && to <= s.To }) { // it may hold twice
				shared = append(shared, Bar{From: from, To: to, Sign: timeline.SignTint, Ink: paint.Amber})
			}
		}
	}
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Concerns(who) {
			putStop(v, &l, f, k)
		}
	}
	for _, b := range shared {
		put(v, &l, b)
	}
	return l
}

// firstGrant returns what an acquisition was granted first; nil if nothing.
func firstGrant(v *model.View, id history.ID) *history.Grant {
	i := slices.IndexFunc(v.History.Grants, func(g history.Grant) bool { return g.Acquisition == id })
	if i < 0 {
		return nil
	}
	return &v.History.Grants[i]
}

// truthLane shows what the service granted, and where belief outlasts it.
func truthLane(v *model.View, who string, k paint.Ink) Lane {
	l := Lane{Name: moments.GrantLane(who), kind: timeline.LaneTruth, Node: who, Ink: k}
	for _, b := range v.Beliefs {
		if v.Holder(b.Acquisition.ID, "") == who {
			from, label := b.From, "no longer granted"
			if first := firstGrant(v, b.Acquisition.ID); first == nil || first.From > b.To {
				label = "never granted"
			} else if first.From > from {
				put(v, &l, Bar{From: from, To: first.From, Sign: timeline.SignLapsed, Ink: paint.Faint, Label: "not yet granted"})
				from = first.From
			}
			if moments.Unchanged(v, b.Acquisition) != nil {
				label = "no change"
			}
			put(v, &l, Bar{From: from, To: b.To, Sign: timeline.SignLapsed, Ink: paint.Faint, Label: label})
		}
	}
	for i := range v.History.Grants {
		g := &v.History.Grants[i]
		if v.Holder(g.Acquisition, g.Client) == who {
			put(v, &l, Bar{From: g.From, To: g.To, Sign: timeline.SignGranted, Ink: k, quiet: g.To == trace.Never})
		}
	}
	return l
}

// overlapLane shows when more than one believes to hold a lock, which is named if there are several.
func overlapLane(v *model.View, lock string) Lane {
	l := Lane{Name: moments.KeyLane(moments.OverlapLane, lock), kind: timeline.LaneOverlap, Ink: paint.Amber}
	for _, o := range v.Overlaps {
		if o.Lock != lock {
			continue
		}
		put(v, &l, Bar{From: o.From, To: o.To, Sign: timeline.SignOverlap, Ink: paint.Amber, Label: wording.Precise(o.To.Sub(o.From))})
	}
	return l
}

func networkLane(v *model.View) Lane {
	l := Lane{Name: moments.NetworkLane, kind: timeline.LaneNetwork}
	for i := range v.Faults {
		f := &v.Faults[i]
		if f.Kind == sim.Cut || f.Kind == sim.Stall {
			from, to := f.Span(v.History)
			put(v, &l, Bar{From: from, To: to, Sign: timeline.SignCut, Label: moments.FaultLabel(f), quiet: true})
		}
	}
	return l
}

// nodeLane shows what one server keeps of the lock, unless there are several, and what faults make of the server.
func nodeLane(v *model.View, node string) Lane {
	l := Lane{Name: moments.NodeLane(node), kind: timeline.LaneNode, Node: node}
	if v.Several() {
		putKeys(v, &l, func(c *history.Copy) bool { return c.Node == node && v.History.LockOf(c.Acquisition) == "" })
	} else {
		putKeys(v, &l, func(c *history.Copy) bool { return c.Node == node })
	}
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Node == node {
			putStop(v, &l, f, paint.Plain)
		}
	}
	return l
}

// keyLane shows what one server keeps of one of several locks.
func keyLane(v *model.View, node, lock string) Lane {
	l := Lane{Name: moments.KeyLane(node, lock), kind: timeline.LaneNode, Node: node}
	putKeys(v, &l, func(c *history.Copy) bool { return c.Node == node && v.History.LockOf(c.Acquisition) == lock })
	return l
}

// putKeys shows what is kept: how much of its life is left, and whose it is.
func putKeys(v *model.View, l *Lane, is func(*history.Copy) bool) {
	copies := 0
	for i := range v.History.Copies {
		if c := &v.History.Copies[i]; is(c) && c.From < v.To && c.To > v.From {
			copies++
		}
	}
	for i := range v.History.Copies {
		c := &v.History.Copies[i]
		if !is(c) || !v.Within(c.From, c.To) {
			continue
		}
		who := v.Holder(c.Acquisition, c.Client)
		k := inkOf(v, who)
		lives, life := v.Lives(c)
		put(v, l, Bar{From: c.From, To: c.To, Sign: timeline.SignLife, Lives: lives, Life: life, Ink: k, quiet: c.Expires == trace.Never})
		if c.From >= v.From && c.From < v.To && copies <= crowded {
			name := model.ClientOf(who)
			l.Marks = append(l.Marks, Mark{At: c.From, Text: name, Ink: k, last: true, label: name})
		}
	}
}

// putStop shows on a node's lane when a fault has paused or crashed the node.
func putStop(v *model.View, l *Lane, f *model.Fault, k paint.Ink) {
	from, to := f.Span(v.History)
	switch f.Kind {
	case sim.Pause:
		put(v, l, Bar{From: from, To: to, Sign: timeline.SignPaused, Ink: k, Label: moments.FaultLabel(f)})
	case sim.Crash:
		put(v, l, Bar{From: from, To: to, Sign: timeline.SignDown, Ink: paint.Faint, Label: moments.FaultLabel(f), quiet: true})
	default:
	}
}

func inkOf(v *model.View, who string) paint.Ink {
	if i := slices.Index(v.Scope.Holders, who); i >= 0 {
		return paint.InkOfClient(v.Scope.Turn(i))
	}
	return paint.Faint
}

// Left is how much is left of the life that a bar of SignLife shows, and how long that is; 0 and 0 if it does not end by
// itself.
func (b *Bar) Left(t trace.Instant) (left, whole int64) {
	if b.Life == 0 {
		return 0, 0
	}
	began := b.Lives[0]
	for _, r := range b.Lives {
		if r <= t {
			began = r
		}
	}
	return int64(began + b.Life - t), int64(b.Life)
}

func storageLane(v *model.View) Lane {
	l := Lane{Name: moments.StorageLane, kind: timeline.LaneStorage}
	if v.Run.Case.Scenario.Resource.Guarded {
		l.title = "data"
	}
	late := (v.To - v.From) / 50
	for i := range v.History.Accesses {
		a := &v.History.Accesses[i]
		if a.Applied != trace.Never && a.Applied-a.Invoked > late {
			put(v, &l, Bar{From: a.Invoked, To: a.Applied, Sign: timeline.SignTravels, Ink: paint.Faint, Label: undecided(v)})
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

// fateLane shows from when on nothing random prevented the gravest violation, if that was not so from the start.
func fateLane(v *model.View) Lane {
	l := Lane{Name: moments.FateLane, kind: timeline.LaneFate}
	if f := v.Run.Fate; f != nil && !f.Start {
		put(v, &l, Bar{From: f.From, To: f.To, Sign: timeline.SignFated, Label: "in all futures", quiet: true})
	}
	return l
}

func damageLane(v *model.View) Lane {
	l := Lane{Name: moments.DamageLane, kind: timeline.LaneDamage, Ink: paint.Red}
	for _, d := range v.Damages() {
		if d.At >= v.From && d.At <= v.To {
			l.Marks = append(l.Marks, Mark{At: d.At, Ink: paint.Red, pad: 1, sign: timeline.SignDamage, label: d.Kind})
		}
	}
	return l
}
