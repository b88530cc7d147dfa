package minimal

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

var notOfNames = regexp.MustCompile(`[^a-z0-9]+`)

// longestLock leaves room in a scenario's name for a property, a sum and a number.
const longestLock = 30

// NameOf returns what a lock is called in names of scenarios, which know no versions and no folders: of a long command or path the last
// words.
func NameOf(lock string) string {
	name := strings.Trim(notOfNames.ReplaceAllString(strings.ToLower(lock), "-"), "-")
	if from := len(name) - longestLock; from > 0 {
		if _, words, found := strings.Cut(name[from-1:], "-"); found {
			name = words
		} else {
			name = name[from:]
		}
	}
	return cmp.Or(strings.TrimLeft(name, "-0123456789"), "lock") // it is in the folder "."
}

// nameOf names a minimal scenario after the lock, the property and the cause.
func nameOf(s *scenarios.Scenario, p checker.Property, form string) string {
	sum := sha256.Sum256([]byte(form))
	return fmt.Sprintf("%s-%s-%x", NameOf(s.Lock.Algorithm), p, sum[:4])
}

// titleOf tells in one line what goes wrong, and what comes of it.
func titleOf(s *scenarios.Scenario, seen sighting) string {
	var parts []string
	for i := range s.Faults {
		f := &s.Faults[i]
		parts = append(parts, deed(s, f)+moment(f))
	}
	for _, c := range s.Clocks {
		parts = append(parts, clockDeed(&sim.Action{Node: c.Node, Step: c.Offset, Rate: c.Rate}))
	}
	const most = 3
	if len(parts) > most {
		parts = append(parts[:most-1], fmt.Sprintf("%d more faults", len(parts)-most+1))
	}
	if len(parts) == 0 {
		parts = []string{plainDeed(s, &seen)}
	}
	text := strings.Join(parts, ", ") + "; " + damage(&seen)
	if of := deployment(s); of != s.Servers.Kind {
		text += " (" + of + ")"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// deeds tell of causes that are no faults.
var deeds = map[string]string{
	splitVotes: "the votes are split", idledOut: "the servers end an idle connection",
}

// plainDeed says what clients do, or servers by themselves, that may be enough.
func plainDeed(s *scenarios.Scenario, seen *sighting) string {
	for i := range s.Clients {
		if c := &s.Clients[i]; (c.Hangs || c.Work >= s.Lock.TTL) && outlasts(seen.result.History, c) {
			return "client " + c.Name + " works for longer than the lease"
		}
	}
	if s.Servers.Pool > 0 {
		return "clients share connections by a pooler"
	}
	for _, cause := range newCast(s, *seen).causes() {
		if words := deeds[cause]; words != "" {
			return words
		}
	}
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Hangs {
			return "client " + c.Name + " never stops working"
		}
	}
	return "no fault at all"
}

// outlasts reports whether what a client was granted has come to its end without it. Leases that are renewed and sessions
// last as long as the work.
func outlasts(h *history.History, c *scenarios.Client) bool {
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		return g.Ended == history.ByDeadline && slices.Contains(c.Names(), g.Client)
	})
}

// deed says what a fault does.
func deed(s *scenarios.Scenario, f *sim.Fault) string {
	a := &f.Action
	switch a.Kind {
	case sim.Pause:
		return subject(s, a.Node) + " pauses"
	case sim.Crash:
		if a.Host {
			return subject(s, a.Node) + " loses power"
		}
		return subject(s, a.Node) + " crashes"
	case sim.SetClock:
		return clockDeed(a)
	case sim.Cut:
		return theTraffic(&a.Link) + " vanishes"
	case sim.Stall:
		return theTraffic(&a.Link) + " waits"
	case sim.Delay:
		return parameter.TheMessage(&f.Trigger.Step) + " is late"
	case sim.Break:
		if a.This {
			return "the connection of " + parameter.TheMessage(&f.Trigger.Step) + " breaks"
		}
		return "the connection between " + parameter.TheLink(&a.Link) + " breaks"
	case sim.Error:
		return parameter.TheMessage(&f.Trigger.Step) + " is answered with an error"
	case sim.SameRandom:
		return "clients " + strings.Join(a.Nodes, " and ") + " draw the same random numbers"
	case sim.Promote:
		role, _ := s.Servers.Role()
		if s.Servers.Facts().Stands {
			return parameter.TheNode(a.Node) + " stands for election"
		}
		return parameter.TheNode(a.Node) + " is made " + role
	case sim.Evict:
		return parameter.TheNode(a.Node) + " evicts the key"
	case sim.Snapshot:
		return parameter.TheNode(a.Node) + " takes a snapshot"
	default: // EndSession
		return "the session of " + parameter.TheNode(a.Node) + " is ended"
	}
}

// subject is a node that does something. The letters that are the names of clients might be read as articles.
func subject(s *scenarios.Scenario, node string) string {
	if slices.Contains(clientNames(s), node) {
		return "client " + node
	}
	return parameter.TheNode(node)
}

func clockDeed(a *sim.Action) string {
	of := "the clock of " + parameter.TheNode(a.Node)
	switch {
	case a.Step > 0:
		return of + " is ahead"
	case a.Step < 0:
		return of + " is set back"
	case a.Rate > 0:
		return of + " is fast"
	}
	return of + " is slow"
}

// moment says when a fault happens, if it hangs on something that clients do.
func moment(f *sim.Fault) string {
	t, who := &f.Trigger, parameter.TheNode(f.Trigger.Step.Node)
	if f.Action.Node == t.Step.Node {
		who = "it"
	}
	if t.When == sim.At || t.Step.Does < trace.Start || t.Step.Does > trace.Done {
		return ""
	}
	does, before := stepWords(&t.Step)
	switch {
	case t.When == sim.Before:
		return " before " + who + " " + before
	case t.Plus > 0:
		return " some time after " + who + " " + does
	}
	return " when " + who + " " + does
}

// stepWords puts a step of a client into words: when it has been taken, and before that.
func stepWords(p *sim.Pattern) (after, before string) {
	switch p.Does {
	case trace.Start:
		return "has begun", "begins"
	case trace.Acquired:
		return "has acquired", "knows that it has acquired"
	case trace.Refused:
		return "was refused", "knows that it was refused"
	case trace.Check:
		return "has looked", "looks"
	case trace.Access:
		what := cmp.Or(p.What, "request")
		return "has begun its " + what, "begins its " + what // a pause comes before it is sent
	case trace.Release:
		return "has begun to release", "releases"
	case trace.Released:
		return "has released", "knows that it has released"
	case trace.Lost:
		return "knows of its loss", "knows of its loss"
	default: // Done
		return "is done", "is done"
	}
}

// damage says what came of it.
func damage(seen *sighting) string {
	var who []string
	v := seen.violation
	for _, a := range seen.participants() {
		if !slices.Contains(who, a.Client) {
			who = append(who, a.Client)
		}
	}
	names, what := strings.Join(who, " and "), v.Kind
	switch {
	case len(who) > 1 && v.Property == checker.MutualExclusion:
		what = names + " hold at once"
	case len(who) > 1 && v.Property == checker.ExclusionAtService:
		what = "it is granted to " + names + " at once"
	case timed(v.Property):
		what = "nobody acquires"
	case len(who) > 0:
		what += ", of " + names
	}
	return what
}

// theTraffic is what travels on a link, as a part of a sentence.
func theTraffic(l *sim.Link) string {
	if l.OneWay {
		return "what travels from " + parameter.TheLink(l)
	}
	return "what travels between " + parameter.TheLink(l)
}

// deployment says what kind of servers there are, not how many, and what their disks keep if that matters.
func deployment(s *scenarios.Scenario) string {
	v := &s.Servers
	text := v.Kind
	switch {
	case v.Cluster:
		text += " cluster"
	case v.Sentinels > 0:
		text += " with Sentinels"
	case v.Replicas > 0:
		text += " with replicas"
	case v.Pool > 0:
		text += " behind a pooler"
	}
	if !slices.ContainsFunc(s.Faults, asksDisks) {
		return text
	}
	if v.Persistence != "" {
		text += ", " + v.Persistence
	}
	if v.Disk != usualDisk {
		text += ", disk " + v.Disk
	}
	return text
}

// asksDisks reports whether it matters to a fault what servers have on their disks.
func asksDisks(f sim.Fault) bool {
	return f.Action.Kind == sim.Crash && !isClientCrash(&f) || f.Action.Kind == sim.Snapshot
}
