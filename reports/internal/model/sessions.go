package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Lives are the moments from which a copy had its whole life before it, and that life: every renewal makes it whole
// again. It is 0 of what does not end by itself.
func (v *View) Lives(c *history.Copy) (lives []trace.Instant, life trace.Instant) {
	if c.Expires == trace.Never {
		return v.sessionLives(c)
	}
	_, nodes := v.Servers().Role() // where one node is a whole service, a new leader gives a session its life again
	lives = []trace.Instant{c.From}
	for i := range v.Renewals {
		e := &v.Renewals[i]
		own := e.Peer == c.Client && v.concerns(e, c) && e.At <= v.crashed(c)
		if (own || !nodes && e.Does == trace.Promote) && e.Node == c.Node && e.At > c.From && e.At < c.To {
			lives = append(lives, e.At)
		}
	}
	return lives, c.Expires - lives[len(lives)-1]
}

// crashed is when the process crashed whose copy it is: what is renewed for its client later is another session's.
func (v *View) crashed(c *history.Copy) trace.Instant {
	if a := v.History.Acquisition(c.Acquisition); a != nil {
		return a.Crashed
	}
	return trace.Never
}

// sessionLives are lives of what ends with the session of a client: the leader of an ensemble gives a session its whole
// life again whenever it hears of its client. The life is 0 of what ends with something else. Of moments close to one
// another one is enough.
func (v *View) sessionLives(c *history.Copy) (lives []trace.Instant, life trace.Instant) {
	if role, nodes := v.Servers().Role(); role != "leader" || !nodes || c.Client == "" {
		return nil, 0
	}
	life = trace.Instant(v.TTL(c.Client, v.History.LockOf(c.Acquisition)))
	lives = []trace.Instant{c.From}
	for _, at := range v.heardOf(c.Client) {
		if at < c.To && at <= v.crashed(c) && at > lives[len(lives)-1]+life/50 {
			lives = append(lives, at)
		}
	}
	return lives, life
}

// concerns reports whether a renewal is of the lock that a copy is of, where there are several: its words, which are known where
// a trace was recorded, name the key.
func (v *View) concerns(e *trace.Event, c *history.Copy) bool {
	lock := v.History.LockOf(c.Acquisition)
	return !v.Several() || lock == "" || e.Detail == "" || slices.Contains(strings.Fields(e.Detail), lock)
}

// TTL is the time to live of a client's leases of a lock, or the time-out of its session, which may be another than it asks for; lock is
// "" if there is one.
func (v *View) TTL(client, lock string) time.Duration {
	return v.Run.Given(client, v.Run.Case.Scenario.LockOfProcess(client, lock).TTL)
}

// Given is the time to live that the servers give a client which asks for one; client is "" for any. It is the same unless a note says
// otherwise.
func (r *Run) Given(client string, asked time.Duration) time.Duration {
	for _, n := range r.History.Notes {
		text, is := strings.CutPrefix(n.Text, fmt.Sprintf("asks for a TTL of %v and is given ", asked))
		if given, err := time.ParseDuration(text); is && (client == "" || n.Node == client) && err == nil {
			return given
		}
	}
	return asked
}

// heardOf are the moments at which the leader hears of a client: from itself, or from the server that the client is
// connected to, with its next request or PONG (Learner.ping sends the sessions that were heard of since the last one).
func (v *View) heardOf(client string) []trace.Instant {
	var list []trace.Instant
	reigns := v.Reigns()
	leads := func(node string, at trace.Instant) bool {
		return slices.ContainsFunc(reigns, func(r Reign) bool { return r.Node == node && r.From <= at && at < r.To })
	}
	alive := map[string]bool{} // servers that have something to tell
	tells := map[uint64]bool{} // messages with which they do
	for i := range v.Run.Events {
		e := &v.Run.Events[i]
		switch {
		case e.Does == trace.Receive && e.Peer == client && v.IsServer(e.Node):
			alive[e.Node] = true
			if leads(e.Node, e.At) {
				list = append(list, e.At)
			}
		case e.Does == trace.Send && alive[e.Node] && (e.What == "PONG" || e.What == "REQUEST"):
			alive[e.Node], tells[e.Msg] = false, true
		case e.Does == trace.Receive && tells[e.Msg]:
			list = append(list, e.At)
		}
	}
	return list
}
