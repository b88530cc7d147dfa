package scenarios

import (
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// ParseFault reads what sim.Fault.String prints. Whether the nodes that it names exist only a scenario can say.
func ParseFault(text string) (sim.Fault, error) {
	r := newReader("fault")
	var f sim.Fault
	if root := r.load([]byte(text), aScenario()); root != nil {
		f, _ = faultFields.read(r, "", root)
	}
	return f, r.problems.within([]byte(text)).InOrder()
}

var faultFields = ofBackends(mapping[sim.Fault]{
	name: "fault",
	doc: "A fault in one mapping: a trigger says when, an action says what, and the fields of the action " +
		"stand beside it, as in `{after: {node: a, does: acquired}, plus: 100ms, clock: redis-3, step: 11s}`. " +
		"`before` acts while the step is pending: a crash cancels it, a pause or a delay postpones it.",
	choose: []choice{{"trigger", []string{"at", "before", "after"}}, {"action", sim.ActionNames()}},
	fields: []field[sim.Fault]{
		bind("name", name("a name"), func(f *sim.Fault) *string { return &f.Name },
			"The fault's name in the trace and in the triggers of other faults.").otherwise("`fault-N`"),
		through("at", atLeast(0), func(f *sim.Fault) time.Duration { return f.Trigger.At },
			func(f *sim.Fault, d time.Duration) { f.Trigger.When, f.Trigger.At = sim.At, d },
			"Trigger: a moment in true time since the start."),
		step("before", sim.Before, "Trigger: the moment at which a step is about to be taken."),
		step("after", sim.After, "Trigger: the moment at which a step has been taken."),
		bind("nth", first(integer(1, maxTries)), func(f *sim.Fault) *int { return &f.Trigger.Nth },
			"Which of the matching steps. They are counted from the start of the run and include the servers' start-up: for "+
				"example, the NEWLEADER of an ensemble's first leader comes in the first milliseconds.").
			otherwise("the first").with("before", "after"),
		bind("plus", atLeast(0), func(f *sim.Fault) *time.Duration { return &f.Trigger.Plus },
			"The delay after the step.").otherwise("at once").with("after"),

		act("pause", sim.Pause, node(), nodeOf,
			"Action: the node's code stops; its clocks run on, and messages to it wait."),
		act("crash", sim.Crash, node(), nodeOf, "Action: the node crashes and loses its memory."),
		bind("kind", flag("process", "host"), func(f *sim.Fault) *bool { return &f.Action.Host },
			"Whether the process crashes, or the whole machine.").otherwise("`process`").with("crash"),
		bind("restart", atLeast(1), func(f *sim.Fault) *time.Duration { return &f.Action.Restart },
			"How long the node stays down. A client then begins at once, regardless of its `start`.").otherwise("never").with("crash"),
		bind("keep", wordOf("nothing", "all"), func(f *sim.Fault) *string { return &f.Action.Keep },
			"The data with which a crashed server restarts, regardless of its `persistence`: nothing, or the whole dataset that it "+
				"had at the crash.").otherwise("what its disk has by its `persistence`").with("restart"),
		act("clock", sim.SetClock, node(), nodeOf, "Action: the node's clock jumps (`step`) or changes its rate (`rate`)."),
		bind("step", atLeast(-maxDuration), func(f *sim.Fault) *time.Duration { return &f.Action.Step },
			"How far the clock jumps; it may be negative.").otherwise("no jump").with("clock"),
		bind("rate", rate(), func(f *sim.Fault) *int64 { return &f.Action.Rate },
			"How much faster than true time both clocks run.").otherwise("unchanged").with("clock"),
		bind("of", clockOf(), func(f *sim.Fault) *sim.ClockOf { return &f.Action.Of },
			"Which clocks jump.").otherwise("`wall`").with("step"),
		act("cut", sim.Cut, linkFields.kind(), linkOf,
			"Action: packets on the link are lost silently; as with TCP, they are sent again and arrive after the cut."),
		act("stall", sim.Stall, linkFields.kind(), linkOf, "Action: messages on the link wait, and neither end is notified."),
		act("delay", sim.Delay, atLeast(1), func(a *sim.Action) *time.Duration { return &a.By },
			"Action: the message of the trigger is delayed by this much, and so are the messages that follow it on its connection."),
		through("break", target(), func(f *sim.Fault) aim { return aim{f.Action.This, f.Action.Link} },
			func(f *sim.Fault, a aim) { f.Action.Kind, f.Action.This, f.Action.Link = sim.Break, a.this, a.link },
			"Action: connections are closed or reset: that of the trigger's message (`this`), or those between nodes."),
		bind("how", flag("fin", "rst"), func(f *sim.Fault) *bool { return &f.Action.RST },
			"Whether the connections are closed (FIN) or reset (RST).").otherwise("`fin`").with("break"),
		bind("lose", loss(), func(f *sim.Fault) *sim.Loss { return &f.Action.Lose },
			"Which messages are lost with the connection: requests on their way to the server, or the server's replies.").
			otherwise("nothing").with("break"),
		act("error", sim.Error, line("the text of an error reply, its code first: LOADING Redis is loading"),
			func(a *sim.Action) *string { return &a.Text },
			"Action: the request of the trigger (`send`, a server's `receive`, or before `execute`) is answered with this error "+
				"instead of being executed; ZooKeeper's has a name, such as `throttledOp`. Commands to which Redis "+
				"never replies with this error, such as MULTI with LOADING or GET with READONLY, are executed."),
		act("same-random", sim.SameRandom, list(line("a client process"), 100), func(a *sim.Action) *[]string { return &a.Nodes },
			"Action: the client processes draw the same random numbers from the start (`at: 0s`), such as forked processes do."),
		act("promote", sim.Promote, node(), nodeOf,
			"Action: a manual failover. A replica becomes master and the other replicas follow it, or a server of an ensemble "+
				"becomes leader, or the service that one node stands for gets a new leader. A member of a replica set of MongoDB "+
				"stands for election, and becomes primary if the others vote for it."),
		bind("redirect", nodes(), func(f *sim.Fault) *[]string { return &f.Action.Nodes },
			"Which clients are told the new master. If the node is master already, they are told as well.").
			otherwise("all").with("promote"),
		bind("demote", omitted(atLeast(1)), func(f *sim.Fault) *time.Duration { return &f.Action.Demote },
			"How long after the promotion the old master is demoted, if it can be reached then.").
			otherwise("never").with("promote"),
		act("evict", sim.Evict, node(), nodeOf, "Action: the server evicts a key to free memory."),
		bind("key", line("a key"), func(f *sim.Fault) *string { return &f.Action.Key },
			"The evicted key.").otherwise("the lock's").with("evict"),
		act("snapshot", sim.Snapshot, node(), nodeOf,
			"Action: the server saves its dataset (BGSAVE), or replaces its log with a snapshot."),
		act("end-session", sim.EndSession, node(), nodeOf,
			"Action: the servers end the client's session or connection, such as an operator's KILL does. The client learns of it only "+
				"from its library."),

		bind("for", atLeast(1), func(f *sim.Fault) *time.Duration { return &f.For },
			"How long the fault lasts.").otherwise("never"),
	},
})

// faultKind writes a fault as package sim prints it.
func faultKind() kind[sim.Fault] {
	k := faultFields.kind()
	k.write = func(f sim.Fault) *yaml.Node {
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(f.String()), &document); err != nil {
			panic(fmt.Sprintf("a fault should print as YAML, not as %s: %v", f, err))
		}
		return document.Content[0]
	}
	return k
}

// step makes the line of a trigger that is hung on a step.
func step(name string, when sim.When, doc string) field[sim.Fault] {
	return through(name, patternFields.kind(), func(f *sim.Fault) sim.Pattern { return f.Trigger.Step },
		func(f *sim.Fault, p sim.Pattern) { f.Trigger.When, f.Trigger.Step = when, p }, doc)
}

// act makes the line of an action with the one field that its own value fills.
func act[V any](name string, action sim.ActionKind, k kind[V], in func(*sim.Action) *V, doc string) field[sim.Fault] {
	return through(name, k, func(f *sim.Fault) V { return *in(&f.Action) },
		func(f *sim.Fault, v V) { f.Action.Kind, *in(&f.Action) = action, v }, doc)
}

func nodeOf(a *sim.Action) *string { return &a.Node }

func linkOf(a *sim.Action) *sim.Link { return &a.Link }

var patternFields = mapping[sim.Pattern]{
	name: "step",
	doc:  "A step of the protocol, as the trace shows it. An absent field matches everything.",
	fields: []field[sim.Pattern]{
		bind("node", globOrRole(), func(p *sim.Pattern) *string { return &p.Node },
			"The node that takes the step: a node, a glob, or a role. `holder` is the client that was told last that it holds the "+
				"lock, and still believes so; `master` and `leader` are the server that was promoted or elected last.").
			otherwise("any"),
		bind("does", does(), func(p *sim.Pattern) *trace.Does { return &p.Does }, "The kind of step.").must(),
		bind("what", glob("a glob"), func(p *sim.Pattern) *string { return &p.What },
			"The command or its purpose (`SET`, `release`), the access (`read`, `check`, `write`), or the name of a "+
				"fault (for `begin` and `end`).").otherwise("any"),
		bind("peer", globOrRole(), func(p *sim.Pattern) *string { return &p.Peer },
			"The other end of the message that is sent, received, executed or replied to.").otherwise("any"),
	},
}

// does names the steps.
func does() kind[trace.Does] { return oneOf(trace.DoesNames(), trace.ParseDoes, trace.Does.String) }

// isElection reports whether it is a step of servers of which one leads.
func isElection(d trace.Does) bool { return d == trace.Promote || d == trace.Demote }

func clockOf() kind[sim.ClockOf] {
	k := flag("wall", "both")
	return kind[sim.ClockOf]{
		allowed: k.allowed, schema: k.schema,
		read: func(r *reader, path string, n *yaml.Node) (sim.ClockOf, bool) {
			both, ok := k.read(r, path, n)
			if both {
				return sim.BothClocks, ok
			}
			return sim.WallOnly, ok
		},
		write: func(of sim.ClockOf) *yaml.Node { return k.write(of == sim.BothClocks) },
	}
}

func loss() kind[sim.Loss] {
	names := []string{"request", "reply"}
	parse := func(s string) (sim.Loss, bool) {
		if s == "request" {
			return sim.LoseRequest, true
		}
		return sim.LoseReply, s == "reply"
	}
	return omitted(oneOf(names, parse, func(l sim.Loss) string { return names[l-sim.LoseRequest] }))
}

// first makes 1 the same as an absent field, as it is for package sim.
func first(k kind[int]) kind[int] {
	read := k.read
	k.read = func(r *reader, path string, n *yaml.Node) (int, bool) {
		v, ok := read(r, path, n)
		if v == 1 {
			v = 0
		}
		return v, ok
	}
	return omitted(k)
}

// endFields are the two ends of connections, linkFields those with a direction.
var (
	endFields = mapping[sim.Link]{
		name: "ends",
		doc:  "All connections between two sets of nodes.",
		fields: []field[sim.Link]{
			bind("from", nodes(), func(l *sim.Link) *[]string { return &l.From }, "One end: nodes, globs or roles.").must(),
			bind("to", nodes(), func(l *sim.Link) *[]string { return &l.To }, "The other.").must(),
		},
	}
	linkFields = mapping[sim.Link]{
		name: "link",
		doc:  "All connections between two sets of nodes.",
		fields: append(endFields.fields[:2:2],
			bind("oneway", truth(), func(l *sim.Link) *bool { return &l.OneWay },
				"Only what travels from `from` to `to`.").otherwise("both ways")),
	}
)

// aim is what a break breaks.
type aim struct {
	this bool
	link sim.Link
}

// target is "this", or the ends of connections.
func target() kind[aim] {
	ends := endFields.kind()
	allowed := "this (the connection of the trigger's message), or " + ends.allowed
	return kind[aim]{
		allowed: allowed, parts: ends.parts,
		schema: func(s *schemas) object {
			return object{"anyOf": []object{{"enum": []string{"this"}}, ends.schema(s)}}
		},
		read: func(r *reader, path string, n *yaml.Node) (aim, bool) {
			if n.Kind == yaml.MappingNode {
				link, ok := ends.read(r, path, n)
				return aim{link: link}, ok
			}
			if !r.is(yaml.ScalarNode, path, n, allowed) {
				return aim{}, false
			}
			if n.Value != "this" {
				r.report(n, path, shown(n.Value)+" is no target", allowed)
			}
			return aim{this: true}, n.Value == "this"
		},
		write: func(a aim) *yaml.Node {
			if a.this {
				return raw("this")
			}
			return ends.write(a.link)
		},
	}
}

// node is a node or a role, nodes one or several that may be globs. Whether they exist is checked when all nodes
// are known.
func node() kind[string] { return line("a node, or a role: " + listing(sim.Roles())) }

func nodes() kind[[]string] { return oneOrMore(globOrRole(), maxEntries) }

func globOrRole() kind[string] {
	return glob("a node, a glob of nodes, or a role: " + listing(sim.Roles()))
}

// glob is a pattern as of path.Match.
func glob(allowed string) kind[string] {
	k := line(allowed)
	read := k.read
	k.read = func(r *reader, at string, n *yaml.Node) (string, bool) {
		text, ok := read(r, at, n)
		if !ok {
			return text, false
		}
		if _, err := path.Match(text, ""); err != nil {
			r.report(n, at, shown(text)+" is no glob", "* for any letters, ? for any one, [a-c] for one of several")
			return text, false
		}
		return text, true
	}
	return k
}

// isGlob reports whether a name means more than itself.
func isGlob(name string) bool { return strings.ContainsAny(name, `*?[\`) }
