package lease

import "github.com/locksim/locksim/trace"

// Promote makes another server of the service the leader, after an election. It reports whether there was a leader to
// replace.
func (s *Server) Promote() bool {
	if !s.leading {
		return false
	}
	if s.stuck > 0 {
		s.depose()
	}
	s.stepDown()
	s.elect()
	s.node.Step(trace.Demote, "leader", uint64(s.epoch), nil)
	return true
}

// stepDown forgets what only the leader knew. Renewals that it had not answered are the next leader's; the clients that
// spoke to it have to find that one.
func (s *Server) stepDown() {
	s.leading = false
	s.epoch++
	for _, v := range s.sessions {
		v.timer.Stop()
		for _, c := range v.calls {
			if s.dialect.MovesClients {
				c.hangUp()
			} else {
				s.pending = append(s.pending, c)
			}
		}
		v.calls = nil
	}
}

// elect begins an election. Requests wait for its end: etcd's proposals (raft/node.go, run), and Consul's calls
// (rpc.go, RPCHoldTimeout) for some seconds at most, which is for the clients' own time-outs to say here.
func (s *Server) elect() { s.election.Arm(false, s.node.Monotonic()+int64(s.dialect.Election)) }

// lead begins a reign: every session gets its whole life, unless it is known how much of it was over.
func (s *Server) lead() {
	s.reign()
	s.node.Step(trace.Promote, "leader", uint64(s.epoch), nil)
}

func (s *Server) reign() {
	s.leading = true
	for _, v := range s.sessions {
		if s.dialect.Shared {
			s.lives(v, v.deadline+int64(s.dialect.Extend))
		} else {
			s.refresh(v, s.dialect.Extend)
		}
	}
	s.expireWaits()
	pending := s.pending
	s.pending = nil
	s.again(pending)
}

// depose leaves behind a leader that does not notice its fall. When it goes on it ends what it takes for expired,
// before it learns that it leads no longer; everybody may ask for the end of a lease, and the servers carry it out.
func (s *Server) depose() {
	type known struct {
		v        *session
		deadline int64
	}
	memory := make([]known, len(s.sessions))
	for i, v := range s.sessions {
		memory[i] = known{v, v.deadline}
	}
	s.node.NewTimer(alarm(func() {
		for _, k := range memory {
			if k.deadline <= s.node.Monotonic() && s.session(k.v.id) == k.v {
				s.expireFor(k.v, Mistaken, func() bool { return s.leading })
			}
		}
	})).Arm(false, s.node.Monotonic()+int64(s.stuck))
}

// forget drops all requests that wait.
func (s *Server) forget() {
	s.waiting = make(map[string][]*call)
	s.pending, s.ready = nil, nil
	s.streams, s.locking = nil, nil
	for _, v := range s.sessions {
		v.calls, v.conn = nil, nil
	}
	for _, l := range s.fenced {
		for _, w := range l.queue {
			w.calls = nil
		}
	}
}

// Crash kills all servers of the service at once. The log survives, unless the fault says that nothing does.
func (s *Server) Crash(_ bool, keep string) {
	s.leading = false
	s.epoch++
	s.forget()
	if keep != "nothing" && s.member == nil {
		return
	}
	s.store.clear()
	changes := s.store.commit()
	s.wipe()
	if s.observer != nil {
		s.observer.Wiped(s, changes)
	}
	if s.member != nil {
		s.member.stepBack()
	}
}

// wipe begins with empty disks.
func (s *Server) wipe() {
	s.store, s.sessions, s.delays, s.compact = newStore(&s.dialect), nil, make(map[string]delay), 0
	s.fenced, s.commits = nil, 0
}

// Restart starts all servers again, and they elect a leader.
func (s *Server) Restart() {
	if s.member != nil {
		s.member.join()
		return
	}
	s.replay()
	if s.dialect.Shared { // the log is carried out again, and with it every heartbeat
		for _, v := range s.sessions {
			v.deadline = max(v.deadline, s.clock()+int64(v.ttl))
		}
	}
	s.elect()
}
