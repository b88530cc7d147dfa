package explore

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// point is a moment of a run at which a fault can act: right before or right after a step.
type point struct {
	trigger sim.Trigger
	step    trace.Step
	at      trace.Instant
	looked  bool // somebody looked at the wall clock of the step's node after the last point there
}

// pointsOf returns the points of a run whose events have been kept, in their order.
func pointsOf(r *harness.Result) []point {
	list := make([]point, 0, len(r.Events)+len(r.Intents))
	before, after, looks := counter{}, counter{}, looking{looks: r.Looks}
	add := func(c counter, when sim.When, s *trace.Step, at trace.Instant) {
		looks.pass()
		if s.Does == trace.Begin || s.Does == trace.End {
			return
		}
		list = append(list, point{triggerOn(when, s, c.count(s)), *s, at, looks.since(s.Node)})
	}
	intents := r.Intents
	intendedAfter := func(seq uint64) {
		for ; len(intents) > 0 && intents[0].After == seq; intents = intents[1:] {
			add(before, sim.Before, &intents[0].Step, intents[0].At)
		}
	}
	intendedAfter(0)
	for i := range r.Events {
		e := &r.Events[i]
		add(after, sim.After, &e.Step, e.At)
		intendedAfter(e.Seq)
	}
	return list
}

// looking follows who looks at which wall clock.
type looking struct {
	looks   []trace.Look // that are yet to come
	passed  int          // events and intents
	fresh   []string     // nodes whose clocks have been looked at since their last points
	watched []string     // nodes whose clocks somebody waits for
}

// pass goes on by one event or intent.
func (l *looking) pass() {
	for ; len(l.looks) > 0 && l.looks[0].Place <= l.passed; l.looks = l.looks[1:] {
		look := &l.looks[0]
		switch {
		case !look.Waits:
			l.fresh = append(l.fresh, look.Node)
		case !slices.Contains(l.watched, look.Node):
			l.watched = append(l.watched, look.Node)
		}
	}
	l.passed++
}

// since reports whether somebody has looked at a node's clock since its last point, and begins again.
func (l *looking) since(node string) bool {
	isNode := func(name string) bool { return name == node }
	fresh := slices.ContainsFunc(l.fresh, isNode)
	l.fresh = slices.DeleteFunc(l.fresh, isNode)
	return fresh || slices.Contains(l.watched, node)
}

// counter counts the steps that patterns match, as the engine does it.
type counter map[pattern]int

type pattern struct {
	node, what, peer string
	does             trace.Does
}

// count counts a step, and returns its number among those that match what it is called.
func (c counter) count(s *trace.Step) (nth int) {
	p := pattern{node: s.Node, does: s.Does, peer: s.Peer}
	c[p]++ // a pattern without a name matches all
	for i, name := range [...]string{s.What, s.Alt} {
		if name != "" && (i == 0 || name != s.What) {
			p.what = name
			c[p]++
		}
	}
	p.what = nameOf(s)
	return c[p]
}

// nameOf is what a trigger calls a message or an access: by its purpose if it has one, as "acquire" for SET.
func nameOf(s *trace.Step) string {
	if s.Alt != "" {
		return s.Alt
	}
	return s.What
}

func triggerOn(when sim.When, s *trace.Step, nth int) sim.Trigger {
	if nth == 1 {
		nth = 0 // which is the same, and how scenarios have it
	}
	return sim.Trigger{When: when, Nth: nth, Step: sim.Pattern{
		Node: literal(s.Node), Does: s.Does, What: literal(nameOf(s)), Peer: literal(s.Peer),
	}}
}

// literal is the glob that matches a name only.
func literal(name string) string { return globs.Replace(name) }

var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
