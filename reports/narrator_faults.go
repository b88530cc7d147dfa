package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// surroundings tells of clocks that are wrong from the start on, and of the faults before the violation.
func (t *narrator) surroundings() {
	t.clocks()
	t.twins()
	t.elected()
	next := 0
	for i := range t.v.faults {
		f := &t.v.faults[i]
		k := indexOfFault(t.v.run.Case.Scenario, &t.v.h.Faults[i], next)
		if k < 0 {
			continue
		}
		next = k + 1
		if f.fired && f.begin <= t.until {
			t.happens(f, k)
		}
	}
}

// clocks tells which clocks run wrong, those that do so alike together.
func (t *narrator) clocks() {
	list := slices.Clone(t.v.run.Case.Scenario.Clocks)
	for len(list) > 0 {
		rate, offset := list[0].Rate, list[0].Offset
		var names []string
		list = slices.DeleteFunc(list, func(c scenarios.Clock) bool {
			alike := c.Rate == rate && c.Offset == offset
			if alike {
				names = append(names, c.Node)
			}
			return alike
		})
		subject, verb := "the clock of "+listing(names), " runs "
		if len(names) > 1 {
			subject, verb = "the clocks of "+listing(names), " run "
		}
		if rate != 0 {
			t.tell(0, orderFault, "", subject+verb+wrongBy(rate), spot{})
		}
	}
}

// twins tells which clients draw the same random numbers. They do so from the start, and no history speaks of it.
func (t *narrator) twins() {
	for i := range t.v.run.Case.Scenario.Faults {
		if a := &t.v.run.Case.Scenario.Faults[i].Action; a.Kind.String() == "same-random" {
			t.tell(0, orderFault, "", "clients "+listing(a.Nodes)+" draw the same random numbers", spot{})
		}
	}
}

// orderMessage is the order of what happens to a release, or to a client that is about to do something: it comes after
// what led to that.
const orderMessage = orderUnlock + 1

// happens tells of one fault, the scenario's i-th.
func (t *narrator) happens(f *fault, i int) {
	a := &t.v.run.Case.Scenario.Faults[i].Action
	last := lasting(f.begin, f.end)
	order := orderFault
	switch f.kind {
	case "pause", "crash":
		if isClient(t.v.run.Case.Scenario, f.node) && t.beforeWhat(f, i) != "" {
			order = orderMessage // it has done what comes before that
		}
	case "delay", "break":
		if t.v.run.Case.Scenario.Faults[i].Trigger.Step.What == "release" {
			order = orderMessage
		}
	}
	say := func(who, what string) { t.tell(f.begin, order, who, what, spot{t.v.laneOfFault(f), f.name}) }
	switch f.kind {
	case "pause":
		say(f.node, "is paused"+here+last+t.beforeWhat(f, i))
		if f.end <= t.until {
			t.tell(f.end, orderFault, f.node, "goes on", spot{t.v.laneOfFault(f), f.name}.ended())
		}
	case "crash":
		what := "crashes"
		if a.Host {
			what = "loses its power"
		}
		if f.end == trace.Never {
			what += " for good"
		}
		say(f.node, what+here+t.beforeWhat(f, i)+t.comesBack(f))
	case "clock":
		say("the clock of "+f.node, t.runsWrong(f, i))
	case "cut":
		who, what := t.cutOff(i)
		say(who, what+here+last)
	case "stall":
		say("", "what is sent "+t.link(i)+" waits"+here+last)
	case "delay":
		say(t.message(f, i), "is delayed by "+spokenExactly(a.By))
	case "break":
		say("", t.breaks(i))
	case "error":
		say(t.message(f, i), "is answered with an error")
	case "evict":
		if !t.v.evicts(f) {
			say(f.node, "evicts "+cmp.Or(a.Key, "the lock's key"))
		}
	case "end-session":
		say("", "the servers end the "+t.v.servers().Holds()+" of "+f.node)
	case "promote":
		say(f.node, f.start+here+t.knowing(f.node, f.begin))
	default:
		say(f.node, f.start)
	}
}

// knowing says whose entry a server lacks that takes a master's place.
func (t *narrator) knowing(node string, at trace.Instant) string {
	for _, id := range t.participants {
		if a := t.v.h.Acquisition(id); t.begin(a) <= at && t.v.believesAt(id, at) {
			has := slices.ContainsFunc(t.v.h.Copies, func(c history.Copy) bool {
				return c.Node == node && c.Acquisition == id && c.From <= at && at < c.To
			})
			if !has {
				return " without " + t.v.entryOf(t.who(a))
			}
		}
	}
	return ""
}

// elected tells of servers that took another's place by themselves.
func (t *narrator) elected() {
	role, nodes := t.v.servers().Role()
	for i := range t.v.roles {
		e := &t.v.roles[i]
		told := slices.ContainsFunc(t.v.faults, func(f fault) bool {
			return f.fired && f.kind == "promote" && f.begin == e.At
		})
		if e.Does != trace.Promote || e.At == 0 || e.At > t.until || told || role != "master" || !nodes || t.gaveAll(e) {
			continue
		}
		t.tell(e.At, orderFault, e.Node, "becomes "+role+here+t.knowing(e.Node, e.At), spot{laneNode(e.Node), e.Does.String()})
	}
}

// gaveAll reports whether a server that took another's place had done so before the first grant, and gave all of them: its
// election then explains nothing.
func (t *narrator) gaveAll(e *trace.Event) bool {
	return !slices.ContainsFunc(t.participants, func(id history.ID) bool {
		g := t.granted(t.v.h.Acquisition(id))
		return g != nil && (g.From < e.At || !slices.ContainsFunc(t.v.h.Copies, func(c history.Copy) bool {
			return c.Node == e.Node && stoodOn(&c, g)
		}))
	})
}

// comesBack says when a node is up again, and without whose entry.
func (t *narrator) comesBack(f *fault) string {
	if f.end == trace.Never {
		return ""
	}
	text := " and is up again " + spokenExactly(f.end.Sub(f.begin)) + " later"
	var lost []string
	for _, id := range t.participants {
		entry, several := "", ""
		for i := range t.v.h.Copies {
			c := &t.v.h.Copies[i]
			if c.Acquisition != id || c.Gone != history.Wiped || c.To > t.until || t.wipedInCrash(c) != f {
				continue
			}
			if entry != "" {
				several = "s" // a lock may have several keys on a server
			}
			entry = t.v.entryOf(t.v.holder(id, c.Client))
		}
		if entry != "" {
			lost = append(lost, entry+several)
		}
	}
	if len(lost) > 0 {
		text += " without " + listing(lost) + t.unkept(f)
	}
	return text
}

// unkept says why a disk has not kept what was lost with a crash.
func (t *narrator) unkept(f *fault) string {
	s := t.v.servers()
	switch {
	case s.Kind != "redis" || !slices.Contains(s.Names(), f.node):
		return ""
	case s.Disk == "lies":
		return ", which its disk had only said to have"
	case s.Persistence == "everysec" || s.Persistence == "lazy":
		return ", which had not reached its disk"
	case s.Persistence == "rdb":
		return ", which its last snapshot had not"
	case s.Persistence == "" || s.Persistence == "none":
		return ", since nothing is kept on disk"
	}
	return ""
}

// cutOff says who is cut off from whom.
func (t *narrator) cutOff(i int) (who, what string) {
	l := &t.v.run.Case.Scenario.Faults[i].Action.Link
	from, to := t.sides(l.From), t.sides(l.To)
	switch {
	case l.OneWay:
		return "", "nothing that " + from + " would send to " + to + " arrives"
	case len(l.From) > 1:
		return "", from + " are cut off from " + to
	}
	return from, "is cut off from " + to
}

// runsWrong says what becomes of a clock.
func (t *narrator) runsWrong(f *fault, i int) string {
	a := &t.v.run.Case.Scenario.Faults[i].Action
	what := "runs " + wrongBy(a.Rate) + " from now on"
	if a.Step > 0 {
		what = "jumps forward by " + spokenExactly(a.Step)
	} else if a.Step < 0 {
		what = "jumps back by " + spokenExactly(-a.Step)
	}
	if f.end != trace.Never {
		what += lasting(f.begin, f.end)
	}
	return what
}

// beforeWhat says what a node was about to do when a fault happened to it.
func (t *narrator) beforeWhat(f *fault, i int) string {
	trigger := &t.v.run.Case.Scenario.Faults[i].Trigger
	own := trigger.Step.Node == f.node || trigger.Step.Node == "holder"
	if !own || !strings.HasPrefix(trigger.String(), "before: ") {
		return ""
	}
	what := wordsOf(trigger.Step.What)
	switch trigger.Step.Does {
	case trace.Access:
		what = " before it " + trigger.Step.What + "s"
		if trigger.Step.What == "" {
			what = " before it turns to the resource"
		}
		if trigger.Nth > 1 {
			what += " again"
		}
		return what
	case trace.Release:
		return " before it releases"
	case trace.Acquired:
		return " before it knows that it has the lock"
	case trace.Check:
		return " before it looks whether it still holds"
	case trace.Send:
		return " before it sends its " + what
	case trace.Receive:
		return " before it sees the answer to its " + what
	default:
		return ""
	}
}

// wordsOf names a message by what it is for.
func wordsOf(what string) string {
	words := map[string]string{"acquire": "request for the lock", "renew": "renewal", "look": "question", "": "message"}
	return cmp.Or(words[what], what)
}

// link names the two ends of a link.
func (t *narrator) link(i int) string {
	l := &t.v.run.Case.Scenario.Faults[i].Action.Link
	from, to := t.sides(l.From), t.sides(l.To)
	if l.OneWay {
		return "from " + from + " to " + to
	}
	return "between " + from + " and " + to
}

func (t *narrator) sides(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = t.end(name)
	}
	return listing(list)
}

// end names one end of a link: a node, a role, or all servers.
func (t *narrator) end(name string) string {
	switch {
	case name == "holder" || name == "master" || name == "leader":
		return "the " + name
	case strings.HasSuffix(name, "-*"):
		return "the servers"
	case name == "*" || name == "":
		return "all others"
	}
	return name
}

// message names the message of a fault's trigger.
func (t *narrator) message(f *fault, i int) string {
	s := t.v.run.Case.Scenario
	p := &s.Faults[i].Trigger.Step
	client, server := p.Node, p.Peer
	if p.Does == trace.Execute || p.Does == trace.Reply || p.Does == trace.Receive && !isClient(s, p.Node) {
		client, server = server, client
	}
	client = cmp.Or(client, t.talker(f, p.Node, p.What))
	text := "a " + wordsOf(p.What)
	if client != "" {
		text = t.end(client) + "'s " + wordsOf(p.What)
	}
	if server != "" && server != scenarios.Storage {
		text += " on " + t.end(server)
	}
	switch answers := p.Does == trace.Reply || p.Does == trace.Receive && isClient(s, p.Node); {
	case !answers:
		return text
	case p.What != "":
		return "the answer to " + text
	case client == "":
		return "an answer of " + t.end(server)
	}
	return "an answer of " + t.end(server) + " to " + t.end(client)
}

// talker finds the client with whom a server exchanged a message at the moment of a fault; "" if that is not certain.
func (t *narrator) talker(f *fault, server, what string) string {
	found := ""
	for i := range t.v.run.Events {
		e := &t.v.run.Events[i]
		if e.At != f.begin || e.Msg == 0 || e.Node != server || what != "" && e.What != what && e.Alt != what {
			continue
		}
		if found != "" && found != e.Peer || !isClient(t.v.run.Case.Scenario, e.Peer) {
			return ""
		}
		found = e.Peer
	}
	return found
}

// breaks tells of a connection that breaks, and of what is lost with it.
func (t *narrator) breaks(i int) string {
	is := &t.v.run.Case.Scenario.Faults[i]
	p := &is.Trigger.Step
	text := "the connection between " + t.end(p.Node) + " and " + t.end(p.Peer) + " breaks"
	switch {
	case p.Node == "" && p.Peer == "":
		text = "a connection breaks"
	case p.Node == "" || p.Peer == "":
		text = "a connection of " + t.end(p.Node+p.Peer) + " breaks"
	}
	if !is.Action.This {
		text = "connections " + t.link(i) + " break"
	}
	switch what := is.Action.String(); {
	case strings.Contains(what, "lose: request"):
		text += " before the request has arrived"
	case strings.Contains(what, "lose: reply"):
		text += " before the answer has arrived"
	}
	return text
}
