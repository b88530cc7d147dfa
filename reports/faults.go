package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// fault is an injected fault with what the scenario says of it.
type fault struct {
	name  string
	kind  string // "pause", "crash", "clock", …
	node  string // whom it befell; "" if a link
	fired bool
	begin trace.Instant
	end   trace.Instant
	start string // what it did, as a sentence without its subject
	over  string // likewise when it healed
	short string // for a bar: "paused 12s"

	step time.Duration // of a clock
	rate int64         // likewise
	link ends          // that is cut or stalled
	by   time.Duration // for how long a message is delayed
	of   about         // which message
}

// faultsOf joins the faults of a history with the scenario's. A history has those that were injected, in the order of
// the scenario.
func faultsOf(r *Run) []fault {
	list := make([]fault, len(r.History.Faults))
	next := 0 // of the scenario's faults
	for i := range list {
		h := &r.History.Faults[i]
		list[i] = fault{name: h.Name, fired: h.Fired, begin: h.Begin, end: h.End, start: h.Text, over: "is over: " + h.Text}
		if k := indexOfFault(r.Case.Scenario, h, next); k >= 0 {
			describe(&list[i], r, k)
			next = k + 1
		}
	}
	return list
}

// indexOfFault finds a fault by its name, or one without a name by what it does; -1 if there is none.
func indexOfFault(s *scenarios.Scenario, h *history.Fault, from int) int {
	for i := from; i < len(s.Faults); i++ {
		f := &s.Faults[i]
		if f.Name == h.Name || f.Name == "" && f.Action.String() == h.Text {
			return i
		}
	}
	return -1
}

// describe takes the words from the scenario's i-th fault.
func describe(f *fault, r *Run, i int) {
	s := r.Case.Scenario
	a := &s.Faults[i].Action
	f.kind = a.Kind.String()
	last := ""
	if f.end != trace.Never {
		last = " " + Precise(f.end.Sub(f.begin))
	}
	switch f.kind {
	case "pause":
		f.start, f.over, f.short = "is paused"+within(last), "goes on", "paused"+last
	case "crash":
		f.start, f.over, f.short = "crashes", "is up again", "down"+last
		if a.Host {
			f.start = "loses its power"
		}
		if a.Host && !isClient(s, a.Node) {
			f.start += ": all that its disk has not got is gone"
		}
	case "clock":
		f.start, f.over = clockWords(a.Step, a.Rate), "has its clock back as it was"
		f.step, f.rate = a.Step, a.Rate
	case "cut":
		f.start, f.over, f.short = "cut: nothing passes "+linkWords(s, i), "healed: packets pass "+linkWords(s, i)+" again", "cut"
	case "stall":
		f.start, f.over, f.short = "what is sent "+linkWords(s, i)+" waits", "what is sent "+linkWords(s, i)+" flows again", "stalled"
	case "delay":
		f.start, f.over = stepWords(s, i)+" is delayed by "+Precise(a.By), ""
	case "break":
		f.start, f.over = "a connection breaks", ""
		if !a.This {
			f.start = "connections " + linkWords(s, i) + " break"
		}
	case "error":
		f.start, f.over = stepWords(s, i)+" is answered with an error: "+a.Text, ""
	case "same-random":
		f.start, f.over = listing(a.Nodes)+" draw the same random numbers", ""
	case "promote":
		f.start, f.over = promotionWords(s, i), ""
	case "evict":
		f.start, f.over = "evicts "+cmp.Or(a.Key, "the lock's key"), ""
	case "snapshot":
		f.start, f.over = "takes a snapshot", ""
	case "end-session":
		f.start, f.over = "has its "+s.Servers.Holds()+" ended by the servers", ""
	}
	trigger := &s.Faults[i].Trigger.Step
	f.link, f.by, f.of = ends{a.Link.From, a.Link.To, a.Link.OneWay}, a.By, about{trigger.Node, trigger.Peer, trigger.What}
	if a.Node != "" {
		f.node = befallen(r, f, a.Node)
	}
}

// promotionWords say what a failover by hand does to the node that it affects.
func promotionWords(s *scenarios.Scenario, i int) string {
	role, nodes := s.Servers.Role()
	if !nodes {
		return "has its " + role + " replaced"
	}
	switch told := s.Faults[i].Action.Nodes; len(told) {
	case 0:
		return "is made " + role
	case 1:
		return "is made " + role + ", and only " + told[0] + " learns of it"
	default:
		return "is made " + role + ", and only " + listing(told) + " learn of it"
	}
}

func within(last string) string {
	if last == "" {
		return " for good"
	}
	return " for" + last
}

func clockWords(step time.Duration, rate int64) string {
	if step == 0 {
		return fmt.Sprintf("has a clock that is %+d ppm fast from now on", rate)
	}
	sign := "forward"
	if step < 0 {
		sign, step = "back", -step
	}
	return "has its clock jump " + sign + " by " + Precise(step)
}

func linkWords(s *scenarios.Scenario, i int) string {
	link := &s.Faults[i].Action.Link
	if link.OneWay {
		return "from " + strings.Join(link.From, ", ") + " to " + strings.Join(link.To, ", ")
	}
	return "between " + strings.Join(link.From, ", ") + " and " + strings.Join(link.To, ", ")
}

// stepWords name the message of a fault's trigger by who sent it, and to whom, as far as the trigger says so.
func stepWords(s *scenarios.Scenario, i int) string {
	p := &s.Faults[i].Trigger.Step
	what := strings.TrimSpace(p.What)
	from, to := p.Node, p.Peer
	if p.Does == trace.Receive || p.Does == trace.Execute {
		from, to = to, from
	}
	switch answers := p.Does == trace.Reply || p.Does == trace.Receive && isClient(s, p.Node); {
	case answers && what == "":
		what = "answer"
	case answers:
		what = "answer to " + what
	case what == "":
		what = "message"
	}
	text := "a " + what
	if strings.HasPrefix(what, "answer") {
		text = "an " + what
	}
	if from != "" {
		text = from + "'s " + what
	}
	if to != "" {
		text += " to " + to
	}
	return text
}

func isClient(s *scenarios.Scenario, name string) bool {
	return name == "holder" || slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool {
		return slices.Contains(c.Names(), name)
	})
}

// befallen finds who it was: a trace knows, and where none was kept the scenario does, unless it names servers by a role.
func befallen(r *Run, f *fault, name string) string {
	for i := range r.Events {
		if e := &r.Events[i]; e.Does == trace.Begin && e.What == f.name && e.Node != "" {
			return e.Node
		}
	}
	if name != "holder" {
		return name
	}
	for _, b := range r.History.Beliefs() {
		if b.From <= f.begin && f.begin < b.To {
			return b.Acquisition.Client
		}
	}
	return name
}

func (v *view) laneOfFault(f *fault) string {
	switch {
	case f.node == "":
		return laneNetwork
	case slices.Contains(v.names, f.node):
		return laneNode(f.node)
	case f.node == laneStorage:
		return laneStorage
	}
	for _, who := range v.scope.holders {
		if who == f.node || strings.HasPrefix(who, f.node+"/") {
			return laneBelief(who)
		}
	}
	return laneNetwork
}

// concerns reports whether a fault befell the client behind a name.
func (f *fault) concerns(who string) bool {
	return f.node != "" && (who == f.node || strings.HasPrefix(who, f.node+"/"))
}

// span is the time for which the fault lasted within the run.
func (f *fault) span(h *history.History) (from, to trace.Instant) {
	return f.begin, min(f.end, h.End)
}
