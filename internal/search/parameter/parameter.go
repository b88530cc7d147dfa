// Package parameter lists the numbers of a scenario that a search changes to see what follows: how long its faults last, how
// wrong its clocks are, how long its clients work.
package parameter

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Parameter is one number of a scenario.
type Parameter struct {
	ID      string // the path of its field: "faults.fault-1.for"
	Client  string // whose it is; "" if of no client
	What    string // as a reader would call it; "" if no boundary of it is worth telling
	Zero    bool   // it may be 0, which is the same as leaving it away
	OfFault bool   // it is one of what goes wrong, rather than of what clients do
	Rate    bool   // in parts per million, rather than nanoseconds
	Finest  int64  // the finest step that is worth trying

	at *int64
}

// Size is the number without its sign.
func (p Parameter) Size() int64 { return max(*p.at, -*p.at) }

// Set sets the size of the number, which keeps its sign.
func (p Parameter) Set(size int64) {
	if *p.at < 0 {
		size = -size
	}
	*p.at = size
}

// Of lists the numbers of a scenario that are not 0, faults first.
func Of(s *scenarios.Scenario) []Parameter {
	var list []Parameter
	for i := range s.Faults {
		list = append(list, ofFault(&s.Faults[i], i)...)
	}
	for i := range s.Clocks {
		c := &s.Clocks[i]
		list = append(list,
			duration("clocks."+c.Node+".offset", "offset of "+c.Node+"'s clock", &c.Offset).asFault(),
			rateOf("clocks."+c.Node, c.Node, &c.Rate))
	}
	for i := range s.Clients {
		list = append(list, ofClient(&s.Clients[i])...)
	}
	list = append(list, duration("lock.timeout", "", &s.Lock.Timeout), duration("lock.renew", "", &s.Lock.Renew), duration("until", "", &s.Until))
	used := list[:0]
	for _, p := range list {
		if *p.at != 0 {
			used = append(used, p)
		}
	}
	return used
}

func duration(id, what string, at *time.Duration) Parameter {
	return Parameter{ID: id, What: what, at: (*int64)(at), Finest: int64(time.Millisecond)}
}

func rateOf(id, node string, at *int64) Parameter {
	return Parameter{ID: id + ".rate", What: "rate of " + node + "'s clock", at: at, OfFault: true, Rate: true}
}

func (p Parameter) orNothing() Parameter {
	p.Zero = true
	return p
}

func (p Parameter) asFault() Parameter {
	p.OfFault = true
	return p
}

func ofFault(f *sim.Fault, i int) []Parameter {
	name := "faults." + f.NameAt(i)
	id, t, a := name+".", &f.Trigger, &f.Action
	what, of := a.Kind.String(), " of "+victim(f)
	list := []Parameter{
		duration(id+"for", what+of, &f.For),
		duration(id+"restart", "downtime"+of, &a.Restart),
		duration(id+"delay", "delay"+of, &a.By),
		duration(id+"step", "jump of "+a.Node+"'s clock", &a.Step),
		rateOf(name, a.Node, &a.Rate),
		duration(id+"demote", "late demotion", &a.Demote),
		duration(id+"plus", "", &t.Plus).orNothing(),
	}
	switch t.When {
	case sim.At:
		list = append(list, duration(id+"at", "", &t.At).orNothing())
	case sim.Before, sim.After:
	}
	for i := range list {
		list[i] = list[i].asFault()
	}
	return list
}

// victim names whom or what a fault hits, as a part of a sentence.
func victim(f *sim.Fault) string {
	a := &f.Action
	switch {
	case a.Kind == sim.Delay || a.Kind == sim.Error || a.This:
		return TheMessage(&f.Trigger.Step)
	case a.Kind == sim.Cut || a.Kind == sim.Stall || a.Kind == sim.Break:
		return TheLink(&a.Link)
	case a.Kind == sim.SameRandom:
		return strings.Join(a.Nodes, " and ")
	}
	return TheNode(a.Node)
}

// ofClient tells nothing of when clients do something: what hangs on that hangs on who meets whom. It leaves out how often a client
// asks again: to do so more often would make nothing simpler.
func ofClient(c *scenarios.Client) []Parameter {
	id := "clients." + c.Name + "."
	list := []Parameter{
		duration(id+"start", "", &c.Start).orNothing(),
		duration(id+"read", "", &c.Read).orNothing(),
		duration(id+"think", "", &c.Think).orNothing(),
		duration(id+"renews-late", "lateness of "+c.Name+"'s renewals", &c.Late),
		duration(id+"passes-token", "delay of "+c.Name+"'s job", &c.Passes),
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
		list[i].Client = c.Name
	}
	return list
}

// Clone copies a scenario so far that its clients, faults, clocks and links, and the numbers in them, can be changed.
// Lists within them are shared: who changes one makes another.
func Clone(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Clients = slices.Clone(s.Clients)
	for i := range c.Clients {
		if w := c.Clients[i].Write; w != nil {
			own := *w
			c.Clients[i].Write = &own
		}
	}
	c.Faults, c.Clocks = slices.Clone(s.Faults), slices.Clone(s.Clocks)
	c.Network.Links = slices.Clone(s.Network.Links)
	return &c
}

// Find returns the number of that name; false if there is none, or it is 0.
func Find(s *scenarios.Scenario, id string) (Parameter, bool) {
	for _, p := range Of(s) {
		if p.ID == id {
			return p, true
		}
	}
	return Parameter{}, false
}

// Amount prints a size that the number may have.
func (p Parameter) Amount(size int64) string {
	if p.Rate {
		return strconv.FormatInt(size, 10) + "ppm"
	}
	return scenarios.Brief(time.Duration(size))
}
