package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The lanes of a picture are known by their names.
const (
	laneBoth    = "overlap"
	laneNetwork = "network"
	laneStorage = "storage"
	laneDamage  = "damage"
)

func laneBelief(who string) string { return who + " believes" }
func laneTruth(who string) string  { return who + " granted" }
func laneNode(node string) string  { return node }

// nobody is who holds a key that was made for a request nobody waits for any more.
const nobody = "nobody"

// view is one run as far as a picture shows it.
type view struct {
	run     *Run
	h       *history.History
	g       *glyphs
	scope   *scope
	from    trace.Instant
	to      trace.Instant
	beliefs []history.Belief
	faults  []fault
	harmful map[*history.Access]bool
}

func newView(r *Run, s *scope, g *glyphs) *view {
	v := &view{
		run: r, h: r.History, g: g, scope: s, from: s.from, to: min(s.to, r.History.End),
		beliefs: r.History.Beliefs(), faults: faultsOf(r), harmful: map[*history.Access]bool{},
	}
	for _, d := range v.damages() {
		for i := range v.h.Accesses {
			a := &v.h.Accesses[i]
			if a.Applied == d.At && slices.Contains(d.Acquisitions, a.Acquisition) {
				v.harmful[a] = true
			}
		}
	}
	return v
}

func (v *view) servers() scenarios.Servers { return v.run.Case.Scenario.Servers }

// entryOf is what a server keeps of the lock while somebody holds it: "a's key".
func (v *view) entryOf(who string) string { return who + "'s " + v.servers().Entry() }

// down reports whether a server was down because of a crash at a moment.
func (v *view) down(node string, at trace.Instant) bool {
	return slices.ContainsFunc(v.faults, func(f fault) bool {
		return f.fired && f.kind == "crash" && f.node == node && f.begin <= at && at < f.end
	})
}

func (v *view) witness(id history.ID) bool { return v.scope.witnesses[id] }

// holder names who believes because of an acquisition.
func (v *view) holder(id history.ID, client string) string {
	if a := v.h.Acquisition(id); a != nil {
		return v.scope.name(a.Client, a.Task)
	}
	if client == "" {
		return nobody
	}
	return v.scope.name(client, 0)
}

func (v *view) waiter(w *history.Wait) string { return v.scope.name(w.Client, w.Task) }

// believesAt reports whether the client of an acquisition thinks at that moment that it holds because of it.
func (v *view) believesAt(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(v.beliefs, func(b history.Belief) bool {
		return b.Acquisition.ID == id && b.From <= at && at < b.To
	})
}

// believersAt lists who else believes at that moment.
func (v *view) believersAt(at trace.Instant, but history.ID) []string {
	var names []string
	for _, b := range v.beliefs {
		if b.Acquisition.ID != but && b.From <= at && at < b.To {
			names = append(names, v.holder(b.Acquisition.ID, ""))
		}
	}
	return names
}

func (v *view) diedHolding(id history.ID) bool {
	a := v.h.Acquisition(id)
	return a != nil && a.Crashed != trace.Never
}

// byServers names the servers on which a grant stood when it was given.
func (v *view) byServers(g *history.Grant) string {
	var names []string
	for i := range v.h.Copies {
		c := &v.h.Copies[i]
		if c.Acquisition == g.Acquisition && c.From <= g.From && g.From < c.To {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " by " + listing(names)
}

// grantedBeyond reports whether a copy went while its grant should have lasted.
func (v *view) grantedBeyond(c *history.Copy) bool {
	const redisMillisecond = 1_000_000 // servers count in milliseconds
	return slices.ContainsFunc(v.h.Grants, func(g history.Grant) bool {
		return g.Acquisition == c.Acquisition && g.From < c.To && g.To > c.To+redisMillisecond
	})
}

// tokenNote tells a token. Of a lock without tokens a grant may have a number too: whatever the server replied.
func (v *view) tokenNote(token uint64) string {
	if token == 0 || !v.h.HasTokens {
		return ""
	}
	return fmt.Sprintf(", token %d", token)
}

func (v *view) register(a *history.Access) string {
	if v.h.Registers < 2 {
		return ""
	}
	return fmt.Sprintf(" register %d", a.Register)
}

// mark is how the storage lane calls the sender of an access: by the token, or else by the name.
func (v *view) mark(a *history.Access) string {
	text := fmt.Sprint(a.Token)
	if a.Token == 0 {
		text = ":" + v.holder(a.Acquisition, a.Client)
	}
	if v.h.Registers > 1 {
		text += fmt.Sprintf(".%d", a.Register)
	}
	return text
}

// listing joins names as a sentence does.
func listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
