package sim

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// Fault is something that goes wrong: a trigger says when, an action says what, For says how long.
// Faults are data: they are drawn by generators, shortened by shrinkers, written to scenario files.
type Fault struct {
	Name    string // its name in the trace and in other faults' triggers; "fault-N" if empty
	Trigger Trigger
	Action  Action
	For     time.Duration // it heals after this long; 0: never
}

// NameAt returns the name of a fault that is the i-th of its run, from 0: its own, or "fault-N" if it has none.
func (f Fault) NameAt(i int) string {
	if f.Name != "" {
		return f.Name
	}
	return "fault-" + strconv.Itoa(i+1)
}

// Lasts returns after which time the fault heals; 0 if it does not.
func (f *Fault) Lasts() time.Duration {
	if f.Action.Kind == Crash {
		return f.Action.Restart
	}
	return f.For
}

// When says how a trigger relates to its step.
type When uint8

// The kinds of triggers.
const (
	At     When = iota // at a moment of true time
	Before             // while the step is pending: a crash cancels it, a pause or a delay postpones it
	After              // when the step has been taken
)

// String returns "at", "before" or "after".
func (w When) String() string { return [...]string{"at", "before", "after"}[w] }

// Trigger says when a fault acts.
type Trigger struct {
	When When
	At   time.Duration // true time since the run's start; for When == At
	Step Pattern       // for Before and After
	Nth  int           // which match; 0 and 1 are the first
	Plus time.Duration // how long after the step; for After only
}

// Pattern matches steps. Its strings are globs as in path.Match; an empty one matches everything. Node and Peer may
// also be the role "holder", "master" or "leader": the node that has it at that moment.
type Pattern struct {
	Node string
	Does trace.Does
	What string
	Peer string
}

// Matches reports whether the pattern matches a step. Role returns the node that has a role; nil: no node has one.
func (p *Pattern) Matches(s *trace.Step, role func(string) string) bool {
	return p.Does == s.Does && MatchesNode(p.Node, s.Node, role) && MatchesNode(p.Peer, s.Peer, role) &&
		(p.What == "" || Glob(p.What, s.What) || s.Alt != "" && Glob(p.What, s.Alt))
}

// MatchesNode reports whether a pattern's Node or Peer matches a node.
func MatchesNode(pattern, name string, role func(string) string) bool {
	return pattern == "" || Glob(pattern, name) ||
		role != nil && name != "" && IsRole(pattern) && role(pattern) == name
}

// Glob matches as path.Match does. Patterns have been checked when the scenario was read.
func Glob(pattern, name string) bool {
	if pattern == name {
		return true
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// MatchesAny reports whether one of several globs matches.
func MatchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return Glob(g, name) })
}

// ActionKind says what a fault does.
type ActionKind uint8

// The actions.
const (
	Pause      ActionKind = iota // the node's code stands still; its clocks run, and messages to it wait
	Crash                        // the node loses its memory; see Action.Host and Action.Restart
	SetClock                     // the node's clock steps or changes its rate
	Cut                          // packets vanish silently between two sets of nodes
	Stall                        // messages on a link wait, and neither end is told
	Delay                        // the trigger's message arrives that much later, and so do those behind it on its connection
	Break                        // a connection, or that of the trigger's message, is closed or reset
	Error                        // the request of the trigger is answered with an error instead of being executed
	SameRandom                   // processes share one stream of randomness, as forked twins do
	Promote                      // the node is made master or leader, and clients are redirected to it
	Evict                        // the node evicts a key
	Snapshot                     // the node writes its dataset to its disk
	EndSession                   // the servers consider the node, a client, dead and end its session
	actionCount
)

var actionNames = [actionCount]string{
	"pause", "crash", "clock", "cut", "stall", "delay", "break", "error", "same-random",
	"promote", "evict", "snapshot", "end-session",
}

// String returns the name that scenarios use.
func (k ActionKind) String() string { return actionNames[k] }

// ActionNames lists the actions.
func ActionNames() []string { return slices.Clone(actionNames[:]) }

// ParseAction is the inverse of ActionKind.String.
func ParseAction(name string) (ActionKind, bool) {
	for k, n := range actionNames {
		if n == name {
			return ActionKind(k), true
		}
	}
	return 0, false
}

// ClockOf selects the clocks of a node that an action changes.
type ClockOf uint8

// The choices. A step changes the wall clock only unless it says both; a rate changes both.
const (
	WallOnly ClockOf = iota
	BothClocks
)

// Loss says which messages are lost with a breaking connection.
type Loss uint8

// The choices.
const (
	LoseNothing Loss = iota // messages that were sent still arrive
	LoseRequest             // messages on their way to the server are lost
	LoseReply               // the server receives and executes; its answers are lost
)

// Action says what a fault does. The comment of a field names the kinds that use it.
type Action struct {
	Kind ActionKind

	Node string // Pause, Crash, SetClock, Promote, Evict, Snapshot, EndSession: a node or a role

	Host    bool          // Crash: the whole machine goes down, not just the process
	Restart time.Duration // Crash: the node is up again after this long; 0: never
	Keep    string        // Crash: "nothing" or "all" of the writes survive, rather than those that its disk would keep

	Step time.Duration // SetClock: how far the clock jumps
	Rate int64         // SetClock: how much faster than true time it runs, in parts per million
	Of   ClockOf       // SetClock

	Link Link // Cut, Stall, Break

	This bool          // Break: the connection of the trigger's message, rather than Link
	By   time.Duration // Delay: of the trigger's message
	RST  bool          // Break: reset rather than closed
	Lose Loss          // Break
	Text string        // Error: the reply, with its code first: "LOADING Redis is loading the dataset in memory"

	Nodes []string // SameRandom; Promote: the clients that learn of it, all if none is named

	Demote time.Duration // Promote: the old master is told after this long; 0: never
	Key    string        // Evict; the lock's own if empty
}

// Link is all connections between two sets of nodes; names are globs or roles.
type Link struct {
	From, To []string
	OneWay   bool // only what travels from From to To
}

// String formats the fault as in a scenario file.
func (f Fault) String() string {
	var parts []string
	if f.Name != "" {
		parts = append(parts, "name: "+quote(f.Name))
	}
	parts = append(parts, f.Trigger.String(), f.Action.String())
	if f.For != 0 {
		parts = append(parts, "for: "+f.For.String())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// String formats the trigger as in a scenario file, without the braces.
func (t Trigger) String() string {
	if t.When == At {
		return "at: " + t.At.String()
	}
	text := "before: "
	if t.When == After {
		text = "after: "
	}
	text += t.Step.String()
	if t.Nth > 1 {
		text += fmt.Sprintf(", nth: %d", t.Nth)
	}
	if t.Plus != 0 {
		text += ", plus: " + t.Plus.String()
	}
	return text
}

// String formats the pattern as in a scenario file.
func (p Pattern) String() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+quote(value))
		}
	}
	add("node", p.Node)
	if p.Does != trace.None {
		add("does", p.Does.String())
	}
	add("what", p.What)
	add("peer", p.Peer)
	return "{" + strings.Join(parts, ", ") + "}"
}

// String formats the action as in a scenario file, without the braces.
func (a Action) String() string {
	switch a.Kind {
	case Pause:
		return "pause: " + quote(a.Node)
	case Crash:
		return "crash: " + quote(a.Node) + a.crashFields()
	case SetClock:
		return "clock: " + quote(a.Node) + a.clockFields()
	case Cut, Stall:
		return a.Kind.String() + ": " + a.Link.String()
	case Delay:
		return "delay: " + a.By.String()
	case Break:
		return a.breakFields()
	case Error:
		return "error: " + quote(a.Text)
	case SameRandom:
		return "same-random: [" + joinQuoted(a.Nodes) + "]"
	default: // Promote, Evict, Snapshot, EndSession
		return a.Kind.String() + ": " + quote(a.Node) + a.commandFields()
	}
}

func (a Action) commandFields() string {
	text := ""
	if len(a.Nodes) > 0 {
		text += ", redirect: " + nodeList(a.Nodes)
	}
	if a.Demote != 0 {
		text += ", demote: " + a.Demote.String()
	}
	if a.Key != "" {
		text += ", key: " + quote(a.Key)
	}
	return text
}

func (a Action) crashFields() string {
	text := ""
	if a.Host {
		text += ", kind: host"
	}
	if a.Restart != 0 {
		text += ", restart: " + a.Restart.String()
	}
	if a.Keep != "" {
		text += ", keep: " + a.Keep
	}
	return text
}

func (a Action) clockFields() string {
	text := ""
	if a.Step != 0 {
		text += ", step: " + a.Step.String()
	}
	if a.Rate != 0 {
		text += fmt.Sprintf(", rate: %dppm", a.Rate)
	}
	if a.Of == BothClocks && a.Step != 0 {
		text += ", of: both"
	}
	return text
}

func (a Action) breakFields() string {
	text := "break: this"
	if !a.This {
		text = "break: " + a.Link.String()
	}
	if a.RST {
		text += ", how: rst"
	}
	switch a.Lose {
	case LoseRequest:
		text += ", lose: request"
	case LoseReply:
		text += ", lose: reply"
	case LoseNothing:
	}
	return text
}

// String formats the link as in a scenario file.
func (l Link) String() string {
	text := "{from: " + nodeList(l.From) + ", to: " + nodeList(l.To)
	if l.OneWay {
		text += ", oneway: true"
	}
	return text + "}"
}

func nodeList(names []string) string {
	if len(names) == 1 {
		return quote(names[0])
	}
	return "[" + joinQuoted(names) + "]"
}

func joinQuoted(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}

// notText are the plain words that YAML does not take for text.
var notText = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
}

// quote puts a string into the double quotes of YAML unless it is a plain word.
func quote(s string) string {
	for _, r := range s {
		plain := r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !plain {
			return fmt.Sprintf("%q", s)
		}
	}
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || notText[strings.ToLower(s)] {
		return fmt.Sprintf("%q", s)
	}
	return s
}
