package replay

import (
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// defaultRetry is the pause between two tries of a lock (locks.Options). It must be written out so that it can be scaled.
const defaultRetry = 200 * time.Millisecond

// scaler divides times by a speed.
type scaler struct{ speed float64 }

// scale returns the scenario with all of its times divided by the speed, so that it plays that much faster. A lock's
// own constants stay unchanged, and so do rates.
func scale(s *scenarios.Scenario, speed float64) *scenarios.Scenario {
	x, out := scaler{speed}, *s
	out.Lock.TTL, out.Lock.Renew, out.Lock.Timeout = x.time(s.Lock.TTL), x.time(s.Lock.Renew), x.time(s.Lock.Timeout)
	out.Lock.LockDelay = x.optional(s.Lock.LockDelay)
	d := &out.Servers
	kind := stagingOf(s)
	kind.defaults(d)
	for _, each := range []*time.Duration{
		&d.MaxLag, &d.FullSync, &d.DownAfter, &d.Failover, &d.Tick, &d.KeepAlive, &d.IdleTimeout,
	} {
		*each = x.time(*each)
	}
	out.Clients = x.clients(s.Clients)
	kind.rounds(&out)
	out.Resource.Latency = x.latency(s.Resource.Latency)
	out.Network.Latency, out.Network.Links = x.latency(s.Network.Latency), slices.Clone(s.Network.Links)
	for i := range out.Network.Links {
		out.Network.Links[i].Latency = x.latency(s.Network.Links[i].Latency)
	}
	out.Clocks = slices.Clone(s.Clocks)
	for i := range out.Clocks {
		out.Clocks[i].Offset = x.time(s.Clocks[i].Offset)
	}
	out.Faults = x.faults(s.Faults)
	out.Progress, out.Until = x.time(s.Progress), x.time(s.End())
	out.Variants, out.Measures = nil, nil
	return &out
}

func (x scaler) clients(list []scenarios.Client) []scenarios.Client {
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		if c.Retry.Delay == 0 {
			c.Retry.Delay = defaultRetry
		}
		for _, each := range []*time.Duration{
			&c.Start, &c.Wait, &c.Again, &c.Unlock, &c.Late, &c.Passes, &c.Retry.Delay, &c.Retry.Jitter, &c.Work, &c.Read, &c.Think,
			&c.Lock.TTL, &c.Lock.Renew, &c.Lock.Timeout,
		} {
			*each = x.time(*each)
		}
		c.Write = x.optional(c.Write)
	}
	return list
}

func (x scaler) faults(list []sim.Fault) []sim.Fault {
	list = slices.Clone(list)
	for i := range list {
		f := &list[i]
		a := &f.Action
		for _, each := range []*time.Duration{&f.Trigger.At, &f.Trigger.Plus, &f.For, &a.Restart, &a.Step, &a.By, &a.Demote} {
			*each = x.time(*each)
		}
	}
	return list
}

func (x scaler) latency(l sim.Latency) sim.Latency {
	l = slices.Clone(l)
	for i := range l {
		l[i].Delay = x.time(l[i].Delay)
	}
	return l
}

func (x scaler) optional(d *time.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	scaled := x.time(*d)
	return &scaled
}

// time divides a duration; a positive duration stays positive, and an infinite one infinite. Redis counts
// milliseconds.
func (x scaler) time(d time.Duration) time.Duration {
	if d == 0 || d == locks.Forever {
		return d
	}
	scaled := time.Duration(float64(d) / x.speed)
	if scaled.Abs() >= 10*time.Millisecond {
		return scaled.Round(time.Millisecond)
	}
	if scaled == 0 {
		return 1
	}
	return scaled
}
