package zookeeper

// Promote makes a server the leader, for scripted faults: the present leader resigns, as if it had lost its followers,
// and in the election that follows the server wins against those whose logs are as new as its own, as if their votes
// had come too late to count. A server whose log is older loses nevertheless. It reports whether there was a leader to
// resign, and the server could take part.
func (z *Ensemble) Promote(s *Server) bool {
	old := z.Leader()
	if old == nil || old == s || old.node.Paused() || !s.node.Up() || s.node.Paused() {
		return false
	}
	z.favoured = s.ID
	old.lead.soon(old.stepDown)
	return true
}

// EndSession makes the leader decide that a session has expired, as if the client had been silent for its whole
// time-out. It reports whether there was a leader that knew the session to be alive.
func (z *Ensemble) EndSession(id SessionID) bool {
	s := z.Leader()
	if s == nil || s.node.Paused() || s.lead.tracker == nil || !s.lead.tracker.alive(id) {
		return false // a leader that is just beginning its reign tracks nobody yet
	}
	s.lead.soon(func() { s.lead.expire(id) })
	return true
}

// soon carries a command out at this moment, but not in the middle of what the leader does: a fault may have been hung
// there.
func (l *leader) soon(do func()) {
	l.s.node.NewTimer(command{l, do}).Arm(false, l.s.node.Monotonic())
}

type command struct {
	leader *leader
	do     func()
}

// Ring carries out the command, if the leader still leads.
func (c command) Ring() {
	if c.leader.s.lead == c.leader {
		c.do()
	}
}
