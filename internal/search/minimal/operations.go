package minimal

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// fewerOperations has clients do less: fewer tasks, sections and entrances, fewer registers, and nothing unusual.
func (r *reducer) fewerOperations() {
	for i := range r.now.Clients {
		of := func(s *scenarios.Scenario) *scenarios.Client { return &s.Clients[i] }
		r.lower(func(s *scenarios.Scenario) *int { return &of(s).Tasks }, 1)
		r.lower(func(s *scenarios.Scenario) *int { return &of(s).Sections }, 1)
		r.lower(func(s *scenarios.Scenario) *int { return &of(s).Enters }, 0)
		r.try(func(s *scenarios.Scenario) bool { return of(s).Hangs && overrun(s) })
		for _, change := range usualClient() {
			r.try(func(s *scenarios.Scenario) bool { return change(of(s)) })
		}
	}
	r.lower(func(s *scenarios.Scenario) *int { return &s.Resource.Registers }, 1)
}

// oneLock gives all clients the same lock, any of those that they have; or else as many of them as it can the scenario's.
func (r *reducer) oneLock() {
	for i := range r.now.Clients {
		r.try(func(s *scenarios.Scenario) bool { return unset(&s.Clients[i].Lock) })
	}
	for i := range r.now.Clients {
		r.try(func(s *scenarios.Scenario) bool {
			mixed := s.Clients[i].Lock != scenarios.OwnLock{}
			s.Lock = s.LockOf(&s.Clients[i])
			for k := range s.Clients {
				s.Clients[k].Lock = scenarios.OwnLock{}
			}
			return mixed
		})
	}
}

// lower tries smaller numbers, the smallest first.
func (r *reducer) lower(in func(*scenarios.Scenario) *int, least int) {
	for n := least; n < *in(r.now); n++ {
		if r.doWithout(func(s *scenarios.Scenario) bool { *in(s) = n; return true }) {
			return
		}
	}
}

// usualClient are changes that make a client one of which there is little to say.
func usualClient() []func(c *scenarios.Client) bool {
	return []func(c *scenarios.Client) bool{
		func(c *scenarios.Client) bool { c.Start, c.Think, c.Read, c.Write = 0, 0, 0, nil; return true },
		func(c *scenarios.Client) bool { return unset(&c.Think) },
		func(c *scenarios.Client) bool { return unset(&c.Read) },
		func(c *scenarios.Client) bool { return unset(&c.Write) },
		func(c *scenarios.Client) bool { return unset(&c.Again) },
		func(c *scenarios.Client) bool { c.Wait, c.Again = locks.Forever, 0; return true },
		func(c *scenarios.Client) bool { c.Wait = locks.Forever; return true },
		func(c *scenarios.Client) bool { c.Wait = locks.Try; return c.Again == 0 },
		func(c *scenarios.Client) bool { return unset(&c.Retry) },
		func(c *scenarios.Client) bool { return unset(&c.Retry.Jitter) },
		func(c *scenarios.Client) bool { return unset(&c.Retry.Tries) },
		func(c *scenarios.Client) bool { return unset(&c.Unlock) },
		func(c *scenarios.Client) bool { return unset(&c.Late) },
		func(c *scenarios.Client) bool { return unset(&c.Connected) },
		func(c *scenarios.Client) bool { return unset(&c.Forgets) },
		func(c *scenarios.Client) bool { return unset(&c.Passes) },
		func(c *scenarios.Client) bool { return unset(&c.Stays) },
		func(c *scenarios.Client) bool { return unset(&c.Busy) },
		func(c *scenarios.Client) bool { return unset(&c.Hangs) },
		func(c *scenarios.Client) bool { return unset(&c.Style) },
		func(c *scenarios.Client) bool { return drop(&c.Servers) },
		func(c *scenarios.Client) bool { return first(&c.Servers) },
	}
}

// unset sets a value to nothing; false if it is nothing.
func unset[T comparable](v *T) bool {
	var none T
	was := *v
	*v = none
	return was != none
}

// drop is unset for lists.
func drop[L ~[]T, T any](list *L) bool {
	was := len(*list)
	*list = nil
	return was > 0
}

// first leaves one entry of a list of several.
func first[T any](list *[]T) bool {
	if len(*list) < 2 {
		return false
	}
	*list = (*list)[:1:1]
	return true
}

// plainSurroundings takes away what is around lock, clients and servers: links, random delays, options of the lock.
func (r *reducer) plainSurroundings() {
	for _, change := range []edit{
		sooner,
		func(s *scenarios.Scenario) bool { return drop(&s.Network.Links) },
		func(s *scenarios.Scenario) bool {
			s.Network.Latency, s.Resource.Latency = plainLatency(), nil
			return true
		},
		func(s *scenarios.Scenario) bool { return drop(&s.Resource.Latency) },
		func(s *scenarios.Scenario) bool { s.Bounds = usualBounds(); return true },
		func(s *scenarios.Scenario) bool { s.Until = usualEnd; return true },
		func(s *scenarios.Scenario) bool { s.Until = roundAbove(r.seen.violation.At); return true },
		func(s *scenarios.Scenario) bool { return !timed(r.sought.Property) && unset(&s.Progress) },
		func(s *scenarios.Scenario) bool { return unset(&s.Lock.Timeout) },
		func(s *scenarios.Scenario) bool { return unset(&s.Lock.Renew) },
		func(s *scenarios.Scenario) bool { return unset(&s.Lock.Acks) },
		func(s *scenarios.Scenario) bool { return unset(&s.Lock.Library) },
		func(s *scenarios.Scenario) bool { return unset(&s.Lock.LockDelay) },
	} {
		r.doWithout(change)
	}
	for i := 0; i < len(r.now.Network.Links); {
		if !r.try(func(s *scenarios.Scenario) bool {
			s.Network.Links = slices.Delete(s.Network.Links, i, i+1)
			return true
		}) {
			i++
		}
	}
	r.constantLatency()
}

// sooner has the first client begin at once, and everything else that has a time of its own as much earlier.
func sooner(s *scenarios.Scenario) bool {
	first := slices.MinFunc(s.Clients, func(a, b scenarios.Client) int { return cmp.Compare(a.Start, b.Start) }).Start
	for i := range s.Clients {
		s.Clients[i].Start -= first
	}
	for i := range s.Faults {
		if t := &s.Faults[i].Trigger; t.When == sim.At {
			t.At = max(t.At-first, 0)
		}
	}
	return first > 0
}

// roundAbove returns the first of the roundest times that is later than a moment.
func roundAbove(t trace.Instant) time.Duration {
	list := numbersOf(1, int64(time.Second), int64(t)+1)
	return time.Duration(list[len(list)-1])
}

// constantLatency makes delays that are drawn ones that are always the same, if not those that are usual.
func (r *reducer) constantLatency() {
	if len(r.now.Network.Latency) == 1 {
		return
	}
	for _, d := range []time.Duration{time.Millisecond / 10, 2 * time.Millisecond, 5 * time.Millisecond} {
		if r.try(func(s *scenarios.Scenario) bool { s.Network.Latency = sim.Constant(d); return true }) {
			return
		}
	}
}
