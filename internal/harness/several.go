package harness

import (
	"github.com/locksim/locksim/internal/backend/simulated"
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
