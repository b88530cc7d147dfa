package replay

import (
	"errors"

	"github.com/locksim/locksim/internal/real"
)

var errDropped = errors.New("replay: a fault took the message away")

// parties are those who talk to each other: an actor, and whom a route leads to.
type parties struct {
	stage *stage
	actor *actor
	route *route
}

// sends has the actor send a request, which travels to the server.
func (p *parties) sends(n naming, m *message, way real.Way) error {
	s := p.stage
	s.mu.Lock()
	sent := s.sends(p.actor.node, n.what, n.alt, p.route.server, m)
	s.mu.Unlock()
	if !sent {
		return errDropped
	}
	return way.Travel()
}

// receives has an answer travel to the actor, who is given it.
func (p *parties) receives(n naming, m *message, raw []byte, way real.Way) error {
	if err := way.Travel(); err != nil {
		return err
	}
	s := p.stage
	s.mu.Lock()
	taken := s.receives(p.actor.node, n.what, n.alt, p.route.server, m)
	s.mu.Unlock()
	if !taken {
		return errDropped
	}
	return way.Deliver(raw)
}
