package reports

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// sessionLives are lives of what ends with the session of a client: the leader of an ensemble gives a session its whole
// life again whenever it hears of its client. The life is 0 of what ends with something else. Of moments close to one
// another one is enough.
func (v *view) sessionLives(c *history.Copy) (lives []trace.Instant, life trace.Instant) {
	if role, nodes := v.servers().Role(); role != "leader" || !nodes || c.Client == "" {
		return nil, 0
	}
	life = trace.Instant(v.run.Case.Scenario.Lock.TTL)
	lives = []trace.Instant{c.From}
	for _, at := range v.heardOf(c.Client) {
		if at < c.To && at <= v.crashed(c) && at > lives[len(lives)-1]+life/50 {
			lives = append(lives, at)
		}
	}
	return lives, life
}

// heardOf are the moments at which the leader hears of a client: from itself, or from the server that the client is
// connected to, with its next request or PONG (Learner.ping sends the sessions that were heard of since the last one).
func (v *view) heardOf(client string) []trace.Instant {
	var list []trace.Instant
	reigns := v.reigns()
	leads := func(node string, at trace.Instant) bool {
		return slices.ContainsFunc(reigns, func(r reign) bool { return r.node == node && r.from <= at && at < r.to })
	}
	alive := map[string]bool{} // servers that have something to tell
	tells := map[uint64]bool{} // messages with which they do
	for i := range v.run.Events {
		e := &v.run.Events[i]
		switch {
		case e.Does == trace.Receive && e.Peer == client && v.isServer(e.Node):
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
