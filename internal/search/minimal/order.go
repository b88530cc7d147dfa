package minimal

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// fewerTies has clients that begin at one instant begin one after another: who is served first is then no matter of
// luck.
func (r *reducer) fewerTies() {
	for i := range r.now.Clients {
		if !tied(r.now, i) {
			continue
		}
		at := r.now.Clients[i].Start
		for _, d := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
			this := func(s *scenarios.Scenario) bool { s.Clients[i].Start += d; return true }
			others := func(s *scenarios.Scenario) bool {
				for k := range s.Clients {
					if k != i && s.Clients[k].Start == at {
						s.Clients[k].Start += d
					}
				}
				return true
			}
			if r.try(this) || r.try(others) {
				break
			}
		}
	}
}

// tied reports whether a client begins at the same instant as one before it.
func tied(s *scenarios.Scenario, i int) bool {
	return slices.ContainsFunc(s.Clients[:i], func(c scenarios.Client) bool { return c.Start == s.Clients[i].Start })
}

// plainNames calls the clients a, b, c in the order in which they begin.
func (r *reducer) plainNames() {
	r.doWithout(func(s *scenarios.Scenario) bool {
		slices.SortStableFunc(s.Clients, func(c, d scenarios.Client) int { return cmp.Compare(c.Start, d.Start) })
		to := map[string]string{}
		for i := range s.Clients {
			c := &s.Clients[i]
			old := c.Names()
			c.Name = plainName(i)
			for k, name := range c.Names() {
				to[old[k]] = name
			}
		}
		rename(s, func(name string) string {
			if other, ok := to[name]; ok {
				return other
			}
			return name
		})
		return true
	})
}

// plainName is what the i-th client is called best.
func plainName(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return "c" + strconv.Itoa(i+1)
}

func plainlyNamed(s *scenarios.Scenario) bool {
	for i := range s.Clients {
		if s.Clients[i].Name != plainName(i) || i > 0 && s.Clients[i].Start < s.Clients[i-1].Start {
			return false
		}
	}
	return true
}

// plainSeed takes the smallest seed of a few.
func (r *reducer) plainSeed() {
	for seed := uint64(1); seed <= 2*fewSeeds && seed < r.now.Seed; seed++ {
		if r.try(func(s *scenarios.Scenario) bool { s.Seed = seed; return true }) {
			return
		}
	}
}
