package redis

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
)

// CLIENT PAUSE, as in Redis's networking.c: requests are put off until the pause ends, all of them or those that may write. Keys
// do not end meanwhile, though reads no longer find those whose deadlines have passed.

// pause is one that is in force.
type pause struct {
	on        bool
	all       bool  // not only what may write
	until     int64 // wall clock in ns
	end       *sim.Timer
	postponed []*Peer // those whose requests are put off, in their order
}

// runClientPause begins a pause, or makes the one in force longer and stricter.
func runClientPause(s *Store, _ *Peer, _ *command, args []string) {
	all := len(args) == 3 || strings.EqualFold(args[3], "ALL")
	if len(args) > 4 || !all && !strings.EqualFold(args[3], "WRITE") {
		s.fail("ERR CLIENT PAUSE mode must be WRITE or ALL")
		return
	}
	ms, err := strconv.ParseInt(args[2], 10, 64)
	switch {
	case err != nil || ms > int64(sim.Forever/time.Millisecond):
		s.fail("ERR timeout is not an integer or out of range")
		return
	case ms < 0:
		s.fail("ERR timeout is negative")
		return
	case s.server == nil:
		s.fail(errNoServer)
		return
	}
	server := s.server
	server.after = append(server.after, func() { server.beginPause(all, ms) })
	s.ok()
}

func runClientUnpause(s *Store, _ *Peer, _ *command, _ []string) {
	if s.server != nil {
		s.server.after = append(s.server.after, s.server.endPause)
	}
	s.ok()
}

func (s *Server) beginPause(all bool, ms int64) {
	p := &s.pause
	if !p.on {
		p.end = s.node.NewTimer(pauseAlarm{s})
	}
	p.on, p.all = true, p.all || all
	p.until = max(p.until, s.node.Wall()+ms*int64(time.Millisecond))
	p.end.Arm(true, p.until)
	s.Store.held = true
	s.armExpiry()
}

type pauseAlarm struct{ s *Server }

// Ring ends the pause.
func (a pauseAlarm) Ring() { a.s.endPause() }

// endPause executes what was put off.
func (s *Server) endPause() {
	if !s.pause.on {
		return
	}
	s.pause.end.Stop()
	postponed := s.pause.postponed
	s.pause = pause{}
	s.Store.held = false
	s.expire()
	for _, p := range postponed {
		if p.wait != nil && p.wait.postponed {
			p.behind = slices.Insert(p.behind, 0, p.wait.request)
			p.wait = nil
			s.resume(p)
		}
	}
}

// postpones reports whether a command is put off, and does so.
func (s *Server) postpones(p *Peer, c *command, r *Request) bool {
	if !s.pause.on || !s.pause.all && !c.mayWrite() && !(c.name == "EXEC" && slices.ContainsFunc(p.queue, queued.mayWrite)) {
		return false
	}
	p.wait = &wait{request: r, postponed: true}
	s.pause.postponed = append(s.pause.postponed, p)
	return true
}

// mayWrite reports whether a command may have something to tell replicas.
func (c *command) mayWrite() bool {
	return c.flags&writes != 0 || c.name == "EVAL" || c.name == "EVALSHA" || c.name == "PUBLISH"
}

func (q queued) mayWrite() bool { return q.command.mayWrite() }
