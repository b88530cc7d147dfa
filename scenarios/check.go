package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
)

// audit looks for fields that contradict each other.
type audit struct {
	*Scenario
	known    Errors // what is wrong with single fields
	problems Errors
	nodes    *directory
}

// check returns what is wrong with a scenario whose fields have been read one by one. It says nothing of fields that
// depend on one that could not be read.
func check(s *Scenario, known Errors) Errors {
	a := &audit{Scenario: s, known: known}
	if !a.checkClients() {
		return a.problems
	}
	a.nodes = newDirectory(s)
	a.checkNames()
	a.checkServers()
	a.checkLock()
	if a.known.sound("locks") && len(a.Named) > maxNamed {
		a.report("locks", fmt.Sprintf("at most %d", maxNamed), "%d locks", len(a.Named))
	}
	a.checkResource()
	a.checkLinksAndClocks()
	a.checkExpect()
	if a.known.named() {
		a.checkFaults()
	}
	if a.nodes.matched > maxMatches {
		a.report("faults", "fewer of either", "too many globs for %d nodes", len(a.nodes.names))
	}
	return a.problems
}

func (a *audit) report(field, allowed, format string, args ...any) {
	if len(a.problems) == maxSought {
		return
	}
	problem := a.Errorf(field, format, args...)
	problem.Allowed = allowed
	a.problems = append(a.problems, problem)
}

// checkClients reports false if there are too many to be looked at one by one.
func (a *audit) checkClients() bool {
	total := processes(a.Clients)
	for _, c := range a.Clients {
		at := join("clients", c.Name)
		if reserved(c.Name) {
			a.report(at, "a name that is neither that of a server, "+listing(sim.Roles())+", nor "+Storage, "the name is taken")
		}
		if a.known.sound(at) && !c.Hangs {
			a.checkSection(at, c)
		}
		if a.known.sound(at, "until") && c.Start > a.End() {
			a.report(at+".start", "a time up to "+Brief(a.End())+", the scenario's until", "begins at %s, after the run's end",
				Brief(c.Start))
		}
		if a.known.sound(at, "servers") {
			a.checkHosts(at, c)
		}
		a.checkTaken(at, &c)
		if l := a.LockOf(&c); a.known.sound(at, "lock") && c.Lock != (OwnLock{}) && l.Renew > l.TTL {
			a.report(at+".lock", "a renew up to "+Brief(l.TTL)+", its ttl", "the lease is over before it is renewed, after %s", Brief(l.Renew))
		}
		if a.known.sound(at) {
			a.checkHabits(at, c)
		}
		if a.known.sound(at) && c.Write != nil && *c.Write < c.Read {
			a.report(at+".write", "a time after that", "writes at %s, before it reads at %s", *c.Write, c.Read)
		}
	}
	tasks := 0
	for _, c := range a.Clients {
		tasks += max(c.Count, 1) * max(c.Tasks, 1)
	}
	switch {
	case total > maxProcesses:
		a.report("clients", fmt.Sprintf("at most %d", maxProcesses), "%d client processes", total)
	case tasks > maxProcesses:
		a.report("clients", fmt.Sprintf("at most %d", maxProcesses), "%d tasks in all", tasks)
	}
	return total <= maxProcesses
}

// checkHabits refuses mistakes of an application that this client cannot make.
func (a *audit) checkHabits(at string, c Client) {
	for _, habit := range []struct {
		field string
		has   bool
	}{{"forgets-token", c.Forgets}, {"passes-token", c.Passes > 0}} {
		if habit.has && a.Resource.Guarded {
			a.report(at+"."+habit.field, "registers in storage", "the lock's own servers compare no tokens")
		}
	}
	if c.Passes > 0 && c.Hangs {
		a.report(at+".passes-token", "work that ends", "the client never calls Unlock, so that its job never writes")
	}
}

// checkTaken refuses locks that a client cannot take.
func (a *audit) checkTaken(at string, c *Client) {
	if !a.known.sound(at, "locks") {
		return
	}
	known := make([]string, len(a.Named))
	for i := range a.Named {
		known[i] = a.Named[i].Name
	}
	if len(known) == 0 && len(c.Takes) > 0 {
		a.report(at+".takes", "locks, which names them", "the scenario has one lock, without a name")
		return
	}
	for i, name := range c.Takes {
		here := entryPath(at+".takes", c.Takes, i)
		switch {
		case !slices.Contains(known, name):
			a.report(here, didYouMean("one of "+listing(known), name, known), "there is no lock %s", shown(name))
		case slices.Contains(c.Takes[:i], name):
			a.report(here, "each lock once", "%s is listed twice", name)
		}
	}
	if c.Between > 0 && len(a.TakenBy(c)) < 2 {
		a.report(at+".between", "several locks to take, or no pause between them", "a section takes one lock")
	}
	if c.Enters > 1 && len(a.TakenBy(c)) > 1 {
		a.report(at+".enters", "one lock, or enters: 1", "a section that takes several locks enters each once")
	}
}

// checkHosts refuses servers that a client cannot connect to.
func (a *audit) checkHosts(at string, c Client) {
	refuseForeign(a, at, &clientFields, "")
	if field, _ := clientFields.field("servers"); !field.knownTo(a.Servers.Kind) {
		return
	}
	known := a.Servers.Names()
	for i, name := range c.Servers {
		here := entryPath(at+".servers", c.Servers, i)
		switch {
		case !slices.Contains(known, name):
			a.report(here, didYouMean("one of "+listing(known), name, known), "there is no server %s", shown(name))
		case slices.Contains(c.Servers[:i], name):
			a.report(here, "each server once", "%s is listed twice", name)
		}
	}
}

func (a *audit) checkSection(at string, c Client) {
	if c.Read > c.Work {
		a.report(at+".read", "a time within the work", "reads at %s, but works for %s only", c.Read, c.Work)
	}
	if c.Write != nil && *c.Write > c.Work {
		a.report(at+".write", "a time within the work", "writes at %s, but works for %s only", *c.Write, c.Work)
	}
}

func (a *audit) checkNames() {
	for _, name := range a.nodes.twice {
		if !reserved(name) && a.known.sound("clients."+name) {
			a.report("clients."+name, "clients whose processes have names of their own", "two processes are called %s", name)
		}
	}
}

// checkHasClock refuses clocks that no code reads.
func (a *audit) checkHasClock(at, node string) {
	if node == Storage {
		a.report(at, "a client or a server", "%s has no clock", node)
	}
}

func (a *audit) checkResource() {
	if a.known.sound("resource", "locks") && a.Resource.Guarded && len(a.Named) > 0 {
		a.report("resource.in", "storage, or one lock without a name", "the lock's own servers guard the registers of one lock")
	}
	if _, resources := a.Guarded(); a.known.sound("resource", "locks") && a.Resource.Mixed && resources >= len(a.Named) {
		a.report("resource.tokens", "locks that guard one resource (guards), or by-lock", "no resource has tokens of several locks")
	}
	if a.known.sound("resource") && a.Resource.Guarded {
		if len(a.Resource.Latency) > 0 {
			a.report("resource.latency", "registers in storage", "the registers are as far away as the lock's servers")
		}
		for i, f := range a.Resource.Fencing {
			if f != history.Unfenced {
				at := entryPath("resource.fencing", a.Resource.Fencing, i)
				a.report(at, "none, or registers in storage", "the lock's own servers compare no tokens: they do not know %s", f)
			}
		}
	}
	for i, f := range a.Resource.Fencing {
		if a.known.sound("resource.fencing") && slices.Contains(a.Resource.Fencing[:i], f) {
			a.report(fmt.Sprintf("resource.fencing[%d]", i), "each mode once", "%s is listed twice", f)
		}
	}
	for i, s := range a.Styles {
		if a.known.sound("styles") && slices.Contains(a.Styles[:i], s) {
			a.report(fmt.Sprintf("styles[%d]", i), "each style once", "%s is listed twice", s)
		}
	}
}

func (a *audit) checkLinksAndClocks() {
	if !a.known.sound("clients", "servers") {
		return
	}
	for _, c := range a.Clocks {
		at := "clocks." + c.Node
		if sim.IsRole(c.Node) {
			a.report(at, "the name of a node", "no node has a role before the run begins")
			continue
		}
		if a.mustFind(at, c.Node, false) {
			a.checkHasClock(at, c.Node)
		}
	}
	for i, l := range a.Network.Links {
		at := fmt.Sprintf("network.links[%d]", i)
		if !a.known.sound(at) {
			continue
		}
		a.checkEnds(at, l.From, l.To)
		for j, name := range slices.Concat(l.From, l.To) {
			if sim.IsRole(name) {
				a.report(endPath(at, l.From, l.To, j), "nodes or globs", "no node has a role before the run begins")
			}
		}
	}
}

// checkExpect refuses expectations of what is not played or not judged, and those that contradict each other.
func (a *audit) checkExpect() {
	if !a.known.sound("expect", "styles", "resource.fencing", "progress", "load") {
		return
	}
	modes := orDefault(a.Resource.Fencing, history.Unfenced)
	styles := orDefault(a.Styles, history.Careless)
	for _, x := range a.Expect {
		at := a.pathOf(x)
		if x.Fencing != nil && !slices.Contains(modes, *x.Fencing) {
			a.report(at, "one of the modes that resource.fencing names: "+listing(names(modes)), "%s is not played", *x.Fencing)
		}
		if x.Style != nil && !slices.Contains(styles, *x.Style) {
			a.report(at, "one of those that styles names: "+listing(names(styles)), "%s is not played", *x.Style)
		}
		timed := x.Property == checker.Progress || x.Property == checker.Availability
		if timed && a.Progress == 0 && x.Verdict != checker.NotJudged && !x.Any {
			a.report(at, "progress, the limit on waiting", "%s is not judged without a bound", x.Property)
		}
		if x.Property == checker.RequestLoad && a.Load == (LoadBounds{}) && x.Verdict != checker.NotJudged {
			a.report(at, "load, the limit on requests per second", "%s is not judged without a bound", x.Property)
		}
	}
	for i, x := range a.Expect {
		for _, y := range a.Expect[:i] {
			at, other := a.pathOf(x), a.pathOf(y)
			if at == other { // by mode and style, and by style and mode
				other = x.paths()[1]
			}
			other = strings.TrimPrefix(other, "expect.")
			switch {
			case !x.overlaps(y):
			case x.outcome() != y.outcome():
				a.report(at, "one verdict for each mode and style", "contradicts %s", other)
			case x.covers(y):
				a.report(at, "one verdict for each mode and style", "says again what %s says", other)
			}
		}
	}
}

// names prints modes or styles.
func names[V fmt.Stringer](values []V) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return texts
}

// pathOf returns the path by which the file names an expectation: its mode may stand before its style or after.
func (a *audit) pathOf(x Expectation) string {
	paths := x.paths()
	for _, path := range paths {
		if _, ok := a.source.places[path]; ok {
			return path
		}
	}
	return paths[0]
}
