package replay

import (
	"time"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
)

// act does what a fault's action says, if there is something to do it to. It returns what heals it; nil if there is nothing
// to heal. It is called with the lock.
func (s *stage) act(action *sim.Action, name string, m *message) (did bool, heal func() error, err error) {
	switch action.Kind {
	case sim.Pause:
		n := s.nodes[name]
		if n == nil || n.down {
			return false, nil, nil
		}
		heal, err = n.pause()
		return err == nil, heal, err
	case sim.Crash:
		return s.crash(name, action)
	case sim.SetClock:
		return s.setClock(name, action)
	case sim.Cut, sim.Stall:
		heal = s.holdAll(action.Link)
		return heal != nil, heal, nil
	case sim.Break:
		return s.breakUp(action, m), nil, nil
	case sim.Delay:
		if m.route == nil {
			return false, nil, nil
		}
		by, earlier := action.By, m.delay
		m.delay = func() {
			if earlier != nil {
				earlier()
			}
			s.sleep(by)
		}
		return true, nil, nil
	case sim.Error:
		if m.route == nil || m.reply {
			return false, nil, nil
		}
		m.answer = action.Text
		return true, nil, nil
	case sim.SameRandom: // the clients have been given their parts
		return true, nil, nil
	default:
		did, err = s.servers.command(name, action)
		return did, nil, err
	}
}

// crash ends a process, or switches its machine off.
func (s *stage) crash(name string, action *sim.Action) (did bool, heal func() error, err error) {
	n := s.nodes[name]
	if n == nil || n.down {
		return false, nil, nil
	}
	if action.Host {
		for _, r := range s.routes {
			if r.link != nil {
				r.link.Desert(r.client == name, r.server == name)
			}
		}
	}
	if err := n.kill(); err != nil {
		return false, nil, err
	}
	actor := s.actor(name)
	if actor != nil {
		s.journal.Died(name)
	} else if err := s.servers.crashed(name, action); err != nil {
		return false, nil, err
	}
	if action.Restart > 0 {
		n.returns = true
	}
	return true, func() error { return s.revive(n) }, nil
}

// revive starts a process again whose crash is over. It gives the lock away meanwhile.
func (s *stage) revive(n *node) error {
	s.mu.Unlock()
	err := n.restart()
	s.mu.Lock()
	if err != nil {
		return err
	}
	n.down, n.returns = false, false
	n.life++
	for _, r := range s.routes {
		if r.link != nil && r.server == n.name {
			r.link.Revive()
		}
	}
	return nil
}

// setClock makes a clock wrong. A rate that heals goes back to what it was.
func (s *stage) setClock(name string, action *sim.Action) (did bool, heal func() error, err error) {
	actor := s.actor(name)
	if actor == nil {
		return s.servers.setClock(name, action.Step, action.Rate)
	}
	if actor.down {
		return false, nil, nil
	}
	step := func(by time.Duration) error {
		s.journal.stepped(name, by)
		return actor.to.say(order{Step: by})
	}
	return true, func() error { return step(-action.Step) }, step(action.Step)
}

// breakUp breaks the connection of the trigger's message, or those of a link.
func (s *stage) breakUp(action *sim.Action, m *message) (did bool) {
	lose := [...]real.Loss{
		sim.LoseNothing: real.LoseNothing, sim.LoseRequest: real.LoseRequests, sim.LoseReply: real.LoseReplies,
	}[action.Lose]
	if action.This {
		if m.passage == nil {
			return false
		}
		m.lost = m.lost || action.Lose == sim.LoseRequest && !m.reply || action.Lose == sim.LoseReply && m.reply
		m.passage.Break(action.RST, lose)
		return true
	}
	for _, h := range s.between(action.Link) {
		if h.link != nil && h.link.Break(action.RST, lose) {
			did = true
		}
	}
	return did
}

// sleep waits with the lock given away.
func (s *stage) sleep(d time.Duration) {
	s.mu.Unlock()
	defer s.mu.Lock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}
