package model

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Where servers replicate, what became of a copy means one thing on a master, another on its replicas, and a third on a
// master that has been replaced.

// ToldToDelete reports whether a server gave a copy up since its master did: a replica neither evicts nor lets expire.
func (v *View) ToldToDelete(c *history.Copy) bool {
	switch role, _ := v.Servers().Role(); {
	case role != "master":
		return false
	case c.Gone == history.Evicted:
		return !slices.ContainsFunc(v.Faults, func(f Fault) bool {
			return f.Kind == sim.Evict && f.Node == c.Node && f.Begin == c.To
		})
	}
	return c.Gone == history.Expired && !v.isMaster(c.Node, c.To)
}

// TooEarly reports whether a server's clock ended a copy while its grant should have lasted. On a master that another
// has replaced, which is asked for the renewals now, the copy lasts for as long as that server itself has promised.
func (v *View) TooEarly(c *history.Copy) bool {
	if c.Gone != history.Expired || !v.grantedBeyond(c) || v.Unheard(c) != nil {
		return false
	}
	sets := v.sets(c, c.To)
	if len(sets) > 0 && c.To.Sub(sets[len(sets)-1].At) >= v.ttlOf(c)-redisMillisecond {
		return false // it lasted for as long as it was asked to; where several servers vote, they were asked one after another
	}
	if slices.ContainsFunc(sets, func(e *trace.Event) bool { return v.asked(c, e, e.At) }) {
		return false // likewise, and what came later was refused
	}
	return !v.replacedAsMaster(c) || c.Expires > c.To+redisMillisecond
}

// Unheard returns the last renewal that prolonged an entry on its master and had not reached the replica that took the master's place, so
// that the entry ended there as it should by all that this server knew; nil if that is not what happened.
func (v *View) Unheard(c *history.Copy) (missed *trace.Event) {
	if c.Gone != history.Expired || v.Servers().Replicas == 0 || v.Hastens(c.Node) || !v.grantedBeyond(c) {
		return nil
	}
	for i := range v.Renewals {
		e := &v.Renewals[i]
		if e.Does != trace.Execute || e.Peer != c.Client || e.At <= c.From || e.At > min(c.To, c.Expires) || Refused(e.Detail) || !v.concerns(e, c) {
			continue
		}
		missed = e
		if e.Node == c.Node {
			missed = nil // it has prolonged the entry itself
		}
	}
	return missed
}

// Coarse reports whether an entry that ended too early did so because its server counts whole seconds: its clock is not ahead.
func (v *View) Coarse(c *history.Copy) bool {
	return v.Servers().Facts().Early == time.Second && !v.Hastens(c.Node) && v.TooEarly(c)
}

// Hastens reports whether a server's clock may end something before its time: it runs too fast, or is set.
func (v *View) Hastens(node string) bool {
	set := func(f Fault) bool { return f.Kind == sim.SetClock && f.Node == node }
	wrong := func(k scenarios.Clock) bool { return k.Node == node && (k.Rate > 0 || k.Offset != 0) }
	return slices.ContainsFunc(v.Faults, set) || slices.ContainsFunc(v.Run.Case.Scenario.Clocks, wrong)
}

// Shortener returns the renewal of its own that gave an entry an earlier end than was promised: the server's clock was right, or behind, and
// no other request had asked for the end that came. nil if that is not what happened.
func (v *View) Shortener(c *history.Copy) *trace.Event {
	f, end := v.Servers().Facts(), min(c.To, c.Expires)
	if c.Gone != history.Expired && c.Expires > c.To || f.Early > 0 || f.InSession() || v.Hastens(c.Node) { // a session begins again
		return nil
	}
	sets := v.sets(c, end)
	last := len(sets) - 1
	if last < 0 || sets[last].Alt != trace.ToRenew || end.Sub(sets[last].At) >= v.ttlOf(c)-redisMillisecond || v.oneOfSeveral(c) {
		return nil
	}
	if slices.ContainsFunc(sets, func(e *trace.Event) bool { return v.asked(c, e, v.SentAt(e)) }) { // and what came later was refused
		return nil
	}
	return sets[last]
}

// asked reports whether the end of an entry is what a request asked for: a lease from when it was executed, or from when it was sent.
func (v *View) asked(c *history.Copy, e *trace.Event, from trace.Instant) bool {
	end, ttl := min(c.To, c.Expires), v.ttlOf(c)
	return end.Sub(from) >= ttl-redisMillisecond && end.Sub(e.At) <= ttl+redisMillisecond
}

// SentAt is when the request was sent that a step executes.
func (v *View) SentAt(e *trace.Event) trace.Instant {
	i := slices.IndexFunc(v.Messages, func(m Sent) bool { return m.ID == e.Msg })
	if i < 0 {
		return e.At
	}
	return v.Messages[i].Sent
}

// oneOfSeveral reports whether an acquisition has several entries on a server: a renewal is of one of them, and the trace does not say of
// which.
func (v *View) oneOfSeveral(c *history.Copy) bool {
	return slices.ContainsFunc(v.History.Copies, func(d history.Copy) bool {
		return d != *c && d.Node == c.Node && d.Acquisition == c.Acquisition && d.From < c.To && c.From < d.To
	})
}

// sets lists the requests of its client that gave an entry an end before that came, as far as the trace has them.
func (v *View) sets(c *history.Copy, end trace.Instant) (list []*trace.Event) {
	for i := range v.Run.Events {
		e := &v.Run.Events[i]
		asks := e.Alt == trace.ToAcquire && e.At == c.From || e.Alt == trace.ToRenew && c.From < e.At && e.At <= end
		if e.Does == trace.Execute && asks && e.Node == c.Node && e.Peer == c.Client && !Refused(e.Detail) {
			list = append(list, e)
		}
	}
	return list
}

// SetOnce reports whether an entry ended as the request asked that made it: by a right clock, and no renewal followed.
func (v *View) SetOnce(c *history.Copy) bool {
	sets := v.sets(c, min(c.To, c.Expires))
	return !v.Hastens(c.Node) && (len(sets) == 0 || sets[len(sets)-1].Alt != trace.ToRenew)
}

// ttlOf is the lease that a client of an entry asks for.
func (v *View) ttlOf(c *history.Copy) time.Duration {
	if a := v.History.Acquisition(c.Acquisition); a != nil {
		return v.TTL(a.Client, a.Lock)
	}
	return v.TTL(c.Client, "")
}

// isMaster reports whether a server took itself for a master or the leader at that moment.
func (v *View) isMaster(node string, at trace.Instant) bool {
	servers := v.Servers()
	role, _ := servers.Role()
	is := role == "master" && slices.Index(v.Names, node) < servers.Masters
	for i := range v.Roles {
		if e := &v.Roles[i]; e.Node == node && e.At <= at {
			is = e.Does == trace.Promote
		}
	}
	return is
}

// replacedAsMaster reports whether another server that had a copy of the same acquisition had become master last when
// this one went.
func (v *View) replacedAsMaster(c *history.Copy) bool {
	latest := c.Node
	for i := range v.Roles {
		if e := &v.Roles[i]; e.Does == trace.Promote && e.At <= c.To && v.hadCopy(e.Node, c.Acquisition) {
			latest = e.Node
		}
	}
	return latest != c.Node
}

func (v *View) hadCopy(node string, id history.ID) bool {
	return slices.ContainsFunc(v.History.Copies, func(c history.Copy) bool { return c.Node == node && c.Acquisition == id })
}

// OfEarlierTry reports whether a copy was made before its acquisition last asked one master, which replicates what it
// grants: a server that has been replaced as master may have kept that of an earlier try.
func (v *View) OfEarlierTry(c *history.Copy, g *history.Grant) bool {
	servers := v.Servers()
	if servers.Replicas == 0 || servers.Masters > 1 && !servers.Cluster {
		return false
	}
	return slices.ContainsFunc(v.History.Asks, func(a history.Ask) bool {
		return a.Acquisition == g.Acquisition && a.Granted && c.From < a.At && a.At <= g.From
	})
}

// redisMillisecond is what servers count in.
const redisMillisecond = 1_000_000

// grantedBeyond reports whether a copy went while its grant should have lasted.
func (v *View) grantedBeyond(c *history.Copy) bool {
	return slices.ContainsFunc(v.History.Grants, func(g history.Grant) bool {
		return g.Acquisition == c.Acquisition && g.From < c.To && g.To > c.To+redisMillisecond
	})
}
