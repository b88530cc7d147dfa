package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Fault is an injected fault with what the scenario says of it.
type Fault struct {
	Name  string
	Kind  string // "pause", "crash", "clock", …
	Node  string // whom it befell; "" if a link
	Fired bool
	Begin trace.Instant
	End   trace.Instant
	Start string // what it did, as a sentence without its subject
	Over  string // likewise when it healed
	Short string // for a bar: "paused 12s"

	step time.Duration // of a clock
	rate int64         // likewise
	link ends          // that is cut or stalled
	by   time.Duration // for how long a message is delayed
	of   about         // which message
}

// faultsOf joins the faults of a history with the scenario's. A history has those that were injected, in the order of
// the scenario.
func faultsOf(r *Run) []Fault {
	list := make([]Fault, len(r.History.Faults))
	next := 0 // of the scenario's faults
	for i := range list {
		h := &r.History.Faults[i]
		list[i] = Fault{Name: h.Name, Fired: h.Fired, Begin: h.Begin, End: h.End, Start: h.Text, Over: "is over: " + h.Text}
		if k := IndexOfFault(r.Case.Scenario, h, next); k >= 0 {
			describe(&list[i], r, k)
			next = k + 1
		}
	}
	return list
}

// IndexOfFault finds a fault by its name, or one without a name by what it does; -1 if there is none.
func IndexOfFault(s *scenarios.Scenario, h *history.Fault, from int) int {
	for i := from; i < len(s.Faults); i++ {
		f := &s.Faults[i]
		if f.Name == h.Name || f.Name == "" && f.Action.String() == h.Text {
			return i
		}
	}
	return -1
}

// describe takes the words from the scenario's i-th fault.
func describe(f *Fault, r *Run, i int) {
	s := r.Case.Scenario
	a := &s.Faults[i].Action
	f.Kind = a.Kind.String()
	last := ""
	if f.End != trace.Never {
		last = " " + wording.Precise(f.End.Sub(f.Begin))
	}
	switch f.Kind {
	case "pause":
		f.Start, f.Over, f.Short = "is paused"+within(last), "goes on", "paused"+last
	case "crash":
		f.Start, f.Over, f.Short = "crashes", "is up again", "down"+last
		if a.Host {
			f.Start = "loses its power"
		}
		if a.Host && !IsClient(s, a.Node) {
			f.Start += ": all that its disk has not got is gone"
		}
	case "clock":
		f.Start, f.Over = clockWords(a.Step, a.Rate), "has its clock back as it was"
		f.step, f.rate = a.Step, a.Rate
	case "cut":
		f.Start, f.Over, f.Short = "cut: nothing passes "+linkWords(s, i), "healed: packets pass "+linkWords(s, i)+" again", "cut"
	case "stall":
		f.Start, f.Over, f.Short = "what is sent "+linkWords(s, i)+" waits", "what is sent "+linkWords(s, i)+" flows again", "stalled"
	case "delay":
		f.Start, f.Over = stepWords(s, i)+" is delayed by "+wording.Precise(a.By), ""
	case "break":
		f.Start, f.Over = "a connection breaks", ""
		if !a.This {
			f.Start = "connections " + linkWords(s, i) + " break"
		}
	case "error":
		f.Start, f.Over = stepWords(s, i)+" is answered with an error: "+a.Text, ""
	case "same-random":
		f.Start, f.Over = wording.Listing(a.Nodes)+" draw the same random numbers", ""
	case "promote":
		f.Start, f.Over = promotionWords(s, i), ""
	case "evict":
		f.Start, f.Over = "evicts "+cmp.Or(a.Key, "the lock's key"), ""
	case "snapshot":
		f.Start, f.Over = "takes a snapshot", ""
	case "end-session":
		f.Start, f.Over = "has its "+s.Servers.Holds()+" ended by the servers", ""
	}
	trigger := &s.Faults[i].Trigger.Step
	f.link, f.by, f.of = ends{a.Link.From, a.Link.To, a.Link.OneWay}, a.By, about{trigger.Node, trigger.Peer, trigger.What}
	if a.Node != "" {
		f.Node = befallen(r, f, a.Node)
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
		return "is made " + role + ", and only " + wording.Listing(told) + " learn of it"
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
	return "has its clock jump " + sign + " by " + wording.Precise(step)
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
	switch answers := p.Does == trace.Reply || p.Does == trace.Receive && IsClient(s, p.Node); {
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

// IsClient reports whether a name is that of a client of the scenario, or of whichever holds the lock.
func IsClient(s *scenarios.Scenario, name string) bool {
	return name == "holder" || slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool {
		return slices.Contains(c.Names(), name)
	})
}

// befallen finds who it was: a trace knows, and where none was kept the scenario does, unless it names servers by a role.
func befallen(r *Run, f *Fault, name string) string {
	for i := range r.Events {
		if e := &r.Events[i]; e.Does == trace.Begin && e.What == f.Name && e.Node != "" {
			return e.Node
		}
	}
	if name != "holder" {
		return name
	}
	for _, b := range r.History.Beliefs() {
		if b.From <= f.Begin && f.Begin < b.To {
			return b.Acquisition.Client
		}
	}
	return name
}

// Concerns reports whether a fault befell the client behind a name.
func (f *Fault) Concerns(who string) bool {
	return f.Node != "" && (who == f.Node || strings.HasPrefix(who, f.Node+"/"))
}

// Span is the time for which the fault lasted within the run.
func (f *Fault) Span(h *history.History) (from, to trace.Instant) {
	return f.Begin, min(f.End, h.End)
}
