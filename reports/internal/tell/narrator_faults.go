package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// surroundings tells of clocks that are wrong from the start on, and of the faults before the violation.
func (t *narrator) surroundings() {
	t.clocks()
	t.twins()
	t.elected()
	for i := range t.v.Faults {
		if f := &t.v.Faults[i]; f.Of != nil && f.Begin <= t.until && !t.needless(f.Name) {
			t.happens(f)
		}
	}
}

// clocks tells which clocks run wrong, those that do so alike together.
func (t *narrator) clocks() {
	list := slices.DeleteFunc(slices.Clone(t.v.Run.Case.Scenario.Clocks), func(c scenarios.Clock) bool { return t.needless(c.Node) })
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
		subject, verbs := "the clock of "+wording.Listing(names), [...]string{"runs ", "is "}
		if len(names) > 1 {
			subject, verbs = "the clocks of "+wording.Listing(names), [...]string{"run ", "are "}
		}
		var wrong []string
		if rate != 0 {
			wrong = append(wrong, verbs[0]+wrongBy(rate))
		}
		if offset != 0 {
			wrong = append(wrong, verbs[1]+aheadBy(offset))
		}
		t.tell(0, moments.OrderFault, "", subject+" "+wording.Listing(wrong), moments.Place{})
	}
}

// needless reports whether a fault, or the wrong clock of a node, has nothing to do with what is told.
func (t *narrator) needless(name string) bool { return slices.Contains(t.v.Run.Needless, name) }

// twins tells which clients draw the same random numbers. They do so from the start, and no history speaks of it.
func (t *narrator) twins() {
	for i := range t.v.Run.Case.Scenario.Faults {
		f := &t.v.Run.Case.Scenario.Faults[i]
		if a := &f.Action; a.Kind == sim.SameRandom && !t.needless(f.NameAt(i)) {
			t.tell(0, moments.OrderFault, "", "clients "+wording.Listing(a.Nodes)+" draw the same random numbers", moments.Place{})
		}
	}
}

// happens tells of one fault.
func (t *narrator) happens(f *model.Fault) {
	a := &f.Of.Action
	begins, _ := moments.FaultLines(t.v.Run.Case.Scenario, f)
	last := lasting(f.Begin, f.End)
	order := moments.OrderFault
	switch f.Kind {
	case sim.Pause, sim.Crash:
		if model.IsClient(t.v.Run.Case.Scenario, f.Node) && t.beforeWhat(f) != "" {
			order = moments.OrderMessage // it has done what comes before that
		}
	case sim.Delay, sim.Break:
		if f.Of.Trigger.Step.What == trace.ToRelease {
			order = moments.OrderMessage
		}
	default:
	}
	say := func(who, what string) {
		t.tell(f.Begin, order, who, what, moments.Place{Lane: moments.LaneOfFault(t.v, f), Key: f.Name})
	}
	switch f.Kind {
	case sim.Pause:
		say(f.Node, "is paused"+here+last+t.beforeWhat(f))
		if f.End <= t.until {
			t.tell(f.End, moments.OrderFault, f.Node, "goes on", moments.Place{Lane: moments.LaneOfFault(t.v, f), Key: f.Name}.Ended())
		}
	case sim.Crash:
		what := "crashes"
		if a.Host {
			what = "loses its power"
		}
		if f.End == trace.Never {
			what += " for good"
		}
		say(f.Node, what+here+t.beforeWhat(f)+t.comesBack(f))
	case sim.SetClock:
		say("the clock of "+f.Node, t.runsWrong(f))
	case sim.Cut:
		who, what := t.cutOff(f)
		say(who, what+here+last)
	case sim.Stall:
		say("", "what is sent "+t.link(f)+" waits"+here+last)
	case sim.Delay:
		say(t.message(f), "is delayed by "+spokenExactly(a.By))
	case sim.Break:
		say("", t.breaks(f))
	case sim.Error:
		say(t.message(f), "is answered with an error")
	case sim.Evict:
		if !moments.Evicts(t.v, f) {
			say(f.Node, "evicts "+cmp.Or(a.Key, "the lock's key"))
		}
	case sim.EndSession:
		say("", "the servers end the "+t.v.Servers().Holds()+" of "+f.Node)
	case sim.Promote:
		made, only, some := strings.Cut(begins, ", and only ")
		if some { // in a sentence that may say more of the server
			made += " (only " + only + ")"
		}
		say(f.Node, made+here+t.knowing(f.Node, f.Begin))
	default:
		say(f.Node, begins)
	}
}

// knowing says whose entry a server lacks that takes a master's place. The leader of an ensemble has all that was acknowledged.
func (t *narrator) knowing(node string, at trace.Instant) string {
	role, _ := t.v.Servers().Role()
	stands := func(f model.Fault) bool {
		return t.v.Servers().Facts().Stands && f.Kind == sim.Promote && f.Begin == at
	}
	if role != "master" || slices.ContainsFunc(t.v.Faults, stands) {
		return ""
	}
	for _, id := range t.participants {
		if a := t.v.History.Acquisition(id); t.begin(a) <= at && t.v.BelievesAt(id, at) {
			has := slices.ContainsFunc(t.v.History.Copies, func(c history.Copy) bool {
				ends := c.Gone == history.Expired && c.To == at // by what it knew of it, when it took the place
				on := c.Node == node || t.v.Servers().Facts().Stands && !t.discarded(&c)
				return on && c.Acquisition == id && c.From <= at && (at < c.To || ends)
			})
			if !has {
				return " without " + t.v.EntryOf(t.who(a))
			}
		}
	}
	return ""
}

// discarded reports whether a member of a replica set gave up an entry that the others had not got: nobody's took its place. All other
// entries are the set's, wherever they were made.
func (t *narrator) discarded(c *history.Copy) bool {
	return c.Gone == history.Overwritten && !slices.ContainsFunc(t.v.History.Copies, func(o history.Copy) bool { return o.From == c.To })
}

// elected tells of servers that took another's place by themselves.
func (t *narrator) elected() {
	role, nodes := t.v.Servers().Role()
	for i := range t.v.Roles {
		e := &t.v.Roles[i]
		told := slices.ContainsFunc(t.v.Faults, func(f model.Fault) bool {
			return f.Kind == sim.Promote && f.Begin == e.At
		})
		if e.Does != trace.Promote || e.At == 0 || e.At > t.until || told || role != "master" || !nodes || t.gaveAll(e) {
			continue
		}
		t.tell(e.At, moments.OrderFault, e.Node, "becomes "+t.v.Servers().Leads()+here+t.knowing(e.Node, e.At), moments.Place{Lane: moments.NodeLane(e.Node), Key: e.Does.String()})
	}
}

// gaveAll reports whether a server that took another's place had done so before the first grant, and gave all of them: its
// election then explains nothing.
func (t *narrator) gaveAll(e *trace.Event) bool {
	return !slices.ContainsFunc(t.participants, func(id history.ID) bool {
		g := t.granted(t.v.History.Acquisition(id))
		return g != nil && (g.From < e.At || !slices.ContainsFunc(t.v.History.Copies, func(c history.Copy) bool {
			return c.Node == e.Node && moments.StoodOn(&c, g)
		}))
	})
}

// comesBack says when a node is up again, and without whose entry.
func (t *narrator) comesBack(f *model.Fault) string {
	if f.End == trace.Never {
		return ""
	}
	text := " and is up again " + spokenExactly(f.End.Sub(f.Begin)) + " later"
	var lost []string
	for _, id := range t.participants {
		entry, several := "", ""
		for i := range t.v.History.Copies {
			c := &t.v.History.Copies[i]
			if c.Acquisition != id || c.Gone != history.Wiped || c.To > t.until || t.wipedInCrash(c) != f {
				continue
			}
			if entry != "" {
				several = "s" // a lock may have several keys on a server
			}
			entry = t.v.EntryOf(t.v.Holder(id, c.Client))
		}
		if entry != "" {
			lost = append(lost, entry+several)
		}
	}
	if len(lost) > 0 {
		text += " without " + wording.Listing(lost) + t.unkept(f)
	}
	return text
}

// unkept says why a disk has not kept what was lost with a crash.
func (t *narrator) unkept(f *model.Fault) string {
	s := t.v.Servers()
	switch {
	case !slices.Contains(s.Names(), f.Node):
		return ""
	case f.Of.Action.Keep == "nothing":
		return ", since none of its writes survive"
	case s.Disk == "lies":
		return ", which its disk had only said to have"
	case s.Persistence == "everysec" || s.Persistence == "lazy":
		return ", which had not reached its disk"
	case s.Persistence == "rdb":
		return ", which its last snapshot had not"
	case s.Shape().Volatile:
		return ", since nothing is kept on disk"
	}
	return ""
}

// cutOff says who is cut off from whom.
func (t *narrator) cutOff(f *model.Fault) (who, what string) {
	l := &f.Of.Action.Link
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
func (t *narrator) runsWrong(f *model.Fault) string {
	a := &f.Of.Action
	what := "runs " + wrongBy(a.Rate) + " from now on"
	if a.Step > 0 {
		what = "jumps forward by " + spokenExactly(a.Step)
	} else if a.Step < 0 {
		what = "jumps back by " + spokenExactly(-a.Step)
	}
	if f.End != trace.Never {
		what += lasting(f.Begin, f.End)
	}
	return what
}

// beforeWhat says what a node was about to do when a fault happened to it.
func (t *narrator) beforeWhat(f *model.Fault) string {
	trigger := &f.Of.Trigger
	own := trigger.Step.Node == f.Node || trigger.Step.Node == "holder"
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
	words := map[string]string{trace.ToAcquire: "request for the lock", trace.ToRenew: "renewal", trace.ToLook: "question", "": "message"}
	return cmp.Or(words[what], what)
}

// link names the two ends of a link.
func (t *narrator) link(f *model.Fault) string {
	l := &f.Of.Action.Link
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
	return wording.Listing(list)
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
func (t *narrator) message(f *model.Fault) string {
	s := t.v.Run.Case.Scenario
	p := &f.Of.Trigger.Step
	client, server := p.Node, p.Peer
	if p.Does == trace.Execute || p.Does == trace.Reply || p.Does == trace.Receive && !model.IsClient(s, p.Node) {
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
	switch answers := p.Does == trace.Reply || p.Does == trace.Receive && model.IsClient(s, p.Node); {
	case !answers:
		return text
	case p.What != "":
		return "the answer to " + text
	}
	text = "an answer"
	if server = cmp.Or(server, t.answerer(f, client)); server != "" {
		text += " of " + t.end(server)
	}
	if client != "" {
		text += " to " + t.end(client)
	}
	return text
}

// answerer is whose answer to a client was on its way when a fault delayed one; "" if that is not certain.
func (t *narrator) answerer(f *model.Fault, client string) string {
	found := ""
	for i := range t.v.Messages {
		m := &t.v.Messages[i]
		if !m.Reply || m.To != client || m.Sent > f.Begin || m.Received < f.Begin {
			continue
		}
		if found != "" && found != m.From {
			return ""
		}
		found = m.From
	}
	return found
}

// talker finds the client with whom a server exchanged a message at the moment of a fault; "" if that is not certain.
func (t *narrator) talker(f *model.Fault, server, what string) string {
	found := ""
	for i := range t.v.Run.Events {
		e := &t.v.Run.Events[i]
		if e.At != f.Begin || e.Msg == 0 || e.Node != server || what != "" && e.What != what && e.Alt != what {
			continue
		}
		if found != "" && found != e.Peer || !model.IsClient(t.v.Run.Case.Scenario, e.Peer) {
			return ""
		}
		found = e.Peer
	}
	return found
}

// breaks tells of a connection that breaks, and of what is lost with it.
func (t *narrator) breaks(f *model.Fault) string {
	p := &f.Of.Trigger.Step
	text := "the connection between " + t.end(p.Node) + " and " + t.end(p.Peer) + " breaks"
	switch {
	case p.Node == "" && p.Peer == "":
		text = "one connection breaks"
	case p.Node == "" || p.Peer == "":
		text = "one connection of " + t.end(p.Node+p.Peer) + " breaks"
	}
	if !f.Of.Action.This {
		text = "connections " + t.link(f) + " break"
	}
	switch what := f.Of.Action.String(); {
	case strings.Contains(what, "lose: request"):
		text += here + " before the request has arrived"
	case strings.Contains(what, "lose: reply"):
		text += here + " before the answer has arrived"
	}
	return text
}

// wrongBy says how much too fast or too slow a clock runs.
func wrongBy(rate int64) string {
	direction, unit := "fast", "ppm"
	if rate < 0 {
		direction, rate = "slow", -rate
	}
	if rate%wording.Percent == 0 {
		rate, unit = rate/wording.Percent, "%"
	}
	return fmt.Sprintf("%d %s too %s", rate, unit, direction)
}

// aheadBy says by how much a clock is ahead or behind.
func aheadBy(offset time.Duration) string {
	if offset < 0 {
		return spokenExactly(-offset) + " behind"
	}
	return spokenExactly(offset) + " ahead"
}

// lasting says how long something takes.
func lasting(from, to trace.Instant) string {
	if to == trace.Never {
		return " for good"
	}
	return " for " + spokenExactly(time.Duration(to-from))
}
