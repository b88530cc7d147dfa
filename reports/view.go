package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	run      *Run
	h        *history.History
	scope    *scope
	from     trace.Instant
	to       trace.Instant
	beliefs  []history.Belief
	faults   []fault
	both     []stretch // when more than one believes
	harmful  map[*history.Access]bool
	names    []string      // of the servers
	roles    []trace.Event // promotions and demotions
	renewals []trace.Event // executed ones, and promotions
	all      []sent        // messages of the whole run
	versions map[uint64]uint64
}

func newView(r *Run, s *scope) *view {
	v := &view{
		run: r, h: r.History, scope: s, from: s.from, to: min(s.to, r.History.End),
		beliefs: r.History.Beliefs(), faults: faultsOf(r), harmful: map[*history.Access]bool{},
		versions: versionsOf(r.History),
	}
	v.sift()
	v.both = v.overlaps()
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

// sift keeps apart the events that are looked at time and again.
func (v *view) sift() {
	v.names, v.all = v.servers().Names(), messagesOf(v.run)
	for i := range v.run.Events {
		e := &v.run.Events[i]
		if e.Does == trace.Promote || e.Does == trace.Demote {
			v.roles = append(v.roles, *e)
		}
		if e.Does == trace.Promote || e.Does == trace.Execute && e.Alt == "renew" {
			v.renewals = append(v.renewals, *e)
		}
	}
}

func (v *view) servers() scenarios.Servers { return v.run.Case.Scenario.Servers }

// keeperOf is who keeps the lock where servers do that together: none of an ensemble's has what the others have not. It is
// "" where each server has its own.
func keeperOf(s scenarios.Servers) string {
	if role, nodes := s.Role(); role == "leader" && nodes {
		return s.Title()
	}
	return ""
}

// keptTogether returns the runs with what servers keep together told of their keeper, whichever of them has decided it.
func keptTogether(runs []Run) []Run {
	keeper := keeperOf(runs[0].Case.Scenario.Servers)
	if keeper == "" {
		return runs
	}
	runs = slices.Clone(runs)
	for i := range runs {
		h := *runs[i].History
		h.Copies, h.Asks, h.Removals = slices.Clone(h.Copies), slices.Clone(h.Asks), slices.Clone(h.Removals)
		for k := range h.Copies {
			h.Copies[k].Node = keeper
		}
		for k := range h.Asks {
			h.Asks[k].Node = keeper
		}
		for k := range h.Removals {
			h.Removals[k].Node = keeper
		}
		runs[i].History = &h
	}
	return runs
}

// within reports whether some of a time is drawn.
func (v *view) within(from, to trace.Instant) bool { return from <= v.to && v.from <= to }

// entryOf is what a server keeps of the lock while somebody holds it: "a's key".
func (v *view) entryOf(who string) string { return who + "'s " + v.servers().Entry() }

// wiped says how a server lost what it kept: it went down, it came back without it, or, if neither, it is a replica that
// took over its master's dataset.
func (v *view) wiped(c *history.Copy) (lost, back bool) {
	role, _ := v.servers().Role()
	lost = role != "master"
	for i := range v.faults {
		if f := &v.faults[i]; f.fired && f.kind == "crash" && f.node == c.Node {
			lost = lost || f.begin <= c.To && c.To < f.end
			back = back || f.end == c.To
		}
	}
	return lost, back
}

func (v *view) isDown(node string, at trace.Instant) bool {
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
func (v *view) believersAt(at trace.Instant, but *history.Acquisition) []string {
	var names []string
	for _, b := range v.beliefs {
		who := v.holder(b.Acquisition.ID, "")
		if b.From <= at && at < b.To && !sameOwner(b.Acquisition, but) && !slices.Contains(names, who) {
			names = append(names, who)
		}
	}
	return names
}

// sameOwner reports whether two acquisitions are of one task, which may enter a lock again that it holds.
func sameOwner(a, b *history.Acquisition) bool { return a.Client == b.Client && a.Task == b.Task }

// entersAgain reports whether an acquisition is of a task that held already when it began to believe.
func (v *view) entersAgain(a *history.Acquisition) bool {
	return slices.ContainsFunc(v.beliefs, func(b history.Belief) bool {
		return b.Acquisition.ID != a.ID && sameOwner(b.Acquisition, a) && b.From <= a.Returned && a.Returned < b.To
	})
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
		if stoodOn(c, g) && !v.countedBefore(c, g) && !v.ofEarlierTry(c, g) && !slices.Contains(names, c.Node) {
			names = append(names, c.Node)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " by " + listing(names)
}

// countedBefore reports whether an earlier grant of the same acquisition stood on a copy: a later one does not come of it.
func (v *view) countedBefore(c *history.Copy, g *history.Grant) bool {
	return slices.ContainsFunc(v.h.Grants, func(o history.Grant) bool {
		return o.Acquisition == g.Acquisition && o.From < g.From && stoodOn(c, &o)
	})
}

// stoodOn reports whether a copy was what a grant was made of, or part of it. It may be over at once.
func stoodOn(c *history.Copy, g *history.Grant) bool {
	return c.Acquisition == g.Acquisition && c.From <= g.From && (g.From < c.To || g.From == c.From)
}

// tokenNote tells a token. Of a lock without tokens a grant may have a number too: whatever the server replied.
func (v *view) tokenNote(token uint64) string {
	if token == 0 || !v.h.HasTokens {
		return ""
	}
	return ", token " + tokenText(token)
}

// tokenText prints a token; one that does not fit into 32 bits as ZooKeeper prints its zxids, so that the epoch in its
// upper half can be told from the count in the lower.
func tokenText(token uint64) string {
	if token>>32 == 0 {
		return strconv.FormatUint(token, 10)
	}
	return fmt.Sprintf("%#x", token)
}

// mostTokenLetters is how long a token may be to stand on a lane.
const mostTokenLetters = 4

// tokenMark is a token on a lane; "" if there is none, or one that is too long.
func tokenMark(token uint64) string {
	if text := tokenText(token); token != 0 && len(text) <= mostTokenLetters {
		return text
	}
	return ""
}

func (v *view) register(a *history.Access) string {
	if v.h.Registers < 2 {
		return ""
	}
	return fmt.Sprintf(" register %d", a.Register)
}

// mark is how the storage lane calls the sender of an access: by the token, or else by the name.
func (v *view) mark(a *history.Access) string {
	text := cmp.Or(tokenMark(a.Token), ":"+v.holder(a.Acquisition, a.Client))
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
