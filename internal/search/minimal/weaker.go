package minimal

import (
	"path"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// strength is how much a fault does, numbers apart, and to how many.
func strength(f *sim.Fault) int64 {
	a := &f.Action
	n := count(a.Host, a.RST, a.Lose != sim.LoseNothing, a.Keep != "", a.Of != sim.WallOnly, a.Demote != 0, a.Key != "",
		a.Kind == sim.SetClock && f.For != 0, a.Kind == sim.SetClock && a.Rate != 0, a.Step != 0 && a.Rate != 0)
	n += count(isClientCrash(f) && a.Restart != 0)
	n += manyNodes(a.Node) + int64(len(a.Nodes))
	if len(a.Link.From) > 0 {
		n += count(!a.Link.OneWay)
		for _, name := range slices.Concat(a.Link.From, a.Link.To) {
			n += 1 + manyNodes(name)
		}
	}
	return n
}

// manyNodes says how far a name is from that of one node: roles mean different ones at different times.
func manyNodes(name string) int64 {
	switch {
	case slices.Contains(sim.Roles(), name):
		return 1
	case isGlob(name):
		return 2
	}
	return 0
}

func isGlob(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// isClientCrash tells the crash of a client, which is weaker if it is for good, from that of a server, which is weaker
// if it is not.
func isClientCrash(f *sim.Fault) bool {
	return f.Action.Kind == sim.Crash && !strings.Contains(f.Action.Node, "-") &&
		!slices.Contains([]string{"master", "leader", scenarios.Storage}, f.Action.Node)
}

// weakerFaults has faults do less, to fewer.
func (r *reducer) weakerFaults() {
	for i := 0; i < len(r.now.Faults); i++ {
		for _, change := range weaker() {
			r.try(func(s *scenarios.Scenario) bool { return change(&s.Faults[i]) })
		}
		r.fewerTargets(i)
		r.wrongFromTheStart(i)
	}
}

func weaker() []func(f *sim.Fault) bool {
	return []func(f *sim.Fault) bool{
		func(f *sim.Fault) bool { return unset(&f.Action.Host) },
		func(f *sim.Fault) bool { return unset(&f.Action.Keep) },
		func(f *sim.Fault) bool { return isClientCrash(f) && unset(&f.Action.Restart) },
		func(f *sim.Fault) bool { return unset(&f.Action.RST) },
		func(f *sim.Fault) bool { return unset(&f.Action.Lose) },
		func(f *sim.Fault) bool { return unset(&f.Action.Of) },
		func(f *sim.Fault) bool { return f.Action.Rate != 0 && unset(&f.Action.Step) },
		func(f *sim.Fault) bool { return f.Action.Step != 0 && unset(&f.Action.Rate) },
		func(f *sim.Fault) bool { return f.Action.Kind == sim.SetClock && unset(&f.For) },
		func(f *sim.Fault) bool { return unset(&f.Action.Demote) },
		func(f *sim.Fault) bool { return unset(&f.Action.Key) },
		func(f *sim.Fault) bool { return f.Action.Kind == sim.Promote && drop(&f.Action.Nodes) },
		func(f *sim.Fault) bool { return oneWay(f) },
		func(f *sim.Fault) bool {
			l := &f.Action.Link
			l.From, l.To = l.To, l.From
			return oneWay(f)
		},
	}
}

func oneWay(f *sim.Fault) bool {
	if len(f.Action.Link.From) == 0 || f.Action.Link.OneWay || f.Action.Kind == sim.Break {
		return false
	}
	f.Action.Link.OneWay = true
	return true
}

// fewerTargets takes names out of the ends of a link and out of other lists, and puts one node in the place of several.
func (r *reducer) fewerTargets(i int) {
	for _, in := range []func(f *sim.Fault) *[]string{
		func(f *sim.Fault) *[]string { return &f.Action.Link.From },
		func(f *sim.Fault) *[]string { return &f.Action.Link.To },
		func(f *sim.Fault) *[]string { return &f.Action.Nodes },
	} {
		for k := 0; k < len(*in(&r.now.Faults[i])); {
			if len(*in(&r.now.Faults[i])) < 2 || !r.try(func(s *scenarios.Scenario) bool {
				list := in(&s.Faults[i])
				*list = slices.Delete(slices.Clone(*list), k, k+1)
				return s.Faults[i].Action.Kind != sim.SameRandom || len(*list) > 1
			}) {
				r.nameOne(func(s *scenarios.Scenario, name string) {
					list := in(&s.Faults[i])
					*list = slices.Clone(*list)
					(*list)[k] = name
				}, (*in(&r.now.Faults[i]))[k])
				k++
			}
		}
	}
	r.nameOne(func(s *scenarios.Scenario, name string) { s.Faults[i].Action.Node = name }, r.now.Faults[i].Action.Node)
}

// nameOne puts the name of one node in the place of a glob or a role.
func (r *reducer) nameOne(put func(s *scenarios.Scenario, name string), old string) {
	if manyNodes(old) == 0 {
		return
	}
	for _, name := range namedBy(r.now, old) {
		if r.doWithout(func(s *scenarios.Scenario) bool { put(s, name); return true }) {
			return
		}
	}
}

// namedBy lists the nodes that a glob or a role may stand for.
func namedBy(s *scenarios.Scenario, pattern string) []string {
	clients := clientNames(s)
	switch pattern {
	case whoHolds:
		return clients
	case "master", "leader":
		return s.Servers.Names()
	}
	all := slices.Concat(clients, s.Servers.Names(), []string{scenarios.Storage})
	return slices.DeleteFunc(all, func(name string) bool {
		ok, err := path.Match(pattern, name)
		return !ok || err != nil
	})
}

func clientNames(s *scenarios.Scenario) []string {
	var names []string
	for i := range s.Clients {
		names = append(names, s.Clients[i].Names()...)
	}
	return names
}

// wrongFromTheStart makes a clock that begins to run fast or slowly at some step one that has always done so.
func (r *reducer) wrongFromTheStart(i int) {
	a := &r.now.Faults[i].Action
	if a.Kind != sim.SetClock || a.Rate == 0 || a.Step != 0 {
		return
	}
	r.doWithout(func(s *scenarios.Scenario) bool {
		dropFaults(s, i, i+1)
		s.Clocks = append(s.Clocks, scenarios.Clock{Node: a.Node, Rate: a.Rate})
		return true
	})
}
