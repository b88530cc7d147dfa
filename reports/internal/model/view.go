package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Nobody is who holds a key that was made for a request nobody waits for any more.
const Nobody = "nobody"

// View is one run as far as a picture shows it.
type View struct {
	Run      *Run
	History  *history.History
	Scope    *Scope
	From     trace.Instant
	To       trace.Instant
	Beliefs  []history.Belief
	Faults   []Fault   // that happened
	Overlaps []Stretch // when more than one believes to hold one lock
	Waits    []Wait
	Harmful  map[*history.Access]bool
	Names    []string      // of the servers
	Roles    []trace.Event // promotions and demotions
	Renewals []trace.Event // executed ones, and promotions
	Messages []Sent        // messages of the whole run
	versions map[uint64]uint64
}

// New is the view of a run within a scope.
func New(r *Run, s *Scope) *View {
	v := &View{
		Run: r, History: r.History, Scope: s, From: s.From, To: min(s.To, r.History.End),
		Beliefs: r.History.Beliefs(), Faults: slices.DeleteFunc(faultsOf(r), func(f Fault) bool { return !f.Fired }), Harmful: map[*history.Access]bool{},
		Waits: s.waitsOf(r.History), versions: versionsOf(r.History),
	}
	v.sift()
	if !r.InDoubt() { // else nothing is to look as if it were certain
		for _, lock := range s.LockNames() {
			v.Overlaps = append(v.Overlaps, v.overlaps(lock)...)
		}
	}
	for _, d := range v.Damages() {
		v.harms(&d)
	}
	return v
}

// harms notes the accesses that damage the resource: of a lost update the second write, of others what happened at that moment.
func (v *View) harms(d *checker.Violation) {
	by := d.Acquisitions
	if last := len(by) - 1; d.Kind == "lost update" {
		by = by[last:]
	}
	for i := range v.History.Accesses {
		if a := &v.History.Accesses[i]; a.Applied == d.At && slices.Contains(by, a.Acquisition) {
			v.Harmful[a] = true
		}
	}
}

// sift keeps apart the events that are looked at time and again.
func (v *View) sift() {
	v.Names, v.Messages = v.Servers().Names(), messagesOf(v.Run)
	for i := range v.Run.Events {
		e := &v.Run.Events[i]
		if e.Does == trace.Promote || e.Does == trace.Demote {
			v.Roles = append(v.Roles, *e)
		}
		if e.Does == trace.Promote || e.Does == trace.Execute && e.Alt == trace.ToRenew {
			v.Renewals = append(v.Renewals, *e)
		}
	}
}

// Stretch is a time during which something lasts.
type Stretch struct {
	From, To trace.Instant
	Lock     string // that it is about, if there are several
}

// overlaps are the times during which more than one believes to hold a lock.
func (v *View) overlaps(lock string) []Stretch {
	type edge struct {
		at   trace.Instant
		step int
	}
	var edges []edge
	for i, b := range v.Beliefs {
		if !v.Within(b.From, b.To) || !v.IsOf(b.Acquisition.ID, lock) {
			continue
		}
		covered := slices.ContainsFunc(v.Beliefs[:i], func(o history.Belief) bool { // nested acquisitions of one owner
			return o.From <= b.From && b.From < o.To && SameOwner(o.Acquisition, b.Acquisition)
		})
		if !covered && b.From < b.To {
			edges = append(edges, edge{b.From, 1}, edge{min(b.To, v.History.End), -1})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	var list []Stretch
	n := 0
	for _, e := range edges {
		n += e.step
		switch {
		case n == 2 && e.step > 0:
			list = append(list, Stretch{From: e.at, Lock: lock})
		case n == 1 && e.step < 0:
			list[len(list)-1].To = e.at
		}
	}
	return slices.DeleteFunc(list, func(s Stretch) bool { return s.From >= s.To })
}

// Servers are those of the scenario.
func (v *View) Servers() scenarios.Servers { return v.Run.Case.Scenario.Servers }

// KeeperOf is who keeps the lock where servers do that together: none of an ensemble's has what the others have not. It is
// "" where each server has its own.
func KeeperOf(s scenarios.Servers) string {
	if role, nodes := s.Role(); role == "leader" && nodes {
		return s.Title()
	}
	return ""
}

// KeptTogether returns the runs with what servers keep together told of their keeper, whichever of them has decided it.
func KeptTogether(runs []Run) []Run {
	keeper := KeeperOf(runs[0].Case.Scenario.Servers)
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

// Within reports whether some of a time is drawn.
func (v *View) Within(from, to trace.Instant) bool { return from <= v.To && v.From <= to }

// EntryOf is what a server keeps of the lock while somebody holds it: "a's key"; of one of several, "a's key of x".
func (v *View) EntryOf(who string) string {
	if client := ClientOf(who); client != who {
		return client + "'s " + v.Servers().Entry() + " of " + strings.TrimPrefix(who, client+onLock)
	}
	return who + "'s " + v.Servers().Entry()
}

// Wiped says how a server lost what it kept: it went down, it came back without it, or, if neither, it is a replica that
// took over its master's dataset.
func (v *View) Wiped(c *history.Copy) (lost, back bool) {
	role, _ := v.Servers().Role()
	lost = role != "master"
	for i := range v.Faults {
		if f := &v.Faults[i]; f.Kind == sim.Crash && f.Node == c.Node {
			lost = lost || f.Begin <= c.To && c.To < f.End
			back = back || f.End == c.To
		}
	}
	return lost, back
}

// IsDown reports whether a crash has taken a node down at that moment.
func (v *View) IsDown(node string, at trace.Instant) bool {
	return slices.ContainsFunc(v.Faults, func(f Fault) bool {
		return f.Kind == sim.Crash && f.Node == node && f.Begin <= at && at < f.End
	})
}

// Witness reports whether an acquisition takes part in a violation.
func (v *View) Witness(id history.ID) bool { return v.Scope.Witnesses[id] }

// Holder names who believes because of an acquisition.
func (v *View) Holder(id history.ID, client string) string {
	if a := v.History.Acquisition(id); a != nil {
		return v.Scope.holder(a)
	}
	if client == "" {
		return Nobody
	}
	return v.Scope.Name(client, 0)
}

// Waiter names who waits.
func (v *View) Waiter(w *history.Wait) string { return v.Scope.Name(w.Client, w.Task) }

// BelievesAt reports whether the client of an acquisition thinks at that moment that it holds because of it.
func (v *View) BelievesAt(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(v.Beliefs, func(b history.Belief) bool {
		return b.Acquisition.ID == id && b.From <= at && at < b.To
	})
}

// StillInside reports whether the owner of an acquisition that fails believes that it holds the lock, which it had before.
func (v *View) StillInside(a *history.Acquisition) bool {
	return slices.ContainsFunc(v.Beliefs, func(b history.Belief) bool {
		return b.Acquisition.ID != a.ID && SameOwner(b.Acquisition, a) && b.From <= a.Returned && a.Returned < b.To
	})
}

// DrawnLater reports whether a client that was granted the lock sent another request before Lock returned: its token may come of that.
func (v *View) DrawnLater(a *history.Acquisition, g *history.Grant) bool {
	return slices.ContainsFunc(v.Run.Events, func(e trace.Event) bool {
		return e.Does == trace.Execute && e.Peer == a.Client && e.For == int(a.ID) && g.From < e.At && e.At <= a.Returned && e.Alt == ""
	})
}

// BelieversAt lists who else believes at that moment to hold the lock of an acquisition.
func (v *View) BelieversAt(at trace.Instant, but *history.Acquisition) []string {
	var names []string
	for _, b := range v.Beliefs {
		who := v.Holder(b.Acquisition.ID, "")
		if b.From <= at && at < b.To && b.Acquisition.Lock == but.Lock && !SameOwner(b.Acquisition, but) && !slices.Contains(names, who) {
			names = append(names, who)
		}
	}
	return names
}

// SameOwner reports whether two acquisitions are of one task and one lock, which it may enter again while it holds it.
func SameOwner(a, b *history.Acquisition) bool {
	return a.Client == b.Client && a.Task == b.Task && a.Lock == b.Lock
}

// EntersAgain reports whether an acquisition is of a task that held already when it began to believe.
func (v *View) EntersAgain(a *history.Acquisition) bool {
	return slices.ContainsFunc(v.Beliefs, func(b history.Belief) bool {
		return b.Acquisition.ID != a.ID && SameOwner(b.Acquisition, a) && b.From <= a.Returned && a.Returned < b.To
	})
}

// DiedHolding reports whether the client of an acquisition crashed before it released the lock.
func (v *View) DiedHolding(id history.ID) bool {
	a := v.History.Acquisition(id)
	return a != nil && a.Crashed != trace.Never
}

// Votes reports whether clients ask several servers that know nothing of each other.
func (v *View) Votes() bool {
	s := v.Servers()
	if s.Shape().Voters < 2 {
		return false
	}
	asked := map[history.ID]string{}
	return slices.ContainsFunc(v.History.Asks, func(a history.Ask) bool {
		node, known := asked[a.Acquisition]
		asked[a.Acquisition] = a.Node
		return known && node != a.Node
	})
}

// Damages are the violations at the resource.
func (v *View) Damages() []checker.Violation {
	var list []checker.Violation
	for _, x := range v.Run.Report.Violations {
		if x.Property == checker.Resource {
			list = append(list, x)
		}
	}
	return list
}

// LastGrant is what an acquisition was last given up to a moment.
func (v *View) LastGrant(id history.ID, by trace.Instant) *history.Grant {
	var last *history.Grant
	for i := range v.History.Grants {
		if g := &v.History.Grants[i]; g.Acquisition == id && g.From <= by {
			last = g
		}
	}
	return last
}

// GrantedAt reports whether what an acquisition was granted lasts at that moment.
func (v *View) GrantedAt(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(v.History.Grants, func(g history.Grant) bool {
		return g.Acquisition == id && g.From <= at && at < g.To
	})
}

// KeepsAt reports whether the owner of a grant still has the lock at a moment by another one, of an earlier try for example that was
// executed late and wrote the entry again.
func (v *View) KeepsAt(g *history.Grant, at trace.Instant) bool {
	own := v.History.Acquisition(g.Acquisition)
	return own != nil && slices.ContainsFunc(v.History.Grants, func(other history.Grant) bool {
		by := v.History.Acquisition(other.Acquisition)
		return by != nil && by != own && SameOwner(by, own) && other.From <= at && at < other.To
	})
}

// IsServer reports whether a name is that of a server.
func (v *View) IsServer(name string) bool { return slices.Contains(v.Names, name) }
