package minimal

import (
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// knob is one number of a scenario that may be turned down.
type knob struct {
	id      string // the same in every copy of the scenario
	client  string // whose it is; "" if of no client
	what    string // as a reader would call it; "" if no boundary of it is worth telling
	at      *int64
	zero    bool  // it may be 0, which is the same as leaving it away
	fault   bool  // it is one of what goes wrong, rather than of what clients do
	rate    bool  // in parts per million, rather than nanoseconds
	precise int64 // the finest step that is worth trying
}

// size is the number without its sign.
func (k knob) size() int64 { return max(*k.at, -*k.at) }

// turn sets the size of the number, which keeps its sign.
func (k knob) turn(size int64) {
	if *k.at < 0 {
		size = -size
	}
	*k.at = size
}

// knobs lists the numbers of a scenario, faults first.
func knobs(s *scenarios.Scenario) []knob {
	var list []knob
	for i := range s.Faults {
		list = append(list, faultKnobs(&s.Faults[i])...)
	}
	for i := range s.Clocks {
		c := &s.Clocks[i]
		list = append(list,
			duration("clock "+c.Node+" offset", "offset of "+c.Node+"'s clock", &c.Offset).ofFault(),
			rateOf("clock "+c.Node, c.Node, &c.Rate))
	}
	for i := range s.Clients {
		list = append(list, clientKnobs(&s.Clients[i])...)
	}
	list = append(list, duration("timeout", "", &s.Lock.Timeout), duration("renew", "", &s.Lock.Renew))
	if s.Until != usualEnd {
		list = append(list, duration("until", "", &s.Until))
	}
	used := list[:0]
	for _, k := range list {
		if *k.at != 0 {
			used = append(used, k)
		}
	}
	return used
}

func duration(id, what string, at *time.Duration) knob {
	return knob{id: id, what: what, at: (*int64)(at), precise: int64(time.Millisecond)}
}

func rateOf(id, node string, at *int64) knob {
	return knob{id: id + " rate", what: "rate of " + node + "'s clock", at: at, fault: true, rate: true}
}

func (k knob) orNothing() knob {
	k.zero = true
	return k
}

func (k knob) ofFault() knob {
	k.fault = true
	return k
}

func faultKnobs(f *sim.Fault) []knob {
	id, t, a := f.Name+" ", &f.Trigger, &f.Action
	what, of := a.Kind.String(), " of "+victim(f)
	list := []knob{
		duration(id+"for", what+of, &f.For),
		duration(id+"restart", "downtime"+of, &a.Restart),
		duration(id+"by", "delay"+of, &a.By),
		duration(id+"step", "jump of "+a.Node+"'s clock", &a.Step),
		rateOf(f.Name, a.Node, &a.Rate),
		duration(id+"demote", "late demotion", &a.Demote),
		duration(id+"plus", "", &t.Plus).orNothing(),
	}
	switch t.When {
	case sim.At:
		list = append(list, duration(id+"at", "", &t.At).orNothing())
	case sim.Before, sim.After:
	}
	for i := range list {
		list[i] = list[i].ofFault()
	}
	return list
}

// victim names whom or what a fault hits, as a part of a sentence.
func victim(f *sim.Fault) string {
	a := &f.Action
	switch {
	case a.Kind == sim.Delay || a.Kind == sim.Error || a.This:
		return theMessage(&f.Trigger.Step)
	case a.Kind == sim.Cut || a.Kind == sim.Stall || a.Kind == sim.Break:
		return theLink(&a.Link)
	case a.Kind == sim.SameRandom:
		return strings.Join(a.Nodes, " and ")
	}
	return theNode(a.Node)
}

// theNode is a node, a role or all nodes of a kind as a part of a sentence.
func theNode(name string) string {
	switch name {
	case "holder", "master", "leader":
		return "the " + name
	case "":
		return "anybody"
	}
	return name
}

func theLink(l *sim.Link) string {
	and := " and "
	if l.OneWay {
		and = " to "
	}
	return theNodes(l.From) + and + theNodes(l.To)
}

func theNodes(list []string) string {
	named := make([]string, len(list))
	for i, name := range list {
		named[i] = theNode(name)
	}
	return strings.Join(named, ", ")
}

// theMessage is a message as a part of a sentence.
func theMessage(p *sim.Pattern) string {
	text := "a message"
	if p.What != "" {
		text = "the " + p.What
	}
	if p.Does == trace.Reply {
		text = "the answer to " + text
	}
	switch {
	case p.Node == "":
	case p.Does == trace.Reply:
		text += " from " + theNode(p.Node)
	default:
		text += " that " + theNode(p.Node) + " is to " + p.Does.String()
	}
	return text
}

// clientKnobs tells nothing of when clients do something: what hangs on that hangs on who meets whom. It leaves out how often a client asks again: to do so more often would make nothing simpler.
func clientKnobs(c *scenarios.Client) []knob {
	id := c.Name + " "
	list := []knob{
		duration(id+"start", "", &c.Start).orNothing(),
		duration(id+"read", "", &c.Read).orNothing(),
		duration(id+"think", "", &c.Think).orNothing(),
	}
	if !c.Hangs {
		list = append(list, duration(id+"work", "work of "+c.Name, &c.Work).orNothing())
	}
	if c.Write != nil {
		list = append(list, duration(id+"write", "", c.Write).orNothing())
	}
	if c.Wait != locks.Forever && c.Wait != locks.Try {
		list = append(list, duration(id+"wait", "", &c.Wait))
	}
	for i := range list {
		list[i].client = c.Name
	}
	return list
}

// find returns the knob of that name; false if there is none, or it is at 0.
func find(s *scenarios.Scenario, id string) (knob, bool) {
	for _, k := range knobs(s) {
		if k.id == id {
			return k, true
		}
	}
	return knob{}, false
}

// amount prints a size that the knob may have.
func (k knob) amount(size int64) string {
	if k.rate {
		return strconv.FormatInt(size, 10) + "ppm"
	}
	return scenarios.Brief(time.Duration(size))
}
