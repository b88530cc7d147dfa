package harness

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// nameLocks lists the locks that the scenario names, each with its keys. It refuses what is not played with several locks.
func (p *Plan) nameLocks() error {
	s := p.Case.Scenario
	p.locks = nil
	for i := range s.Named {
		l := s.Lock
		l.Key = s.Named[i].Name
		if p.Algorithm.Check != nil {
			if err := p.Algorithm.Check(locks.Options{Key: l.Key}); err != nil {
				return s.Errorf("locks."+l.Key, "%v", err)
			}
		}
		p.locks = append(p.locks, simulated.Keys{Lock: l.Key, Keys: keysOf(&p.Algorithm, l)})
	}
	if p.Algorithm.Program != nil {
		return s.Errorf("locks", "%v", takesOne(&p.Algorithm))
	}
	return nil
}

func takesOne(a *locks.Algorithm) string {
	return "the lock " + a.Name + " is a client program, which takes one lock: want a lock of the catalogue that is none"
}

// takenBy builds the several locks that a client takes; nil if the scenario names none.
func takenBy(s *scenarios.Scenario, c *scenarios.Client, a *locks.Algorithm, o locks.Options) []takenLock {
	var list []takenLock
	for _, name := range s.TakenBy(c) {
		options := o
		options.Key = name
		options.TTL = s.LockNamed(c, name).TTL
		list = append(list, takenLock{name: name, options: options, build: a.New(options)})
	}
	return list
}

// resources lists the resources that the locks guard which a client takes; nil if each guards its own.
func resources(s *scenarios.Scenario, c *scenarios.Client) []int {
	places, n := s.Guarded()
	if n >= len(s.Named) {
		return nil
	}
	var list []int
	for _, name := range s.TakenBy(c) {
		list = append(list, places[slices.IndexFunc(s.Named, func(l scenarios.NamedLock) bool { return l.Name == name })])
	}
	return list
}

// show is what the resource sees of the locks of an access: not the tokens of those that are not to be shown. The first is one whose token
// it sees, if there is such a one.
func (p *process) show(first workload.Held, others []workload.Held) (workload.Held, []workload.Held) {
	if s := p.world.plan.Case.Scenario; len(s.Named) > 0 {
		all := append([]workload.Held{first}, others...)
		hidden := func(h *workload.Held) bool {
			name := p.world.journal.LockOf(h.ID)
			return slices.ContainsFunc(s.Named, func(l scenarios.NamedLock) bool { return l.Name == name && l.Unfenced })
		}
		for i := range all {
			if hidden(&all[i]) {
				all[i].Lease.Token, all[i].Lease.Value = 0, ""
			}
		}
		slices.SortStableFunc(all, func(a, b workload.Held) int { return trueLast(hidden(&a), hidden(&b)) })
		return all[0], all[1:]
	}
	return first, others
}

func trueLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// comparedAs numbers the lock of an acquisition, if the resource compares its tokens with those of the same lock only.
func (p *process) comparedAs(id history.ID) int {
	s := p.world.plan.Case.Scenario
	if s.Resource.Mixed {
		return 0
	}
	name := p.world.journal.LockOf(id)
	return 1 + slices.IndexFunc(s.Named, func(l scenarios.NamedLock) bool { return l.Name == name })
}
